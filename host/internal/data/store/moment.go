package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/search/storage"
)

// A moment is the database as it was at one moment. It implements [storage.Moment].
type moment struct{ tx reader }

// View calls f with the database as it is now. What f reads does not change meanwhile.
func (s *Store) View(f func(storage.Moment) error) error {
	return s.db.View(func(tx *badger.Txn) error { return f(moment{tx}) })
}

// Seq implements [storage.Moment].
func (m moment) Seq() (uint64, error) {
	p, err := position(m.tx)
	return p.Seq, err
}

// Meta implements [storage.Moment].
func (m moment) Meta(uid string) ([]byte, error) {
	b, err := get(m.tx, []byte(prefixIndex+uid))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	return b, err
}

// Documents implements [storage.Moment].
func (m moment) Documents(docs string, ids []string) ([]storage.Document, error) {
	out := make([]storage.Document, len(ids))
	for i, id := range ids {
		v, err := get(m.tx, documentKey(docs, id))
		if errors.Is(err, badger.ErrKeyNotFound) {
			continue
		}
		if err == nil {
			out[i], err = document(id, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ScanAfter implements [storage.Moment].
func (m moment) ScanAfter(ctx context.Context, docs, after string, f func(storage.Document) error) error {
	prefix := documentKey(docs, "")
	from := prefix
	if after != "" {
		from = append(documentKey(docs, after), 0) // the least key behind it
	}
	return scanFrom(m.tx, prefix, from, func(k, v []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		d, err := document(string(k[len(prefix):]), v)
		if err != nil {
			return false, err
		}
		return true, f(d)
	})
}

// Notes implements [storage.Moment].
func (m moment) Notes(docs string, after uint64, f func(seq uint64, ids []string) error) error {
	prefix := []byte(prefixNote + docs + "/")
	return scanFrom(m.tx, prefix, noteKey(docs, after+1), func(k, v []byte) (bool, error) {
		if len(k) != len(prefix)+12 {
			return false, fmt.Errorf("note of %d bytes", len(k))
		}
		return true, f(binary.BigEndian.Uint64(k[len(prefix):]), strings.Split(strings.TrimSuffix(string(v), "\n"), "\n"))
	})
}
