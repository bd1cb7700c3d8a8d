package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	if !t.Type.Deletes() {
		if err := s.room(newReserve + uint64(len(payload))); err != nil {
			return err
		}
	}
	return s.update(func(tx txn) error {
		if err := putTasks(tx, []task.Task{t}); err != nil {
			return err
		}
		return tx.Set(numbered(prefixPayload, t.UID), payload)
	})
}

// PutTasks implements [task.Log].
func (s *Store) PutTasks(_ context.Context, ts []task.Task, b *task.Batch) error {
	ts, bodies := withoutBodies(ts)
	err := s.update(func(tx txn) error {
		if err := putTasks(tx, ts); err != nil {
			return err
		}
		for i := range ts {
			if !ts[i].Finished() {
				continue
			}
			for _, prefix := range []string{prefixPayload, prefixOutcome, prefixExport} {
				if err := tx.Delete(numbered(prefix, ts[i].UID)); err != nil {
					return err
				}
			}
		}
		if b == nil {
			return nil
		}
		change := newTraitsChange(tx, kindBatch)
		if err := putBatch(tx, change, b); err != nil {
			return err
		}
		return change.write()
	})
	for _, name := range bodies {
		if err == nil {
			_ = s.DropBody(name) // else the next start does it
		}
	}
	return err
}

// withoutBodies returns the tasks as they are to be kept, and the bodies of
// those that are finished.
func withoutBodies(ts []task.Task) (kept []task.Task, bodies []string) {
	for i := range ts {
		if ts[i].Finished() && ts[i].Body != "" {
			if kept == nil {
				kept = slices.Clone(ts)
			}
			bodies = append(bodies, ts[i].Body)
			kept[i].Body = ""
		}
	}
	if kept == nil {
		return ts, nil
	}
	return kept, bodies
}

// putTasks writes tasks with their traits.
func putTasks(tx txn, ts []task.Task) error {
	change := newTraitsChange(tx, kindTask)
	for i := range ts {
		t := &ts[i]
		before := newTraits()
		old, err := getTask(tx, t.UID)
		if err != nil {
			return err
		}
		if old != nil {
			before = taskTraits(old)
		}
		if err := setJSON(tx, numbered(prefixTask, t.UID), t); err != nil {
			return err
		}
		if err := change.replace(t.UID, before, taskTraits(t)); err != nil {
			return err
		}
	}
	return change.write()
}

func putBatch(tx txn, change *traitsChange, b *task.Batch) error {
	before := newTraits()
	old, err := getBatch(tx, b.UID)
	if err != nil {
		return err
	}
	if old != nil {
		before = batchTraits(old)
	}
	if err := setJSON(tx, numbered(prefixBatch, b.UID), b); err != nil {
		return err
	}
	return change.replace(b.UID, before, batchTraits(b))
}

func setJSON(tx txn, key []byte, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the details of a task are shown as they are
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	return tx.Set(key, b.Bytes())
}

// DeleteTasks implements [task.Log].
func (s *Store) DeleteTasks(_ context.Context, uids []uint32) error {
	return s.update(func(tx txn) error {
		change := newTraitsChange(tx, kindTask)
		gone := map[uint32][]uint32{} // by batch
		for _, uid := range uids {
			t, err := getTask(tx, uid)
			if err != nil {
				return err
			}
			if t == nil {
				continue
			}
			if t.BatchUID != nil {
				gone[*t.BatchUID] = append(gone[*t.BatchUID], uid)
			}
			if err := tx.Delete(numbered(prefixTask, uid)); err != nil {
				return err
			}
			if err := change.replace(uid, taskTraits(t), newTraits()); err != nil {
				return err
			}
		}
		if err := change.write(); err != nil {
			return err
		}
		return thinBatches(tx, gone)
	})
}

// thinBatches takes tasks out of batches, and removes what is empty then.
func thinBatches(tx txn, gone map[uint32][]uint32) error {
	change := newTraitsChange(tx, kindBatch)
	for uid, tasks := range gone {
		b, err := getBatch(tx, uid)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		b.Tasks = b.Tasks.Without(tasks)
		if len(b.Tasks) > 0 {
			if err := setJSON(tx, numbered(prefixBatch, uid), b); err != nil {
				return err
			}
			continue
		}
		if err := tx.Delete(numbered(prefixBatch, uid)); err != nil {
			return err
		}
		if err := change.replace(uid, batchTraits(b), newTraits()); err != nil {
			return err
		}
	}
	return change.write()
}

// Task implements [task.Log].
func (s *Store) Task(_ context.Context, uid uint32) (t task.Task, ok bool, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		p, err := getTask(tx, uid)
		if p != nil {
			t, ok = *p, true
		}
		return err
	})
	return t, ok, err
}

// getTask returns a task, or nil where there is none.
func getTask(tx reader, uid uint32) (*task.Task, error) {
	return getJSON[task.Task](tx, numbered(prefixTask, uid))
}

// Batch implements [task.Log].
func (s *Store) Batch(_ context.Context, uid uint32) (b *task.Batch, ok bool, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err = getBatch(tx, uid)
		return err
	})
	return b, b != nil, err
}

// getBatch returns a batch, or nil where there is none.
func getBatch(tx reader, uid uint32) (*task.Batch, error) {
	return getJSON[task.Batch](tx, numbered(prefixBatch, uid))
}

// getJSON returns the record of a key, or nil where there is none.
func getJSON[T any](tx reader, key []byte) (*T, error) {
	b, err := get(tx, key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := new(T)
	return v, json.Unmarshal(b, v)
}

// Payload implements [task.Log].
func (s *Store) Payload(_ context.Context, uid uint32) (b []byte, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err = get(tx, numbered(prefixPayload, uid))
		return err
	})
	return b, err
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
			p := task.Pending{Size: item.ValueSize()}
			if err := json.Unmarshal(b, &p.Task); err != nil {
				return err
			}
			p.Size += p.Task.BodySize
			list = append(list, p)
			return nil
		})
	})
	return list, err
}
