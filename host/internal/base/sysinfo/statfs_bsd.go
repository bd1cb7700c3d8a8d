//go:build unix && !linux

package sysinfo

import "golang.org/x/sys/unix"

// blockSize is what a file system counts its blocks in.
func blockSize(st *unix.Statfs_t) uint64 { return uint64(st.Bsize) }
