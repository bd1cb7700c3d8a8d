//go:build unix && !linux

package wasm

import "os"

// discard has block, over which f is mapped, be f's again.
func discard(block []byte, f *os.File) error { return mapOver(block, f, false) }
