package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/cluster"
)

var _ cluster.Database = (*Store)(nil)

// A ClusterLog appends transactions to the log of a cluster and applies them
// here. See [cluster.Node.Write], which it is.
type ClusterLog interface {
	Write(ctx context.Context, draft func() ([]cluster.Op, error)) error
}

// Join makes the store, which [OpenShared] opened, one of a cluster's: from now
// on each change goes through the log and comes back by [Store.Apply]. Until
// [Store.Admit] says so, all are refused.
func (s *Store) Join(log ClusterLog, shelf BodyShelf) {
	s.shared = &shared{store: s, log: log}
	s.shelf, s.ownPrefix = shelf, prefixLocal
}

// Admit lets changes through while this node leads term, which is at least 1, and
// none in other terms: who changes something goes by what it read before, which
// a term in between may have made wrong. 0: none at all.
func (s *Store) Admit(term uint64) { s.shared.term.Store(term) }

// errOwn and errShared are those of a database that is opened for what it is not.
var (
	errShared = errors.New("it belongs to a node of a cluster: give the --cluster options, and change it through the cluster only")
	errOwn    = errors.New("it has data of a host that ran alone, which a cluster cannot take over: begin with an empty --db-path, and send the data to the cluster by POST /export of that host")
)

// checkOwner refuses a database that a node of a cluster has, or, where joins is
// set, one that a host alone has written to.
func (s *Store) checkOwner(joins bool) error {
	p, err := s.Position()
	if err != nil {
		return err
	}
	if !joins {
		if p.Log > 0 {
			return errShared
		}
		return nil
	}
	if p.Log > 0 {
		return nil
	}
	return s.db.View(func(tx *badger.Txn) error {
		for _, prefix := range []string{prefixKey, prefixIndex, prefixTask, prefixWorkspace, keySealing} {
			err := eachKey(tx, []byte(prefix), func(*badger.Item) error { return errOwn })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// own is the key of a record that each node of a cluster has for itself; it is
// the same key on a host alone.
func (s *Store) own(key []byte) []byte { return append([]byte(s.ownPrefix), key...) }

// Position implements [cluster.Database].
func (s *Store) Position() (p cluster.Position, err error) {
	err = s.db.View(func(tx *badger.Txn) error { p, err = position(tx); return err })
	return p, err
}

func position(tx reader) (p cluster.Position, err error) {
	b, err := get(tx, []byte(keyPosition))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	return p, p.UnmarshalBinary(b)
}

// Apply implements [cluster.Database]. Prefixes are deleted first, in as many
// transactions as it takes, and everything else in one with the position. A crash
// in between repeats the operations, since the position is that of before.
//
// The outbox of documents is not applied: each node notes what bleve lacks under
// its own l/o/ and forgets it by its own progress.
func (s *Store) Apply(p cluster.Position, ops []cluster.Op) error {
	var size uint64
	for _, o := range ops {
		size += uint64(len(o.Key) + len(o.Value))
	}
	if err := s.smallRoom(size); err != nil {
		return fmt.Errorf("%w: %w", cluster.ErrNoRoom, err)
	}
	for _, o := range ops {
		if o.Kind != cluster.OpDeletePrefix {
			continue
		}
		err := s.deleteHere(o.Key)
		if docs, ok := bytes.CutPrefix(o.Key, []byte(prefixDocument)); ok && err == nil {
			err = s.deleteHere(append([]byte(prefixNote), docs...))
		}
		if err != nil {
			return fmt.Errorf("delete all of %q: %w", o.Key, err)
		}
	}
	position, err := p.AppendBinary(nil)
	if err != nil {
		return err
	}
	tx := s.db.NewTransaction(true)
	defer tx.Discard()
	var notes uint32
	for _, o := range ops {
		if at, ok := bytes.CutPrefix(o.Key, []byte(prefixOutbox)); ok {
			if o.Kind != cluster.OpSet {
				continue
			}
			docs, _, _ := bytes.Cut(at, []byte("/"))
			o.Key = binary.BigEndian.AppendUint32(noteKey(string(docs), p.Seq), notes)
			notes++
		}
		switch o.Kind {
		case cluster.OpSet:
			err = tx.Set(o.Key, o.Value)
		case cluster.OpDelete:
			err = tx.Delete(o.Key)
		case cluster.OpSetUntil:
			e := badger.NewEntry(o.Key, o.Value)
			e.ExpiresAt = o.Until
			err = tx.SetEntry(e)
		case cluster.OpDeletePrefix: // done above
		default:
			err = fmt.Errorf("operation of kind %d", o.Kind)
		}
		if err != nil {
			return err
		}
	}
	if err := tx.Set([]byte(keyPosition), position); err != nil {
		return err
	}
	return tx.Commit()
}

// NodeID is the name of this node in its cluster, drawn at random when it is asked
// for first.
func (s *Store) NodeID() (id string, err error) {
	key := []byte(keyNode)
	err = s.updateOwn(func(tx txn) error {
		b, err := get(tx, key)
		if errors.Is(err, badger.ErrKeyNotFound) {
			b = []byte(uuid.NewString())
			err = tx.Set(key, b)
		}
		id = string(b)
		return err
	})
	return id, err
}

// Seq is the message up to which the database has the log.
func (s *Store) Seq() (uint64, error) {
	p, err := s.Position()
	return p.Seq, err
}
