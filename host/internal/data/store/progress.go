package store

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/egress/export"
)

var _ export.Log = (*Store)(nil)

// Progress implements [export.Log].
func (s *Store) Progress(task uint32) (b []byte, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err = get(tx, numbered(prefixExport, task))
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how far export %d is: %w", task, err)
	}
	return b, nil
}

// PutProgress implements [export.Log].
func (s *Store) PutProgress(task uint32, b []byte) error {
	err := s.update(func(tx txn) error { return tx.Set(numbered(prefixExport, task), b) })
	if err != nil {
		return fmt.Errorf("write how far export %d is: %w", task, err)
	}
	return nil
}
