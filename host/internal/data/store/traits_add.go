package store

import (
	"encoding/json"
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/task"
)

// addTraits gives the tasks of a database that has none yet their traits, in
// parts: a crash in between leaves the rest for the next start.
func (s *Store) addTraits() error {
	done := []byte(prefixMeta + "traits")
	for start := numbered(prefixTask, 0); ; {
		var next []byte
		err := s.update(func(tx txn) (err error) {
			if _, err := tx.Get(done); !errors.Is(err, badger.ErrKeyNotFound) {
				return err
			}
			if next, err = addSomeTraits(tx, start); err != nil || next != nil {
				return err
			}
			return tx.Set(done, []byte("1"))
		})
		if err != nil || next == nil {
			return err
		}
		start = next
	}
}

// addSomeTraits gives traits to tasks from a key on, and returns the key to go
// on with, nil at the end.
func addSomeTraits(tx txn, start []byte) (next []byte, err error) {
	change := newTraitsChange(tx, kindTask)
	o := badger.DefaultIteratorOptions
	o.Prefix = []byte(prefixTask)
	it := tx.NewIterator(o)
	defer it.Close()
	n := 0
	for it.Seek(start); it.Valid(); it.Next() {
		if n++; n > 1000 {
			next = it.Item().KeyCopy(nil)
			break
		}
		var t task.Task
		if err := it.Item().Value(func(v []byte) error { return json.Unmarshal(v, &t) }); err != nil {
			return nil, err
		}
		if err := change.replace(t.UID, newTraits(), taskTraits(&t)); err != nil {
			return nil, err
		}
	}
	return next, change.write()
}
