package wasm

import (
	"os"

	"golang.org/x/sys/unix"
)

// makeInMemory returns an empty file of memory alone where dir lies in memory, too, and else nil.
// A page of a file that was never written to has no place on a tmpfs until it is first read:
// where that is full by then, the process ends with SIGBUS. A file of this kind has no bound.
func makeInMemory(dir string) *os.File {
	if dir == "" {
		dir = os.TempDir()
	}
	var of unix.Statfs_t
	if err := unix.Statfs(dir, &of); err != nil || of.Type != unix.TMPFS_MAGIC {
		return nil
	}
	fd, err := unix.MemfdCreate(dataPrefix, unix.MFD_CLOEXEC)
	if err != nil {
		return nil // as on a kernel that has none
	}
	return os.NewFile(uintptr(fd), dataPrefix)
}
