package sysinfo

import "golang.org/x/sys/unix"

// blockSize is the size of the blocks that a file system counts, in bytes. Bsize is the best size
// of a read, which is larger on some network file systems and in some virtual machines.
func blockSize(st *unix.Statfs_t) uint64 {
	if st.Frsize > 0 {
		return uint64(st.Frsize)
	}
	return uint64(st.Bsize)
}
