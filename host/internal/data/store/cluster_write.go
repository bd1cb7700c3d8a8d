package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/cluster"
)

// A draft is a transaction that notes its changes and is never committed: the
// log decides whether they come.
type draft struct {
	*badger.Txn
	ops  []cluster.Op
	cost int
}

func (d *draft) note(o cluster.Op) error {
	d.cost += o.Cost()
	if d.ops = append(d.ops, o); len(d.ops) > cluster.MaxOps || d.cost > cluster.MaxBytes {
		return badger.ErrTxnTooBig
	}
	return nil
}

func (d *draft) Set(key, value []byte) error {
	if err := d.note(cluster.Op{Kind: cluster.OpSet, Key: key, Value: value}); err != nil {
		return err
	}
	return d.Txn.Set(key, value)
}

func (d *draft) SetEntry(e *badger.Entry) error {
	o := cluster.Op{Kind: cluster.OpSet, Key: e.Key, Value: e.Value}
	if e.ExpiresAt > 0 {
		o.Kind, o.Until = cluster.OpSetUntil, e.ExpiresAt
	}
	if err := d.note(o); err != nil {
		return err
	}
	return d.Txn.SetEntry(e)
}

func (d *draft) Delete(key []byte) error {
	if err := d.note(cluster.Op{Kind: cluster.OpDelete, Key: key}); err != nil {
		return err
	}
	return d.Txn.Delete(key)
}

// shared has the changes of one node go through the log. Those that wait for
// each other anyway go into one message.
type shared struct {
	store *Store
	log   ClusterLog
	term  atomic.Uint64 // in which changes are let through, see [Store.Admit]

	mu      sync.Mutex
	waiting []*change
	writing bool // somebody will take those that wait
}

// A change is a call of [Store.update] that waits. Its function runs on the
// goroutine of its caller, when it is told: were it stored here, the functions
// of a single node would cost an allocation each.
type change struct {
	turn chan *draft
	ran  chan error // what the function returned
	done chan error // what became of it; has room
}

// Changes of one message, and the cost from which on none joins.
const (
	maxGroup  = 64
	groupCost = 256 << 10
)

// update is [Store.update].
func (s *shared) update(f func(txn) error) error {
	if err := s.store.smallRoom(0); err != nil { // the log cannot be applied without
		return err
	}
	c := &change{make(chan *draft), make(chan error), make(chan error, 1)}
	s.mu.Lock()
	s.waiting = append(s.waiting, c)
	s.start()
	s.mu.Unlock()
	for {
		select {
		case d := <-c.turn:
			c.answer(d, f)
		case err := <-c.done:
			return err
		}
	}
}

var errPanic = errors.New("a change of the database panicked")

// answer runs f and gives its error to the caller that waits for it, also if f panics.
func (c *change) answer(d *draft, f func(txn) error) {
	err := errPanic
	defer func() { c.ran <- err }()
	err = f(d)
}

// run has the change's caller run it in d. It may do so several times.
func (c *change) run(d *draft) error {
	c.turn <- d
	return <-c.ran
}

// start begins a goroutine for the changes that wait, if none runs. mu is held.
func (s *shared) start() {
	if len(s.waiting) > 0 && !s.writing {
		s.writing = true
		go s.write()
	}
}

// write makes one message. While it is appended, the next one waits for its turn
// and changes gather for it.
func (s *shared) write() {
	var group []*change
	taken := false
	err := contain.Call(func() error {
		return s.log.Write(context.Background(), func() (ops []cluster.Op, _ error) {
			taken = true
			if err := s.admitted(); err != nil {
				group = s.take(math.MaxInt)
				return nil, err
			}
			group, ops = s.draft(s.take(maxGroup))
			return ops, nil
		})
	})
	if !taken { // this node does not lead
		group = s.take(math.MaxInt)
	}
	for _, c := range group {
		c.done <- err
	}
}

// take returns up to n of the changes that wait.
func (s *shared) take(n int) []*change {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = min(n, len(s.waiting))
	list := s.waiting[:n:n]
	s.waiting = s.waiting[n:]
	s.writing = false
	s.start()
	return list
}

// draft runs changes, as many as one message takes. Each sees those before it.
// One that fails is told so and leaves nothing behind.
func (s *shared) draft(list []*change) (group []*change, ops []cluster.Op) {
	for {
		d := &draft{Txn: s.store.db.NewTransaction(true)}
		kept, again := s.runAll(d, list)
		d.Discard()
		if !again {
			return kept, d.ops
		}
		list = kept // what the other one wrote is in d
	}
}

// runAll runs changes in d and returns those that go into the message. again
// says that d holds something of others, too. Changes that do not fit wait for
// the next message.
func (s *shared) runAll(d *draft, list []*change) (kept []*change, again bool) {
	for i, c := range list {
		if len(kept) > 0 && d.cost > groupCost {
			s.putBack(list[i:])
			return kept, false
		}
		before := len(d.ops)
		err := c.run(d)
		if err == nil {
			kept = append(kept, c)
			continue
		}
		wrote := len(d.ops) > before
		if len(kept) > 0 && errors.Is(err, badger.ErrTxnTooBig) { // alone it may fit
			s.putBack(list[i:])
			return kept, wrote
		}
		c.done <- err
		if wrote {
			return append(kept, list[i+1:]...), true
		}
	}
	return kept, false
}

// putBack has changes wait again, before all others.
func (s *shared) putBack(list []*change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(list[:len(list):len(list)], s.waiting...)
	s.start()
}

// deleteAll deletes all keys that begin with prefix by one operation, alone in
// its message: a deletion comes before everything else there.
func (s *shared) deleteAll(prefix []byte) error {
	return s.log.Write(context.Background(), func() ([]cluster.Op, error) {
		return []cluster.Op{{Kind: cluster.OpDeletePrefix, Key: prefix}}, s.admitted()
	})
}

// admitted returns an error where a change is made of what was read before this
// node's term. The log's lock is held.
func (s *shared) admitted() error {
	p, err := s.store.Position()
	if err != nil {
		return err
	}
	if at := s.term.Load(); at == 0 || at != p.Term {
		return fmt.Errorf("%w: it is not ready to", cluster.ErrNotLeader)
	}
	return nil
}
