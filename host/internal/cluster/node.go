// Package cluster makes the databases of several nodes equal: each is the fold
// of one replicated log of transactions. The log is trusted to keep messages in
// one order, and with nothing else. Who may write is decided by the log itself:
// a node claims a term by a record, and a record counts only where its writer
// had seen everything before it.
//
// A node follows: it reads the log and applies it. One of the nodes, the leader,
// takes writes. What a message of the log means is decided by the fold, which
// has no clock, no network and no database; TestSim tests it with a log that
// does everything wrong.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A Node is one of a cluster. Safe for concurrent use; call [Node.Run] once for
// anything to happen.
type Node struct {
	o      Options
	status atomic.Pointer[Status]
	wake   chan struct{} // has a value when Run has something to do

	mu       lock // for the fold, the role, and appending
	fold     fold
	stored   Position // what the database has: the fold without held parts, and void messages at its end
	passed   uint64   // the last void message that was counted
	verified bool     // the log has the last message that this node took
	leading  bool
	resigned bool
	trouble  error     // the last of the log, which was told; nil: it answers
	short    time.Time // since when the log ends before the fold; zero: it does not
	silent   time.Time // since when the log has nothing of what a leader was heard to have; zero: it has
	silentAt uint64    // the message that this node had then
	open     *attempt
	halted   error
	counts   Counts

	rested         time.Time // when the last round of Run ended; zero: none has
	toldUnverified time.Time // when somebody was told last

	reached time.Time // when the log answered a leader last
	endTerm context.CancelFunc
	ended   chan struct{} // closed once Lead has returned

	hearing sync.Mutex
	heard   heard
	beats   atomic.Uint64 // the number of the last one

	level atomic.Pointer[time.Time] // when the node knew last that it has all of the log; nil: not yet

	random func() uint64 // [rand.Uint64], but in simulations
}

// Counts are what a node did since it was opened.
type Counts struct {
	Claims uint64        // tried
	Terms  uint64        // led
	Failed uint64        // appends of transactions without an answer
	Wrote  uint64        // transactions that were appended
	Took   time.Duration // by all of these appends
	Void   uint64        // messages that were void
	// Unverified are those of them that no node of this cluster wrote.
	Unverified uint64
}

// A Status is what a node says of itself.
type Status struct {
	Position Position // what the database has
	Leading  bool
	Halted   error // why the node takes nothing from the log any more; nil: it does
	Trouble  error // why the node cannot reach the log now; nil: it can
	Counts   Counts

	changed chan struct{} // closed when there is a newer one
}

// A lock is a mutex that is held while the log is asked, so that one may stop
// waiting for it.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// lockFor is Lock until ctx ends; it reports whether the lock is held.
func (l lock) lockFor(ctx context.Context) bool {
	select {
	case l <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// An attempt is an append of which nobody knows yet whether it counts. The log
// says so once the next claim is in it.
type attempt struct {
	term, n uint64
	done    chan struct{} // closed once err is set
	err     error         // nil: it counts; or ErrLost
}

func (a *attempt) end(err error) {
	a.err = err
	close(a.done)
}

// Open returns a node at the position of its database.
func Open(o Options) (*Node, error) {
	o.Lease = cmp.Or(o.Lease, 2*time.Second)
	o.Patience = cmp.Or(o.Patience, 8*time.Second)
	if o.Send == nil {
		o.Send = func(Beat) {}
	}
	if o.Event == nil {
		o.Event = func(string, error) {}
	}
	if o.Applied == nil {
		o.Applied = func(Position, []Op) {}
	}
	n := &Node{o: o, wake: make(chan struct{}, 1), mu: make(lock, 1), fold: fold{partLen: partBytes, key: o.Key}, random: rand.Uint64}
	if o.End == nil {
		n.o.End = func(ctx context.Context) (first, last uint64, err error) {
			err = n.readOn(ctx)
			return 1, n.fold.Seq, err
		}
	}
	p, err := o.Database.Position()
	if err != nil {
		return nil, fmt.Errorf("read the position in the cluster's log: %w", err)
	}
	n.fold.Position, n.stored = p, p
	if p.Format() > n.fold.highest() {
		_ = n.halt(fmt.Errorf("%w: the database was written in format %d, this build reads %d", ErrFormat, p.Format(), n.fold.highest()))
	}
	n.publish()
	n.heard.init()
	n.beats.Store(uint64(time.Now().UnixNano()))
	return n, nil
}

// ID is the node's own, and Version that of its build.
func (n *Node) ID() string      { return n.o.ID }
func (n *Node) Version() string { return n.o.Version }

// Status returns what the node knows of itself now. It never waits.
func (n *Node) Status() Status { return *n.status.Load() }

// publish tells readers of the status. mu is held.
func (n *Node) publish() {
	old := n.status.Swap(&Status{n.stored, n.leading, n.halted, n.trouble, n.counts, make(chan struct{})})
	if old != nil {
		close(old.changed)
	}
}

// WaitFor returns once the database has everything up to the message seq.
func (n *Node) WaitFor(ctx context.Context, seq uint64) error {
	for {
		s := n.status.Load()
		if s.Position.Seq >= seq {
			return nil
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
