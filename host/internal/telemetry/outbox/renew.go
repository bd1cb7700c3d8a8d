package outbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// aside is where the old folder lies while a new one is made in its place.
func (s *Spool) aside() string { return s.dir + telemetry.SpoolAside }

// dirSize is what the folder takes up.
func (s *Spool) dirSize() int64 { return badgerdir.Use(s.dir) }

// renew makes a spool anew in which no message waits: a copy of what there is
// else. The old folder is put aside until the new one is whole.
func (s *Spool) renew() error {
	kept := map[string][]byte{}
	err := s.room()
	if err == nil {
		err = s.db.View(func(txn *badger.Txn) error {
			it := txn.NewIterator(badger.DefaultIteratorOptions)
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				v, err := it.Item().ValueCopy(nil)
				if err != nil {
					return err
				}
				kept[string(it.Item().Key())] = v
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("renew telemetry spool: %w", err)
	}
	if err := errors.Join(s.db.Close(), os.Rename(s.dir, s.aside()), os.MkdirAll(s.dir, 0o700)); err != nil {
		return errors.Join(fmt.Errorf("renew telemetry spool: %w", err), s.open())
	}
	if err := s.open(); err != nil {
		return err
	}
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for key, v := range kept {
		if err == nil {
			err = batch.Set([]byte(key), v)
		}
	}
	if err = errors.Join(err, batch.Flush()); err == nil {
		err = os.RemoveAll(s.aside())
	}
	if err != nil {
		return fmt.Errorf("renew telemetry spool: %w", err)
	}
	return nil
}

// Empty deletes all that the spool holds. Nothing of it stays on disk.
func (s *Spool) Empty() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room(); err != nil {
		return fmt.Errorf("empty telemetry spool: %w: make room and try again", err)
	}
	err := errors.Join(s.db.Close(), os.RemoveAll(s.dir), os.RemoveAll(s.aside()), os.MkdirAll(s.dir, 0o700))
	if err = errors.Join(err, s.open()); err != nil {
		return fmt.Errorf("empty telemetry spool: %w", err)
	}
	s.queue, s.past, s.noted, s.dropped, s.epoch = shelf{prefix: prefixMessage}, shelf{prefix: prefixPast}, shelf{prefix: prefixDelivery}, 0, ""
	return s.begin()
}
