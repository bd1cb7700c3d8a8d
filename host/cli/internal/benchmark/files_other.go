//go:build !unix

package benchmark

// enoughFiles knows of no limit.
func enoughFiles(int) error { return nil }
