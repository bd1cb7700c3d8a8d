package store

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// A reader is a transaction as far as it reads.
type reader interface {
	Get(key []byte) (*badger.Item, error)
	NewIterator(o badger.IteratorOptions) *badger.Iterator
}

// A txn is a transaction of [Store.update]: a [badger.Txn] that is committed, or
// in a cluster a [draft], which notes what it would change.
type txn interface {
	reader
	Set(key, value []byte) error
	SetEntry(e *badger.Entry) error
	Delete(key []byte) error
}

// update runs f in a transaction, again where another one got in between. What takes much
// of the disk asks for room first.
func (s *Store) update(f func(txn) error) error {
	if s.shared != nil { // behind an interface, f would cost an allocation
		return s.shared.update(f)
	}
	return s.updateOwn(f)
}

// deleteAll deletes all keys that begin with prefix, in as many transactions as
// it takes.
func (s *Store) deleteAll(prefix []byte) error {
	if s.shared != nil {
		return s.shared.deleteAll(prefix)
	}
	return s.deleteHere(prefix)
}

// updateOwn is update for records that each node of a cluster has for itself.
func (s *Store) updateOwn(f func(txn) error) error {
	if err := s.smallRoom(0); err != nil {
		return err
	}
	for {
		err := s.commit(f)
		if !errors.Is(err, badger.ErrConflict) {
			return err
		}
	}
}

// commit is [badger.DB.Update] for an f that does not know whose transaction it
// has. Wrapping f for that would cost an allocation.
func (s *Store) commit(f func(txn) error) error {
	if s.db.IsClosed() {
		return badger.ErrDBClosed
	}
	tx := s.db.NewTransaction(true)
	defer tx.Discard()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// A batch writes many records, in as many transactions as it takes, while the disk has room.
type batch struct {
	records *badger.WriteBatch
	room    func() error
	unasked int // bytes that may be written before room is called again
}

// batchPiece is how many bytes a batch writes before it asks for room again.
const batchPiece = 1 << 20

func (s *Store) newBatch(room func() error) *batch {
	return &batch{records: s.db.NewWriteBatch(), room: room}
}

func (b *batch) Set(key, value []byte) error { return b.SetEntry(badger.NewEntry(key, value)) }

func (b *batch) SetEntry(e *badger.Entry) error {
	if err := b.ask(len(e.Key) + len(e.Value)); err != nil {
		return err
	}
	return b.records.SetEntry(e)
}

func (b *batch) Delete(key []byte) error {
	if err := b.ask(len(key)); err != nil {
		return err
	}
	return b.records.Delete(key)
}

func (b *batch) ask(bytes int) error {
	if b.unasked -= bytes; b.unasked >= 0 {
		return nil
	}
	b.unasked = batchPiece
	return b.room()
}

func (b *batch) Cancel()      { b.records.Cancel() }
func (b *batch) Flush() error { return b.records.Flush() }

// updateRecord has f change the record under key: read finds what there is, with what
// encode needs of it again. An error of f is returned as it is: it is the caller's own.
func updateRecord[T, R any](s *Store, what, key string, read func(reader) (T, R, error), f func(T) (T, error), encode func(T, R) ([]byte, error)) error {
	var refused error
	err := s.update(func(tx txn) error {
		old, before, err := read(tx)
		if err != nil {
			return err
		}
		updated, err := f(old)
		if refused = err; err != nil {
			return err
		}
		value, err := encode(updated, before)
		if err != nil {
			return err
		}
		return tx.Set([]byte(key), value)
	})
	if refused != nil {
		return refused
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// get returns a copy of the value of key, or [badger.ErrKeyNotFound].
func get(tx reader, key []byte) ([]byte, error) {
	item, err := tx.Get(key)
	if err != nil {
		return nil, err
	}
	return item.ValueCopy(nil)
}

// scan calls f for each key that begins with prefix, in order, until f returns
// false. Key and value are good within f only.
func scan(tx reader, prefix []byte, f func(key, value []byte) (bool, error)) error {
	return scanFrom(tx, prefix, prefix, f)
}

// scanFrom is scan from the first key that is not less than from.
func scanFrom(tx reader, prefix, from []byte, f func(key, value []byte) (bool, error)) error {
	o := badger.DefaultIteratorOptions
	o.Prefix = prefix
	it := tx.NewIterator(o)
	defer it.Close()
	for it.Seek(from); it.Valid(); it.Next() {
		more := false
		err := it.Item().Value(func(v []byte) (err error) {
			more, err = f(it.Item().Key(), v)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// eachKey calls f for each key that begins with prefix, in order, without
// reading values. The item is good within f only.
func eachKey(tx reader, prefix []byte, f func(*badger.Item) error) error {
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
