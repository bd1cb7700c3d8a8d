//go:build unix

package sysinfo

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// LockFile takes f for this process until f is closed, or returns [ErrLocked]
// at once.
func LockFile(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}

// OpenDirLock returns the file that [LockFile] takes for the whole directory:
// the directory itself, so that no file is left behind.
func OpenDirLock(root *os.Root) (*os.File, error) { return root.Open(".") }

// SyncDir puts the names in a directory on the disk, where its file system can.
func SyncDir(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

// FreeBytes is how many bytes the disk of a directory has left for this user: none where it has
// no room for new files. It returns an error where the file system does not report its size.
func FreeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return freeBytes(&st)
}

// leastFiles is how many inodes must be free for new files to be made.
const leastFiles = 16

func freeBytes(st *unix.Statfs_t) (uint64, error) {
	if st.Blocks == 0 {
		return 0, errors.New("the file system does not report its size") // as ramfs, and many of FUSE
	}
	if st.Files > 0 && st.Ffree < leastFiles {
		return 0, nil
	}
	return uint64(max(st.Bavail, 0)) * blockSize(st), nil // FreeBSD reports less than nothing
}

// SizeBytes is the capacity of the file system at path; 0: unknown.
func SizeBytes(path string) uint64 {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return 0
	}
	return st.Blocks * blockSize(&st)
}

// AllocatedBytes is what a file takes of the disk, which is less than its size
// where it has holes.
func AllocatedBytes(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

// Release is the release of the kernel; "": unknown.
func Release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// Descriptors is how many files and connections this process may have open; 0:
// unknown. Go has raised it to what the system allows at most.
func Descriptors() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur)
}

// DescriptorsInUse is how many of them are open; 0: unknown.
func DescriptorsInUse() uint64 {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return uint64(len(open))
}

// addressSpace is the bound on this process's addresses, in bytes; 0: none.
func addressSpace() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || uint64(l.Cur) >= 1<<60 {
		return 0
	}
	return int64(l.Cur)
}
