//go:build !unix

package main

// enoughFiles knows of no limit.
func enoughFiles(int) error { return nil }
