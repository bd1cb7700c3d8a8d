//go:build !linux

package sysinfo

import (
	"io"
	"math/rand/v2"
	"os"
)

// Allocate makes f take n bytes of the disk, where it does not. They are random, since a
// file system may keep zeros as nothing.
func Allocate(f *os.File, n int64) error {
	if info, err := f.Stat(); err != nil || info.Size() == n {
		return err
	}
	_, err := io.CopyN(f, rand.NewChaCha8([32]byte{}), n)
	return err
}
