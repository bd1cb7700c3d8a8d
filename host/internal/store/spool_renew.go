package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// aside is where the old folder lies while a new one is made in its place.
func (s *Spool) aside() string { return s.dir + ".old" }

// dirSize is what the folder takes up, sparse files as far as they are filled.
func (s *Spool) dirSize() (bytes int64) {
	_ = filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += diskUse(info)
		}
		return nil
	})
	return bytes
}

// renew makes an empty spool anew, with its state. The old folder is put aside
// until the new one is whole.
func (s *Spool) renew() error {
	var state []byte
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(spoolState))
		if err != nil {
			return err
		}
		state, err = item.ValueCopy(nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("renew telemetry spool: %w", err)
	}
	if err := errors.Join(s.db.Close(), os.Rename(s.dir, s.aside()), os.MkdirAll(s.dir, 0o700)); err != nil {
		return errors.Join(fmt.Errorf("renew telemetry spool: %w", err), s.open())
	}
	if err := s.open(); err != nil {
		return err
	}
	err = s.db.Update(func(txn *badger.Txn) error {
		return errors.Join(txn.Set([]byte(spoolState), state),
			txn.Set([]byte(spoolDropped), binary.BigEndian.AppendUint64(nil, s.dropped)))
	})
	if err == nil {
		err = os.RemoveAll(s.aside())
	}
	if err != nil {
		return fmt.Errorf("renew telemetry spool: %w", err)
	}
	return nil
}
