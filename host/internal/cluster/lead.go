package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/parley-search/parley/host/internal/base/contain"
)

// Write appends what draft returns as one transaction. When it returns nil, the
// log and the database of this node have it. draft runs while nothing else is
// written, and reads the database as it is; no operations are no transaction.
// Its errors are returned as they are. The others are [ErrNotLeader], [ErrLost],
// [ErrUnknown], [ErrTooLarge], and that of ctx where it ended first.
func (n *Node) Write(ctx context.Context, draft func() ([]Op, error)) error {
	if !n.status.Load().Leading {
		return ErrNotLeader
	}
	a, err := n.append(ctx, draft)
	if a == nil {
		return err
	}
	late := time.NewTimer(n.o.Patience)
	defer late.Stop()
	select {
	case <-a.done:
		return a.err
	case <-late.C:
		return fmt.Errorf("%w: the log did not answer for %v", ErrUnknown, n.o.Patience)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnknown, ctx.Err())
	}
}

// append is Write up to where it has to wait: for the attempt that it returns.
func (n *Node) append(ctx context.Context, draft func() ([]Op, error)) (*attempt, error) {
	if !n.mu.lockFor(ctx) {
		return nil, fmt.Errorf("nothing was changed: %w", ctx.Err())
	}
	defer n.mu.Unlock()
	if !n.leading {
		return nil, ErrNotLeader
	}
	ops, err := draft()
	if err != nil || len(ops) == 0 {
		return nil, err
	}
	began := time.Now()
	for {
		records, err := n.fold.encode(ops)
		if err != nil {
			return nil, err
		}
		err = n.send(ctx, records)
		if err == nil {
			n.counts.Wrote++
			n.counts.Took += n.reached.Sub(began)
			return nil, n.takeOwn(records)
		}
		// Maybe it counts, maybe not: the log shows it, at the latest once a node claims the
		// next term.
		n.counts.Failed++
		a, last := &attempt{term: n.fold.Term, n: n.fold.N + 1, done: make(chan struct{})}, n.fold.Seq
		n.open = a
		lost := n.lookBack(ctx, last)
		if n.open == nil { // what became of it is known
			return a, nil
		}
		if !lost || time.Since(began) > n.o.Lease {
			n.depose(fmt.Errorf("append message %d: %w", last+1, err))
			n.poke()
			return a, nil
		}
		n.open = nil // what took its place is void and changed nothing: it goes behind that
	}
}

// send appends records of this node's, and notes that the log answers.
func (n *Node) send(ctx context.Context, records [][]byte) error {
	// A caller that leaves does not end the term. Many parts take longer than a
	// lease, and the others would claim meanwhile.
	stop := func() {}
	if len(records) > 1 {
		stop = n.keepBeating()
	}
	err := n.o.Log.Append(context.WithoutCancel(ctx), records, n.fold.Seq)
	stop()
	if err == nil {
		n.reached = time.Now()
		n.noteLevel()
	}
	return err
}

// takeOwn takes records that this node wrote, and tells the others.
func (n *Node) takeOwn(records [][]byte) error {
	for _, b := range records {
		if err := n.take(Message{n.fold.Seq + 1, b}); err != nil {
			return fmt.Errorf("%w: it is in the log, and this node cannot apply it: %w", ErrUnknown, err)
		}
	}
	n.sendBeat()
	return nil
}

// lookBack reads what the log has behind message last, where an append of this leader failed, and
// so ends the open attempt where it is there. It reports whether the attempt is lost while the
// term goes on: something void has its place. mu is held.
func (n *Node) lookBack(ctx context.Context, last uint64) (lost bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.o.Lease/2)
	defer cancel()
	return n.readOn(ctx) == nil && n.leading && n.fold.held == 0 && n.fold.Seq > last
}

// errBehind: a claim now would be void, or the log is not what it was.
var errBehind = errors.New("the log does not show the last message that this node has: the replica is behind, or the log was cut")

// claim makes this node the leader of the next term, unless another one is first.
// mu is held.
func (n *Node) claim(ctx context.Context) error {
	term := n.fold.Term
	n.verified = false
	if err := n.readOn(ctx); err != nil {
		return err
	}
	if n.fold.Term != term && n.open == nil {
		return nil
	}
	if !n.verified && n.fold.Seq > 0 {
		if err := n.measure(ctx); err != nil {
			return err
		}
	}
	n.short = time.Time{}
	format := n.fold.Format()
	if n.fold.Log == 0 {
		if !n.o.Begins {
			return errNoLog
		}
		format = n.fold.highest()
	}
	return n.rule(ctx, format)
}

// errNoLog: a node without data does not begin a log.
var errNoLog = errors.New("the stream has no log of this cluster: where it is empty, `parley cluster create` begins one; else give this node the cluster's name and master key")

// Found begins a log in an empty stream, which nobody leads yet: the first node claims the
// next term. It reports false where the stream has messages.
func Found(ctx context.Context, log Log, key Key, version string) (begun bool, err error) {
	list, err := log.Read(ctx, 1)
	if err != nil || len(list) > 0 {
		return false, err
	}
	n := &Node{o: Options{Log: log, Version: version}, fold: fold{key: key}, random: rand.Uint64}
	b, err := n.encodeClaim(Claim{Version: version, Format: Format})
	if err != nil {
		return false, err
	}
	if err := log.Append(ctx, [][]byte{b}, 0); err != nil {
		return false, fmt.Errorf("begin the log: %w", err)
	}
	return true, nil
}

// IsFounding reports whether a message is what [Found] writes.
func IsFounding(b []byte, key Key) bool {
	r, err := DecodeRecord(b, key)
	if err != nil || r.Kind != KindClaim || r.Term != 1 || r.Chain != 0 {
		return false
	}
	c, err := decodeClaim(r.Data)
	return err == nil && c.ID == ""
}

// rule begins a term of this node's. mu is held.
func (n *Node) rule(ctx context.Context, format int) error {
	if err := n.begin(ctx, Claim{n.o.ID, n.o.URL, n.o.Version, format}); err != nil {
		return err
	}
	n.leading, n.reached = true, time.Now()
	n.noteLevel()
	n.counts.Terms++
	n.publish()
	n.o.Event(fmt.Sprintf("this node leads the cluster in term %d, from message %d on", n.fold.Term, n.fold.Seq), nil)
	n.sendBeat()
	n.lead()
	return nil
}

// cutWait is how many leases the log has to end before what this node has, until
// that is no replica's fault.
const cutWait = 5

// measure halts this node where the log has ended before the fold for long, or begins
// behind what comes next. Else the error is [errBehind], but for a log that was purged of
// all messages, of which this node has the last. mu is held.
func (n *Node) measure(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, n.o.Lease/2) // a question that came before NATS has a leader gets no answer
	defer cancel()
	first, end, err := n.o.End(within)
	switch {
	case err != nil:
		return err
	case first > n.fold.Seq+1:
		return n.halt(fmt.Errorf("%w: message %d is wanted, the log has been purged of all before %d", ErrPurged, n.fold.Seq+1, first))
	case first == n.fold.Seq+1 && end == n.fold.Seq:
		n.verified, n.short = true, time.Time{}
		return nil
	case end >= n.fold.Seq:
		n.short = time.Time{}
	case n.short.IsZero():
		n.short = time.Now()
	case time.Since(n.short) > cutWait*n.o.Lease:
		return n.halt(fmt.Errorf("%w: it ends with message %d, this database has message %d: the stream was cut, or made again", ErrDiverged, end, n.fold.Seq))
	}
	return errBehind
}

// An OldNodeError refuses a format that another node does not read.
type OldNodeError struct {
	Peer Peer
	To   int
}

func (e *OldNodeError) Error() string {
	return fmt.Sprintf("node %s (%s, version %s) reads records up to format %d, not %d", e.Peer.ID, e.Peer.URL, e.Peer.Version, e.Peer.Format, e.To)
}

// Raise has the log be written in the highest format that this build has, for good,
// by a new term of this node, which leads. A node that reads less would halt: the
// error is an [OldNodeError] where one was heard of within a day. It returns the
// format before and now.
func (n *Node) Raise(ctx context.Context) (from, to int, err error) {
	if !n.mu.lockFor(ctx) {
		return 0, 0, fmt.Errorf("nothing was changed: %w", ctx.Err())
	}
	defer n.mu.Unlock()
	if !n.leading {
		return 0, 0, ErrNotLeader
	}
	from, to = n.fold.Format(), n.fold.highest()
	if from >= to {
		return from, from, nil
	}
	for _, p := range n.Peers() {
		if p.Format < to {
			return from, from, &OldNodeError{p, to}
		}
	}
	if err := n.rule(ctx, to); err != nil {
		n.depose(err)
		return from, to, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return from, to, nil
}

// begin appends the claim of the next term. mu is held.
func (n *Node) begin(ctx context.Context, c Claim) error {
	b, err := n.encodeClaim(c)
	if err != nil {
		return err
	}
	n.counts.Claims++
	if err := n.o.Log.Append(context.WithoutCancel(ctx), [][]byte{b}, n.fold.Seq); err != nil {
		return fmt.Errorf("claim term %d: %w", n.fold.Term+1, err)
	}
	return n.take(Message{n.fold.Seq + 1, b})
}

// encodeClaim returns the record of a claim of the next term.
func (n *Node) encodeClaim(c Claim) ([]byte, error) {
	c.Format = max(c.Format, n.fold.Format())
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	r := Record{Format: byte(c.Format), Kind: KindClaim, Log: n.fold.Log, Term: n.fold.Term + 1, Prev: n.fold.Seq, Chain: n.fold.Chain, Data: data}
	for r.Log == 0 {
		r.Log = n.random()
	}
	return r.Encode(n.fold.key), nil
}

// lead has Lead run for this term, once that of a term before has ended. mu is
// held.
func (n *Node) lead() {
	if n.o.Lead == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	before, ended := n.ended, make(chan struct{})
	n.endTerm, n.ended = cancel, ended
	go func() {
		defer close(ended)
		defer cancel()
		if before != nil {
			<-before
		}
		if ctx.Err() != nil {
			return
		}
		if err := contain.Call(func() error { n.o.Lead(ctx); return nil }); err != nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			if ctx.Err() == nil { // it is still this term
				n.depose(err)
			}
		}
	}()
}

// depose ends this node's term, where it leads. mu is held.
func (n *Node) depose(why error) {
	if !n.leading {
		return
	}
	n.leading = false
	if n.endTerm != nil {
		n.endTerm()
	}
	n.o.Event(fmt.Sprintf("this node does not lead the cluster any more (term %d)", n.stored.Term), why)
	n.publish()
}

// Resign gives up leading, where this node leads, and has it claim no more: what
// Lead does has ended, and the others know. Before a shutdown it spares them the
// lease.
func (n *Node) Resign(ctx context.Context) error {
	n.mu.Lock()
	n.resigned = true
	n.mu.Unlock()
	return n.giveUp(ctx)
}

// HandOver gives up leading as Resign does, and lets others be first: this node
// claims only where nobody else has for a lease. The error is [ErrNotLeader], or
// says why the others do not know yet; they wait for the lease then.
func (n *Node) HandOver(ctx context.Context) error {
	if !n.status.Load().Leading {
		return ErrNotLeader
	}
	err := n.giveUp(ctx)
	n.hearing.Lock()
	n.heard.leader = time.Now()
	n.hearing.Unlock()
	return err
}

// giveUp ends what Lead does, and then the term. In the end this node does not
// lead, also where there is an error.
func (n *Node) giveUp(ctx context.Context) error {
	n.mu.Lock()
	ended := n.ended
	if n.endTerm != nil {
		n.endTerm()
	}
	n.mu.Unlock()
	var late error
	if ended != nil {
		select {
		case <-ended:
		case <-ctx.Done():
			late = ctx.Err()
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.leading {
		return late
	}
	if late == nil {
		late = n.begin(ctx, Claim{})
	}
	if late != nil {
		n.depose(late)
		return late
	}
	n.sendBeat()
	return nil
}
