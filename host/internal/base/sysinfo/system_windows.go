package sysinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lockAt is the one byte that stands for the whole file, behind everything that
// is in it: Windows keeps others from reading what is locked.
const lockAt = 1 << 30

// LockFile takes f for this process until f is closed, or returns [ErrLocked]
// at once.
func LockFile(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: lockAt}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// OpenDirLock returns the file that [LockFile] takes for the whole directory: a
// directory itself cannot be locked here.
func OpenDirLock(root *os.Root) (*os.File, error) {
	return root.OpenFile(".parley.lock", os.O_RDWR|os.O_CREATE, 0o644)
}

// SyncDir does nothing: names are written down by the file system's own log.
func SyncDir(*os.Root) error { return nil }

// FreeBytes is how many bytes the disk of a directory has left for this user.
func FreeBytes(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// SizeBytes is the capacity of the file system at path; 0: unknown.
func SizeBytes(path string) (size uint64) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil || windows.GetDiskFreeSpaceEx(name, nil, &size, nil) != nil {
		return 0
	}
	return size
}

// AllocatedBytes is the size of a file: what it takes of the disk is not told
// without opening it.
func AllocatedBytes(info fs.FileInfo) int64 { return info.Size() }

// Release is the release of the kernel.
func Release() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

// Descriptors is 0: the system has no bound on them.
func Descriptors() uint64 { return 0 }

// DescriptorsInUse is 0, as their bound is.
func DescriptorsInUse() uint64 { return 0 }

// addressSpace is 0: the system has no bound on it.
func addressSpace() int64 { return 0 }
