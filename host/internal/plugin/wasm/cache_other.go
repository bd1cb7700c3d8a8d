//go:build !unix

package wasm

import "io/fs"

// checkOwner accepts any directory: here its mode says nothing of its owner.
func checkOwner(fs.FileInfo) error { return nil }
