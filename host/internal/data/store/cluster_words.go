package store

import (
	"bytes"
	"encoding/binary"

	"github.com/dgraph-io/badger/v4"
)

// noteKey is what the keys of the notes of a message begin with.
func noteKey(docs string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(prefixNote+docs+"/"), seq)
}

// PruneNotes forgets the notes of messages up to seq, on this node.
func (s *Store) PruneNotes(docs string, seq uint64) error {
	batch := s.newBatch(s.hasSmallRoom)
	defer batch.Cancel()
	end := noteKey(docs, seq+1)
	err := s.db.View(func(tx *badger.Txn) error {
		return eachKey(tx, []byte(prefixNote+docs+"/"), func(item *badger.Item) error {
			if bytes.Compare(item.Key(), end) >= 0 {
				return nil
			}
			return batch.Delete(item.KeyCopy(nil))
		})
	})
	if err != nil {
		return err
	}
	return batch.Flush()
}

// A keptFolder is the record of a folder.
type keptFolder struct {
	Name string
	Seq  uint64
}

// WordsFolder returns the name of the folder that this node has the words of
// docs in, and the message up to which it has them; "": it has none.
func (s *Store) WordsFolder(docs string) (name string, seq uint64, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		f, err := getJSON[keptFolder](tx, []byte(prefixFolder+docs))
		if f != nil {
			name, seq = f.Name, f.Seq
		}
		return err
	})
	return name, seq, err
}

// PutWordsFolder notes what [Store.WordsFolder] returns.
func (s *Store) PutWordsFolder(docs, name string, seq uint64) error {
	return s.updateOwn(func(tx txn) error { return setJSON(tx, []byte(prefixFolder+docs), keptFolder{name, seq}) })
}

// SweepWords forgets the folders and notes of docs that known does not know.
func (s *Store) SweepWords(known func(docs string) bool) error {
	var gone [][]byte
	err := s.db.View(func(tx *badger.Txn) error {
		return eachKey(tx, []byte(prefixFolder), func(item *badger.Item) error {
			if docs := string(item.Key()[len(prefixFolder):]); !known(docs) {
				gone = append(gone, item.KeyCopy(nil))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, key := range gone {
		if err := s.deleteHere(append([]byte(prefixNote), append(bytes.Clone(key[len(prefixFolder):]), '/')...)); err != nil {
			return err
		}
		if err := s.updateOwn(func(tx txn) error { return tx.Delete(key) }); err != nil {
			return err
		}
	}
	return nil
}
