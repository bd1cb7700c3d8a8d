//go:build unix && !linux

package wasm

import "os"

// makeInMemory returns nil: no file lies in memory alone here.
func makeInMemory(string) *os.File { return nil }
