package sysinfo

import "golang.org/x/sys/unix"

// blockSize is what a file system counts its blocks in. Bsize is how much it likes to be read at
// once, which is more on some network file systems and in some virtual machines.
func blockSize(st *unix.Statfs_t) uint64 {
	if st.Frsize > 0 {
		return uint64(st.Frsize)
	}
	return uint64(st.Bsize)
}
