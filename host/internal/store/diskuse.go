package store

import (
	"io/fs"
	"syscall"
)

// diskUse is how many bytes of the disk a file takes: Badger's logs are larger
// than what is in them.
func diskUse(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
