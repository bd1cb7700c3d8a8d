package store

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"github.com/parley-search/parley/host/internal/apierr"
)

// Badger and bleve write through mapped files: where the disk is full, the
// process is killed in the middle of that, or a merge stops for good. So the
// last of the disk is never asked for. New work is refused earlier than what
// was accepted before, which needs room as well.
const (
	reserve    = 64 << 20 // bytes that must be free for any change
	newReserve = 2 * reserve
)

// room returns [apierr.NoSpaceLeft] where less than the given number of bytes
// is free on the disk.
func (s *Store) room(bytes uint64) error {
	if s.free == nil {
		return nil
	}
	free, err := s.free()
	if err != nil || free >= bytes {
		return nil // what is not known is found out by writing
	}
	return apierr.Newf(apierr.NoSpaceLeft, "The disk of the data directory has only %s left, of which %s are kept free: nothing was changed. Make room and try again.",
		humanize.IBytes(free), humanize.IBytes(bytes))
}

// closing is how many bytes must be free for a database to be closed in order:
// what it then writes down it writes into mapped files, and a disk without room
// for their pages ends the process in the middle of it.
const closing = 4 * memTable

// checkClosing reports why a database is better left as it is than closed: what
// it has in memory stands in its log too, and is read back.
func checkClosing(free func() (uint64, error)) error {
	if free == nil {
		return nil
	}
	left, err := free()
	if err != nil || left >= closing {
		return nil // what is not known is found out by writing
	}
	return fmt.Errorf("the disk has only %s left, so that it is not closed in order: make room; what was acknowledged is read back at the next start", humanize.IBytes(left))
}

// freeBelow returns what tells how many bytes a directory's disk has left.
func freeBelow(dir string) func() (uint64, error) {
	return func() (uint64, error) {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			return 0, err
		}
		return st.Bavail * uint64(st.Bsize), nil
	}
}
