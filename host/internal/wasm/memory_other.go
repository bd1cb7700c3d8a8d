//go:build !unix

package wasm

// reserve returns size bytes of zeroed memory.
func reserve(size int) []byte { return make([]byte, size) }

// release leaves b to the collector.
func release([]byte) {}
