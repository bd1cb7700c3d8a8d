//go:build unix

package wasm

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// runsFiles says that code can be run out of a file that is mapped over its place.
const runsFiles = true

// unload lets go of the pages of a mapping to be run. Those that are run next
// come back by themselves.
func unload(mapped []byte) {
	if len(mapped) > 0 {
		_ = unix.Madvise(mapped, unix.MADV_DONTNEED) // advice
	}
}

// mapOver puts the first len(place) bytes of f where place lies, at the
// beginning of a page: to be read and run, or to be read and written to, which
// changes nothing of f. Where the system does not allow that, place is what it
// was.
func mapOver(place []byte, f *os.File, run bool) error {
	protection := unix.PROT_READ | unix.PROT_WRITE
	if run {
		protection = unix.PROT_READ | unix.PROT_EXEC
	}
	_, err := unix.MmapPtr(int(f.Fd()), 0, unsafe.Pointer(unsafe.SliceData(place)), uintptr(len(place)), protection, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return err
}

// mapFile returns the first size bytes of f, to be read. They are given back by
// release.
func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// makeUnnamed returns an empty file without a name in dir, or in the system's own
// folder where dir is "" or cannot be written to.
func makeUnnamed(dir string) (*os.File, error) {
	if f := makeInMemory(dir); f != nil {
		return f, nil
	}
	f, err := os.CreateTemp(dir, dataPrefix+"*")
	if err != nil && dir != "" {
		f, err = os.CreateTemp("", dataPrefix+"*")
	}
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
