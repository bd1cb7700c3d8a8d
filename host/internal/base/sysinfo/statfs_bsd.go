//go:build unix && !linux

package sysinfo

import "golang.org/x/sys/unix"

// blockSize is the size of the blocks that a file system counts, in bytes.
func blockSize(st *unix.Statfs_t) uint64 { return uint64(st.Bsize) }
