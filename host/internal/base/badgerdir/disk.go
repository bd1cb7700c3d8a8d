package badgerdir

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// Use is what the files below dir take of the disk, in bytes, without the ballast. One
// that goes away meanwhile counts for nothing.
func Use(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ballast {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += sysinfo.AllocatedBytes(info) // Badger's logs are larger than what is in them
		}
		return nil
	})
	return bytes
}

// closing is how many bytes must be free for a database to be closed in order:
// what it then writes down it writes into mapped files, and a disk without room
// for their pages ends the process in the middle of it.
const closing = 16 << 20

// CheckClosing reports why a database is better left as it is than closed: what
// it has in memory stands in its log too, and is read back.
func CheckClosing(free func() (uint64, error)) error {
	if free == nil {
		return nil
	}
	left, err := free()
	if err != nil || left >= closing {
		return nil // what is not known is found out by writing
	}
	return fmt.Errorf("the disk has only %s left, so that it is not closed in order: make room; what was acknowledged is read back at the next start", Left(left))
}

// Left is how many free bytes a disk has, for an error.
func Left(free uint64) string {
	if free == 0 {
		return "0 B (or no inodes: df -i)"
	}
	return humanize.IBytes(free)
}

// FreeBelow returns what tells how many bytes a directory's disk has left.
func FreeBelow(dir string) func() (uint64, error) {
	return func() (uint64, error) { return sysinfo.FreeBytes(dir) }
}
