package wasm

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// A file cannot be mapped over memory that is there: what the other systems map
// is read here. So instances share nothing, and a reset copies a whole memory.

// runsFiles: what is to be run stays in memory of wazero's.
const runsFiles = false

// unload does nothing.
func unload([]byte) {}

// mapFile returns the first size bytes of f, to be read. They are given back by
// release.
func mapFile(f *os.File, size int) ([]byte, error) {
	b := reserve(size)
	if b == nil {
		return nil, fmt.Errorf("no room for %d bytes", size)
	}
	if err := discard(b, f); err != nil {
		release(b)
		return nil, err
	}
	return b, nil
}

// mapOver puts the first len(place) bytes of f into place.
func mapOver(place []byte, f *os.File, _ bool) error { return discard(place, f) }

// discard has block be f's again.
func discard(block []byte, f *os.File) error {
	_, err := f.ReadAt(block, 0)
	return err
}

// makeUnnamed returns an empty file in dir, or in the system's own folder where
// dir is "", that goes when it is closed: it keeps its name until then.
func makeUnnamed(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	return os.OpenFile(filepath.Join(dir, dataPrefix+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}
