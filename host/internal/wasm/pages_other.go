//go:build !unix

package wasm

import (
	"errors"
	"os"
)

// unload does nothing.
func unload([]byte) {}

// mapFile fails.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// discard fails.
func discard([]byte, *os.File) error { return errors.ErrUnsupported }

// mapOver fails.
func mapOver([]byte, *os.File, bool) error { return errors.ErrUnsupported }
