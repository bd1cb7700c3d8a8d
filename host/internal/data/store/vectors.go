package store

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/search/storage"
)

// vectorPrefix is what the keys of a set of vectors begin with.
func vectorPrefix(docs string, set uint32) []byte {
	return append(numbered(prefixVector+docs+"/", set), '/')
}

func vectorKey(docs string, set uint32, id string) []byte {
	return append(vectorPrefix(docs, set), id...)
}

// setVectors is the part of a [search.Change] that is about vectors.
func setVectors(tx txn, docs string, list []storage.StoredVectors) error {
	for _, v := range list {
		key := vectorKey(docs, v.Set, v.ID)
		var err error
		if v.Bytes == nil {
			err = tx.Delete(key)
		} else {
			err = tx.Set(key, v.Bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Vectors implements [search.DB].
func (s *Store) Vectors(docs string, set uint32, ids []string) ([][]byte, error) {
	out := make([][]byte, len(ids))
	err := s.db.View(func(tx *badger.Txn) error {
		for i, id := range ids {
			v, err := get(tx, vectorKey(docs, set, id))
			if errors.Is(err, badger.ErrKeyNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			out[i] = v
		}
		return nil
	})
	return out, err
}

// ScanVectors implements [search.DB].
func (s *Store) ScanVectors(ctx context.Context, docs string, set uint32, f func(id string, vectors []byte) error) error {
	prefix := vectorPrefix(docs, set)
	return s.db.View(func(tx *badger.Txn) error {
		return scan(tx, prefix, func(k, v []byte) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return true, f(string(k[len(prefix):]), v)
		})
	})
}

// VectorSets implements [search.DB].
func (s *Store) VectorSets(docs string) (sets []uint32, err error) {
	prefix := []byte(prefixVector + docs + "/")
	err = s.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = prefix, false
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); {
			set := binary.BigEndian.Uint32(it.Item().Key()[len(prefix):])
			sets = append(sets, set)
			if set == math.MaxUint32 {
				break
			}
			it.Seek(vectorPrefix(docs, set+1))
		}
		return nil
	})
	return sets, err
}

// DropVectors implements [search.DB].
func (s *Store) DropVectors(docs string, set uint32) error {
	return s.deleteAll(vectorPrefix(docs, set))
}
