package store

import (
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// Sweep implements [search.DB].
func (s *Store) Sweep(known func(docs string) bool) error {
	for _, prefix := range []string{prefixDocument, prefixVector, prefixOutbox} {
		unknown, err := s.unknown(prefix, known)
		if err != nil {
			return err
		}
		for _, docs := range unknown {
			if err := s.deleteAll([]byte(prefix + docs + "/")); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknown lists what stands between prefix and the next slash in the keys, as
// far as known does not know it.
func (s *Store) unknown(prefix string, known func(string) bool) (out []string, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = []byte(prefix), false
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); {
			docs, _, ok := strings.Cut(string(it.Item().Key()[len(prefix):]), "/")
			if !ok {
				return fmt.Errorf("key without a second slash below %s", prefix)
			}
			if !known(docs) {
				out = append(out, docs)
			}
			it.Seek([]byte(prefix + docs + "0")) // the character behind the slash
		}
		return nil
	})
	return out, err
}

// deleteHere is deleteAll in this node's database.
func (s *Store) deleteHere(prefix []byte) error {
	wb := s.newBatch(s.hasSmallRoom)
	defer wb.Cancel()
	err := s.db.View(func(tx *badger.Txn) error {
		return eachKey(tx, prefix, func(item *badger.Item) error { return wb.Delete(item.KeyCopy(nil)) })
	})
	if err != nil {
		return err
	}
	return wb.Flush()
}
