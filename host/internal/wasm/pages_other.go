//go:build !unix

package wasm

import (
	"errors"
	"os"
)

// unload does nothing.
func unload([]byte) {}

// mapOver fails.
func mapOver([]byte, *os.File, bool) error { return errors.ErrUnsupported }
