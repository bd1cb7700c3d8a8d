package store

import (
	"errors"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/badgerdir"
)

// Badger and bleve write through mapped files: where the disk is full, the
// process is killed in the middle of that, or a merge stops for good. So the
// last of the disk is never asked for. New work is refused earlier than what
// was accepted before, which needs room as well, and what makes room last of all.
const (
	reserve      = 64 << 20 // bytes that must be free for documents, vectors and modules
	newReserve   = 2 * reserve
	smallReserve = 16 << 20 // for any change: of small records, and deletions
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
		badgerdir.Left(free), humanize.IBytes(bytes))
}

// smallRoom is room for any change, of that many bytes. Where there is none it gives up the
// ballast: who deletes on a full disk makes room, and needs some for that.
func (s *Store) smallRoom(bytes uint64) error {
	err := s.room(smallReserve + bytes)
	if err == nil || s.lock == nil {
		return err
	}
	released, failed := badgerdir.ReleaseBallast(filepath.Dir(s.lock.Name()))
	if !released {
		return errors.Join(err, failed)
	}
	return s.room(smallReserve + bytes)
}

// HasRoom returns the error of documents that the disk has no room for.
func (s *Store) HasRoom() error { return s.room(reserve) }

func (s *Store) hasSmallRoom() error { return s.smallRoom(0) }

// Stale is how many bytes of the database's tables are of records that were
// overwritten or deleted since: the next compaction drops them.
func (s *Store) Stale() (bytes int64) {
	for _, t := range s.db.Tables() {
		bytes += int64(t.StaleDataSize)
	}
	return bytes
}
