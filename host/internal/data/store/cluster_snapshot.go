package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/cluster"
)

// A snapshot is all records that the nodes of a cluster share, as they are after
// one message of the log:
//
//	"parley cluster snapshot 1\n" | field position | { field key | field value | uvarint until } | field ""
//
// A field is uvarint length and bytes; until is seconds of Unix time, 0: for good.
const snapshotHead = "parley cluster snapshot 1\n"

// maxField bounds a key or value of a snapshot: a document, generously.
const maxField = 1 << 30

// WriteSnapshot has write make a snapshot of the position that it is called with:
// what it calls back with w writes the records. Changes go on meanwhile.
func (s *Store) WriteSnapshot(put func(p cluster.Position, write func(w io.Writer) error) error) error {
	return s.db.View(func(tx *badger.Txn) error {
		at, err := get(tx, []byte(keyPosition))
		if err != nil {
			return fmt.Errorf("read the position in the cluster's log: %w", err)
		}
		var p cluster.Position
		if err := p.UnmarshalBinary(at); err != nil {
			return err
		}
		return put(p, func(w io.Writer) error { return writeRecords(tx, at, w) })
	})
}

func writeRecords(tx *badger.Txn, position []byte, to io.Writer) error {
	w := bufio.NewWriterSize(to, 256<<10)
	field := func(b []byte) {
		var n [binary.MaxVarintLen64]byte
		_, _ = w.Write(n[:binary.PutUvarint(n[:], uint64(len(b)))]) // Flush says
		_, _ = w.Write(b)
	}
	_, _ = w.WriteString(snapshotHead)
	field(position)
	err := eachRecord(tx, func(item *badger.Item) error {
		if bytes.HasPrefix(item.Key(), []byte(prefixLocal)) {
			return nil
		}
		return item.Value(func(v []byte) error {
			var n [binary.MaxVarintLen64]byte
			field(item.Key())
			field(v)
			_, err := w.Write(n[:binary.PutUvarint(n[:], item.ExpiresAt())])
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	field(nil)
	return w.Flush()
}

// eachRecord calls f for all records.
func eachRecord(tx *badger.Txn, f func(*badger.Item) error) error {
	o := badger.DefaultIteratorOptions
	o.PrefetchSize = 16 // values may be large
	it := tx.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := f(it.Item()); err != nil {
			return err
		}
	}
	return nil
}
