//go:build !linux

package sysinfo

import (
	"io"
	"math/rand/v2"
	"os"
)

// Allocate makes f, which is empty, take n bytes of the disk. They are random, since a
// file system may keep zeros as nothing.
func Allocate(f *os.File, n int64) error {
	_, err := io.CopyN(f, rand.NewChaCha8([32]byte{}), n)
	return err
}
