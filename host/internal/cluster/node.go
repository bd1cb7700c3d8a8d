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
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A Log keeps messages in one order, numbered from 1. Safe for concurrent use.
// Both methods end within seconds, also where nobody answers.
type Log interface {
	// Append puts messages behind the one numbered last, in their order, and
	// returns nil once all of them are there and durable. After an error nobody
	// knows which of them are in the log, or will be, or at which place.
	Append(ctx context.Context, messages [][]byte, last uint64) error
	// Read returns some messages from a number on, in order and without gaps:
	// none where there are none, or where the replica that it asks has none
	// yet. Where the log begins later, it returns the first that there are.
	Read(ctx context.Context, from uint64) ([]Message, error)
}

// A Message is an entry of a [Log]. The bytes of its record are not changed.
type Message struct {
	Seq    uint64
	Record []byte
}

// A Database holds what the log is folded into.
type Database interface {
	// Position returns the position that was stored last, the zero value in a
	// new database.
	Position() (Position, error)
	// Apply makes the changes and stores the position, both or neither.
	Apply(p Position, ops []Op) error
}

// Errors of a write.
var (
	// ErrNotLeader: this node does not lead. Nothing was changed, and nothing
	// will be.
	ErrNotLeader = errors.New("this node does not lead the cluster: nothing was changed")
	// ErrLost: another term began before the write. Nothing was changed, and
	// nothing will be.
	ErrLost = errors.New("the cluster got a new leader before the write: nothing was changed")
	// ErrUnknown: nobody could say in time whether the write counts. It may.
	ErrUnknown = errors.New("it is not known whether the write counts")
)

// Options are the wishes for a [Node]. ID, Log and Database are needed.
type Options struct {
	ID       string // of the node, unique in the cluster
	URL      string // where others send writes
	Version  string // of the build
	Log      Log
	Database Database
	// Lease is how long a leader may be silent before others claim the log.
	// Default 2 s.
	Lease time.Duration
	// Patience is how long a write waits for the log to say whether it counts,
	// after an append without an answer. Default 8 s.
	Patience time.Duration
	// Observer: the node never claims.
	Observer bool
	// Key is that of the cluster.
	Key Key
	// Begins: the node begins a log where the stream has none. Else [Found] does, once in
	// a cluster's life: a node without data must not lead an empty cluster where others
	// have data, or where the log is not its own.
	Begins bool
	// Send tells the other nodes something; default: nobody. What they say
	// comes by [Node.Hear].
	Send func(Beat)
	// End asks whoever takes what is appended for the numbers of the log's first and last
	// messages: a write from here would get into the log now. A log that ends before
	// what the database has was cut, or made again; one whose first message is behind its
	// last has none any more. Default: it can be read.
	End func(context.Context) (first, last uint64, err error)
	// Applied is told of each transaction in order, once the database has it;
	// default: nobody. Be quick.
	Applied func(p Position, ops []Op)
	// Lead does what only a leader does, until ctx ends with its term. It is
	// called once for each term of this node, never twice at a time. Default:
	// nothing.
	Lead func(ctx context.Context)
	// Event is told what somebody who runs the node wants to know; default:
	// nobody. err is nil where nothing is wrong.
	Event func(msg string, err error)
}

// A Node is one of a cluster. Safe for concurrent use; call [Node.Run] once for
// anything to happen.
type Node struct {
	o      Options
	status atomic.Pointer[Status]
	wake   chan struct{} // has a value when Run has something to do

	mu       lock // for the fold, the role, and appending
	fold     fold
	stored   Position // what the database has: the fold without held parts
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

// readOn takes what the log has behind the fold, as far as the replica that is
// asked knows. mu is held.
func (n *Node) readOn(ctx context.Context) error {
	for {
		from := n.fold.Seq + 1
		if !n.verified {
			from = max(n.fold.Seq, 1)
		}
		list, err := n.o.Log.Read(ctx, from)
		if err != nil {
			return fmt.Errorf("read the cluster's log from message %d: %w", from, err)
		}
		if len(list) == 0 {
			return nil
		}
		here := false // the log still has what this node stored last
		for _, m := range list {
			err := n.take(m)
			if errors.Is(err, ErrOtherLog) && n.halted == nil {
				if !here {
					err = n.checkStored(ctx, err)
				}
				if here = here || err == nil; here {
					n.passOver(m)
					continue
				}
			}
			if err != nil {
				return err
			}
		}
	}
}

// checkStored tells a stream that was made again, as another log, from one in which somebody
// put what he kept of an earlier log of this cluster: that one still has the message that
// this node stored last. Where it has another one there, the node halts by why. mu is held.
func (n *Node) checkStored(ctx context.Context, why error) error {
	list, err := n.o.Log.Read(ctx, n.stored.Seq)
	switch {
	case err != nil:
		return fmt.Errorf("read the cluster's log from message %d: %w", n.stored.Seq, err)
	case len(list) == 0:
		return errBehind
	case list[0].Seq != n.stored.Seq || !n.fold.isLast(&n.stored, list[0].Record):
		return n.halt(why)
	}
	return nil
}

// passOver takes a record of an earlier log of this cluster, which is void. The stored position
// stays before it, so that the log is always compared by a message of its own. mu is held.
func (n *Node) passOver(m Message) {
	s := step{next: n.fold.Position}
	s.next.Seq, s.next.Last = m.Seq, checksum(m.Record)
	n.fold.advance(&s)
	n.counts.Void++
	n.counts.Unverified++
	n.tellUnverified(m.Seq)
	n.publish()
}

// take makes one step of the fold. After an error the node is halted, but for a record of
// another log behind one of its own: see readOn. mu is held.
func (n *Node) take(m Message) error {
	if m.Seq == n.fold.Seq && !n.verified {
		return n.verify(m)
	}
	if m.Seq != n.fold.Seq+1 {
		err := fmt.Errorf("%w: message %d is wanted, the first is %d", ErrPurged, n.fold.Seq+1, m.Seq)
		if m.Seq <= n.fold.Seq {
			err = fmt.Errorf("message %d was read in place of %d", m.Seq, n.fold.Seq+1)
		}
		return n.halt(err)
	}
	n.verified, n.short = true, time.Time{}
	s, err := n.fold.judge(m.Seq, m.Record)
	if err != nil {
		err = fmt.Errorf("message %d: %w", m.Seq, err)
		if errors.Is(err, ErrOtherLog) {
			return err
		}
		return n.halt(err)
	}
	if s.meaning == meansPart {
		// Its position stays in memory: after a crash all parts are read again.
		n.fold.advance(&s)
		return nil
	}
	if err := n.o.Database.Apply(s.next, s.ops); err != nil {
		return n.halt(fmt.Errorf("apply message %d: %w", m.Seq, err))
	}
	n.fold.advance(&s)
	n.stored = s.next
	switch s.meaning {
	case meansClaim:
		n.depose(fmt.Errorf("%s claimed term %d", cmp.Or(s.next.Leader.ID, "nobody"), s.next.Term))
		n.hearClaim(s.next.Leader)
		if n.open != nil { // of a term before
			n.open.end(ErrLost)
			n.open = nil
		}
	case meansTxn:
		if n.open != nil && n.open.term == s.record.Term && n.open.n == s.record.N {
			n.open.end(nil)
			n.open = nil
		}
		n.o.Applied(s.next, s.ops)
	default:
		n.counts.Void++
		if s.unverified {
			n.counts.Unverified++
			n.tellUnverified(m.Seq)
			break
		}
		n.o.Event(fmt.Sprintf("message %d of the cluster's log is void: it was written for place %d in term %d", m.Seq, s.record.Prev+1, s.record.Term), nil)
	}
	n.publish()
	return nil
}

// tellEvery is how often a node tells of messages that no node wrote: they may be many.
const tellEvery = time.Minute

func (n *Node) tellUnverified(seq uint64) {
	if time.Since(n.toldUnverified) < tellEvery {
		return
	}
	n.toldUnverified = time.Now()
	n.o.Event(fmt.Sprintf("message %d of the cluster's log is void", seq), fmt.Errorf("%w; %d such messages so far: see who may write to the servers of NATS, and that all nodes have the same master key and cluster name", ErrUnverified, n.counts.Unverified))
}

// verify compares the message at the fold's place with the one taken there. A
// stream that was made again, or that came back from a copy, has another one.
func (n *Node) verify(m Message) error {
	if n.fold.isLast(&n.fold.Position, m.Record) {
		n.verified = true
		return nil
	}
	r, err := DecodeRecord(m.Record, n.fold.key)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrDiverged, err)
	case r.Log != n.fold.Log:
		err = fmt.Errorf("%w: it is %016x, here is %016x", ErrOtherLog, r.Log, n.fold.Log)
	default:
		err = fmt.Errorf("%w: its checksum is %08x, here it was %08x", ErrDiverged, checksum(m.Record), n.fold.Last)
	}
	return n.halt(fmt.Errorf("message %d: %w", m.Seq, err))
}

// halt ends taking and writing for good, and returns why. mu is held.
func (n *Node) halt(err error) error {
	n.halted = err
	n.depose(err)
	n.o.Event("this node is halted: it takes nothing from the cluster's log any more", err)
	n.publish()
	return err
}
