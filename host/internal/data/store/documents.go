package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/search/storage"
)

var _ storage.DB = (*Store)(nil)

func documentKey(docs, id string) []byte { return []byte(prefixDocument + docs + "/" + id) }

// Metas implements [search.DB].
func (s *Store) Metas() (map[string][]byte, error) {
	m := map[string][]byte{}
	err := s.db.View(func(tx *badger.Txn) error {
		return scan(tx, []byte(prefixIndex), func(k, v []byte) (bool, error) {
			m[string(k[len(prefixIndex):])] = bytes.Clone(v)
			return true, nil
		})
	})
	return m, err
}

// PutMeta implements [search.DB].
func (s *Store) PutMeta(uid string, meta []byte) error {
	return s.update(func(tx txn) error { return tx.Set([]byte(prefixIndex+uid), meta) })
}

// PutMetas implements [search.DB].
func (s *Store) PutMetas(metas map[string][]byte, outcomes map[uint32][]byte) error {
	return s.update(func(tx txn) error {
		for uid, meta := range metas {
			key := []byte(prefixIndex + uid)
			if meta == nil {
				if err := tx.Delete(key); err != nil {
					return err
				}
				continue
			}
			if err := tx.Set(key, meta); err != nil {
				return err
			}
		}
		return setOutcomes(tx, outcomes)
	})
}

func setOutcomes(tx txn, outcomes map[uint32][]byte) error {
	for uid, b := range outcomes {
		if err := tx.Set(numbered(prefixOutcome, uid), b); err != nil {
			return err
		}
	}
	return nil
}

// Outcome implements [search.DB].
func (s *Store) Outcome(task uint32) (b []byte, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err = get(tx, numbered(prefixOutcome, task))
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	return b, err
}

// Write implements [search.DB].
func (s *Store) Write(c storage.Change) error {
	if len(c.Put) > 0 || len(c.Vectors) > 0 {
		if err := s.room(reserve); err != nil {
			return err
		}
	}
	err := s.update(func(tx txn) error {
		if c.Meta != nil {
			if err := tx.Set([]byte(prefixIndex+c.IndexUID), c.Meta); err != nil {
				return err
			}
		}
		var changed strings.Builder
		for _, d := range c.Put {
			v := append(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(d.Body)), d.Seq), d.Body...)
			if err := tx.Set(documentKey(c.Docs, d.ID), v); err != nil {
				return err
			}
			changed.WriteString(d.ID + "\n")
		}
		for _, id := range c.Delete {
			if err := tx.Delete(documentKey(c.Docs, id)); err != nil {
				return err
			}
			changed.WriteString(id + "\n")
		}
		if err := setVectors(tx, c.Docs, c.Vectors); err != nil {
			return err
		}
		if err := prune(tx, c.Docs, c.Prune); err != nil {
			return err
		}
		if changed.Len() > 0 {
			note := binary.BigEndian.AppendUint32(numbered(prefixOutbox+c.Docs+"/", c.Task), c.Part)
			if err := tx.Set(note, []byte(changed.String())); err != nil {
				return err
			}
		}
		return setOutcomes(tx, c.Outcomes)
	})
	if errors.Is(err, badger.ErrTxnTooBig) {
		return storage.ErrTooBig
	}
	return err
}

// prune deletes the outbox's notes of tasks below the given one.
func prune(tx txn, docs string, below uint32) error {
	prefix := []byte(prefixOutbox + docs + "/")
	end := numbered(string(prefix), below)
	var old [][]byte
	err := eachKey(tx, prefix, func(item *badger.Item) error {
		if bytes.Compare(item.Key(), end) < 0 {
			old = append(old, item.KeyCopy(nil))
		}
		return nil
	})
	for _, k := range old {
		if err == nil {
			err = tx.Delete(k)
		}
	}
	return err
}

// Outbox implements [search.DB].
func (s *Store) Outbox(docs string, f func(task uint32, ids []string) error) error {
	prefix := []byte(prefixOutbox + docs + "/")
	return s.db.View(func(tx *badger.Txn) error {
		return scan(tx, prefix, func(k, v []byte) (bool, error) {
			if len(k) != len(prefix)+8 {
				return false, fmt.Errorf("outbox key of %d bytes", len(k))
			}
			ids := strings.Split(strings.TrimSuffix(string(v), "\n"), "\n")
			return true, f(binary.BigEndian.Uint32(k[len(prefix):]), ids)
		})
	})
}

// document takes a stored value apart; body is a part of it.
func document(id string, value []byte) (storage.Document, error) {
	if len(value) < 8 {
		return storage.Document{}, fmt.Errorf("document %q has %d bytes", id, len(value))
	}
	return storage.Document{ID: id, Seq: binary.BigEndian.Uint64(value), Body: value[8:]}, nil
}

// Documents implements [search.DB].
func (s *Store) Documents(docs string, ids []string) (list []storage.Document, err error) {
	err = s.View(func(m storage.Moment) error { list, err = m.Documents(docs, ids); return err })
	return list, err
}

// Scan implements [search.DB].
func (s *Store) Scan(ctx context.Context, docs string, f func(storage.Document) error) error {
	return s.ScanAfter(ctx, docs, "", f)
}

// ScanAfter implements [search.DB].
func (s *Store) ScanAfter(ctx context.Context, docs, after string, f func(storage.Document) error) error {
	return s.View(func(m storage.Moment) error { return m.ScanAfter(ctx, docs, after, f) })
}

// Page implements [search.DB].
func (s *Store) Page(docs string, offset, limit int) (out []storage.Document, err error) {
	prefix := documentKey(docs, "")
	err = s.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = prefix, false
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid() && len(out) < limit; it.Next() {
			if offset--; offset >= 0 {
				continue
			}
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			d, err := document(string(it.Item().Key()[len(prefix):]), v)
			if err != nil {
				return err
			}
			out = append(out, d)
		}
		return nil
	})
	return out, err
}
