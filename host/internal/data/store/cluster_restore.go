package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/cluster"
)

// RestoreSnapshot gives the node of a cluster with the data directory dir the
// records of the snapshot r in place of its own. Its name among the nodes stays;
// what it derives from the records, as words, it makes anew. The database is not
// open meanwhile. After an error it is as before.
func RestoreSnapshot(dir string, r io.Reader) (p cluster.Position, err error) {
	lock, err := LockDir(dir)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := sweepRestore(dir); err != nil {
		return p, err
	}
	id, err := nodeIn(dir)
	if err != nil {
		return p, err
	}
	made, at := filepath.Join(dir, restoringDir), filepath.Join(dir, "badger")
	if p, err = fillRestored(made, dir, id, r); err != nil {
		return p, errors.Join(fmt.Errorf("restore snapshot: %w", err), os.RemoveAll(made))
	}
	// Without a database, as after a crash here, the node is empty and restores again.
	err = os.Rename(at, filepath.Join(dir, replacedDir))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = os.Rename(made, at)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err == nil {
		err = sweepRestore(dir)
	}
	if err != nil {
		return p, fmt.Errorf("put the restored database in place: %w", err)
	}
	return p, nil
}

// sweepRestore removes what a restore that did not end left behind.
func sweepRestore(dir string) error {
	for _, name := range []string{restoringDir, replacedDir} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove what a restore left behind: %w", err)
		}
	}
	return nil
}

// nodeIn returns the name of the node that has the database below dir; nil: none.
func nodeIn(dir string) (id []byte, err error) {
	if !Exists(dir) {
		return nil, nil
	}
	db, err := badger.Open(sized(badger.DefaultOptions(filepath.Join(dir, "badger"))).WithLogger(nil))
	if err != nil {
		return nil, err
	}
	err = db.View(func(tx *badger.Txn) error {
		id, err = get(tx, []byte(keyNode))
		if errors.Is(err, badger.ErrKeyNotFound) {
			err = nil
		}
		return err
	})
	return id, errors.Join(err, db.Close())
}

// fillRestored makes the database made of the snapshot r. The position comes last,
// once r is read to its end.
func fillRestored(made, dir string, id []byte, r io.Reader) (p cluster.Position, err error) {
	db, err := badger.Open(sized(badger.DefaultOptions(made)).WithLogger(nil))
	if err != nil {
		return p, err
	}
	s := &Store{db: db, free: badgerdir.FreeBelow(dir)}
	position, err := s.readRecords(bufio.NewReaderSize(r, 256<<10))
	if err == nil {
		err = p.UnmarshalBinary(position)
	}
	if err == nil {
		err = db.Update(func(tx *badger.Txn) error {
			if id != nil {
				if err := tx.Set([]byte(keyNode), id); err != nil {
					return err
				}
			}
			return tx.Set([]byte(keyPosition), position)
		})
	}
	return p, errors.Join(err, db.Sync(), db.Close())
}

var errSnapshot = errors.New("it is not a snapshot of a cluster that this version reads, or cut off")

// readRecords writes the records of a snapshot, and returns its position.
func (s *Store) readRecords(r *bufio.Reader) (position []byte, err error) {
	head := make([]byte, len(snapshotHead))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != snapshotHead {
		return nil, errors.Join(errSnapshot, err)
	}
	field := func() []byte {
		n, wrong := binary.ReadUvarint(r)
		if wrong != nil || n > maxField {
			err = errors.Join(errSnapshot, err, wrong)
			return nil
		}
		var b bytes.Buffer // grows with what comes, whatever n says
		if _, wrong := io.CopyN(&b, r, int64(n)); wrong != nil {
			err = errors.Join(errSnapshot, err, wrong)
		}
		return b.Bytes()
	}
	if position = field(); err != nil {
		return nil, err
	}
	batch := s.newBatch(s.HasRoom)
	defer batch.Cancel()
	for {
		key := field()
		if err != nil {
			return nil, err
		}
		if len(key) == 0 {
			break
		}
		e := badger.NewEntry(key, field())
		until, wrong := binary.ReadUvarint(r)
		if err = errors.Join(err, wrong); err != nil {
			return nil, errors.Join(errSnapshot, err)
		}
		if bytes.HasPrefix(key, []byte(prefixLocal)) {
			return nil, errSnapshot
		}
		e.ExpiresAt = until
		if err := batch.SetEntry(e); err != nil {
			return nil, err
		}
	}
	// The sender may find only now that it is not what was sent.
	if _, err := r.ReadByte(); err != io.EOF {
		return nil, errors.Join(errSnapshot, err)
	}
	return position, batch.Flush()
}

// IsSnapshot reports whether f is a snapshot of a cluster, and goes back to its begin.
func IsSnapshot(f io.ReadSeeker) (bool, error) {
	head := make([]byte, len(snapshotHead))
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	_, err := f.Seek(0, io.SeekStart)
	return string(head) == snapshotHead, err
}

// ResetLog is [Store.BeginLog] for a database that a node of a cluster had.
func (s *Store) ResetLog(log uint64) error {
	p, err := s.Position()
	if err == nil && p.Seq == 0 {
		err = errors.New("this data directory has nothing of a cluster")
	}
	if err != nil {
		return err
	}
	return s.BeginLog(log)
}

// BeginLog makes what the database has the begin of another log, which is empty: the
// node claims it, and the others take a snapshot of it. The chain is not that of an empty
// log, so that a node without data cannot take the first message for a begin.
func (s *Store) BeginLog(log uint64) error {
	p, err := s.Position()
	if err != nil {
		return err
	}
	// Words and notes are counted by messages of the log that was, and on a host alone by
	// tasks.
	for _, prefix := range []string{prefixNote, prefixFolder, prefixOutbox} {
		if err := s.deleteHere([]byte(prefix)); err != nil {
			return err
		}
	}
	p = cluster.Position{Log: log, Term: p.Term, Chain: max(p.Chain, 1), Leader: cluster.Claim{Format: cluster.Format}}
	return s.updateOwn(func(tx txn) error {
		b, err := p.AppendBinary(nil)
		if err == nil {
			err = tx.Set([]byte(keyPosition), b)
		}
		return err
	})
}

// Directories of a restore, which a crash may leave.
const (
	restoringDir = "badger.new"
	replacedDir  = "badger.old"
)
