package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/task"
)

var _ task.Log = (*Store)(nil)

// numbered is a key that ends in a number.
func numbered(prefix string, n uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte(prefix), n)
}

// AppendTask implements [task.Log].
func (s *Store) AppendTask(_ context.Context, t task.Task, payload []byte) error {
	b, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode task %d: %w", t.UID, err)
	}
	return s.update(func(tx *badger.Txn) error {
		if err := tx.Set(numbered(prefixTask, t.UID), b); err != nil {
			return err
		}
		return tx.Set(numbered(prefixPayload, t.UID), payload)
	})
}

// PutTasks implements [task.Log].
func (s *Store) PutTasks(_ context.Context, ts []task.Task) error {
	return s.update(func(tx *badger.Txn) error {
		for i := range ts {
			b, err := json.Marshal(ts[i])
			if err != nil {
				return fmt.Errorf("encode task %d: %w", ts[i].UID, err)
			}
			if err := tx.Set(numbered(prefixTask, ts[i].UID), b); err != nil {
				return err
			}
			if !ts[i].Finished() {
				continue
			}
			for _, prefix := range []string{prefixPayload, prefixOutcome} {
				if err := tx.Delete(numbered(prefix, ts[i].UID)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Task implements [task.Log].
func (s *Store) Task(_ context.Context, uid uint32) (t task.Task, ok bool, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err := get(tx, numbered(prefixTask, uid))
		if err != nil {
			return err
		}
		return json.Unmarshal(b, &t)
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return t, false, nil
	}
	return t, err == nil, err
}

// Payload implements [task.Log].
func (s *Store) Payload(_ context.Context, uid uint32) (b []byte, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err = get(tx, numbered(prefixPayload, uid))
		return err
	})
	return b, err
}

// Newest implements [task.Log].
func (s *Store) Newest(ctx context.Context, f func(task.Task) bool) error {
	return s.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Reverse = true
		it := tx.NewIterator(o)
		defer it.Close()
		prefix := []byte(prefixTask)
		for it.Seek(append([]byte(prefixTask), 0xff, 0xff, 0xff, 0xff, 0xff)); it.ValidForPrefix(prefix); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			var t task.Task
			if err := it.Item().Value(func(v []byte) error { return json.Unmarshal(v, &t) }); err != nil {
				return err
			}
			if !f(t) {
				return nil
			}
		}
		return nil
	})
}

// Unfinished implements [task.Log]. Only such tasks have a payload, so that a
// long history costs no time at start.
func (s *Store) Unfinished(_ context.Context) (list []task.Pending, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		return eachKey(tx, []byte(prefixPayload), func(item *badger.Item) error {
			b, err := get(tx, append([]byte(prefixTask), item.Key()[len(prefixPayload):]...))
			if err != nil {
				return err
			}
			p := task.Pending{Size: int(item.ValueSize())}
			if err := json.Unmarshal(b, &p.Task); err != nil {
				return err
			}
			list = append(list, p)
			return nil
		})
	})
	return list, err
}

// eachKey calls f for each key that begins with prefix, in order, without
// reading values. The item is good within f only.
func eachKey(tx *badger.Txn, prefix []byte, f func(*badger.Item) error) error {
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchValues = prefix, false
	it := tx.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := f(it.Item()); err != nil {
			return err
		}
	}
	return nil
}
