package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/contain"
)

// A Beat is what a node tells the others, each sixth of a lease and after each
// write. Beats decide when a node tries to lead, never which one leads.
type Beat struct {
	Log     uint64 `json:"log,omitempty"` // that the node follows; 0: none yet, or an older build
	ID      string `json:"id"`
	URL     string `json:"url"`
	Version string `json:"version"`
	Format  int    `json:"format"` // the highest that the node reads
	Leading bool   `json:"leading"`
	Term    uint64 `json:"term"`
	Seq     uint64 `json:"seq"` // what the node's database has
	Halted  bool   `json:"halted,omitempty"`
	// Number is higher than that of each earlier beat of the node, over its starts: it begins
	// with the time, in nanoseconds. 0: the node is of an older build.
	Number uint64 `json:"number,omitempty"`
}

// A Peer is another node that this one heard of.
type Peer struct {
	Beat
	At time.Time // of the last beat
}

// heard is what other nodes said.
type heard struct {
	leader time.Time // when a leader was heard of last, or the node opened
	told   time.Time // when a leader told how far it is; zero: none has
	term   uint64    // the highest that a leader was heard of
	seq    uint64    // the highest that a leader has
	peers  map[string]Peer

	repeated uint64 // beats that are not newer than one before
}

// keepPeer is how long a node that is silent is remembered.
const keepPeer = 24 * time.Hour

func (h *heard) init() { h.leader, h.peers = time.Now(), map[string]Peer{} }

// Hear takes what another node told. It never waits for the log.
func (n *Node) Hear(b Beat) {
	if b.ID == "" || b.ID == n.o.ID && b.Number <= n.beats.Load() {
		return // what is newer than this node's last is of another one, see [Node.Twin]
	}
	s := n.status.Load()
	if own := s.Position.Log; own != 0 && b.Log != 0 && b.Log != own {
		return // it follows what this cluster had before, or will have
	}
	n.hearing.Lock()
	if last, ok := n.heard.peers[b.ID]; ok && last.Number > 0 && b.Number <= last.Number {
		n.heard.repeated++ // somebody sends again what a node said before
		n.hearing.Unlock()
		return
	}
	now := time.Now()
	n.heard.peers[b.ID] = Peer{b, now}
	for id, p := range n.heard.peers {
		if now.Sub(p.At) > keepPeer {
			delete(n.heard.peers, id)
		}
	}
	if b.Leading && b.Term >= s.Position.Term {
		n.heard.leader, n.heard.told, n.heard.term = now, now, max(n.heard.term, b.Term)
		n.heard.seq = max(n.heard.seq, b.Seq)
	}
	n.hearing.Unlock()
	if b.Term > s.Position.Term || b.Seq > s.Position.Seq {
		n.poke()
	}
}

// forgetBeats forgets what leaders said, of which a node without a log cannot know whether it is
// of the log that it follows then, or of an earlier one of the cluster.
func (n *Node) forgetBeats() {
	n.hearing.Lock()
	defer n.hearing.Unlock()
	n.heard.told, n.heard.term, n.heard.seq = time.Time{}, 0, 0
}

// hearClaim begins the lease of the node that claimed a term.
func (n *Node) hearClaim(c Claim) {
	n.hearing.Lock()
	defer n.hearing.Unlock()
	n.heard.leader = time.Now()
	if c.ID == "" { // it resigned: only as much as keeps all from claiming at once
		n.heard.leader = n.heard.leader.Add(-n.o.Lease)
	}
}

// Peers returns the other nodes that were heard of within a day, by id.
func (n *Node) Peers() []Peer {
	n.hearing.Lock()
	defer n.hearing.Unlock()
	var list []Peer
	for _, p := range n.heard.peers {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Peer) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Twin returns another node that has this one's id, and began later: the data directory of
// one of the two is a copy of the other's.
func (n *Node) Twin() (p Peer, ok bool) {
	n.hearing.Lock()
	defer n.hearing.Unlock()
	p, ok = n.heard.peers[n.o.ID]
	return p, ok
}

// Repeated is how many beats were heard that are not newer than one of their node before:
// none of them counts.
func (n *Node) Repeated() uint64 {
	n.hearing.Lock()
	defer n.hearing.Unlock()
	return n.heard.repeated
}

// Ahead returns the number of the last message that a leader was heard to have,
// 0 where none was heard of.
func (n *Node) Ahead() uint64 {
	n.hearing.Lock()
	defer n.hearing.Unlock()
	return n.heard.seq
}

// noteLevel notes that the node has all of the log: a leader has it now, another node where it has
// what a leader told last. That it can be read shows nothing: a server of NATS that is cut off
// beside the node goes on showing what it has. mu is held.
func (n *Node) noteLevel() {
	n.hearing.Lock()
	at, seq := n.heard.told, n.heard.seq
	n.hearing.Unlock()
	if n.leading {
		at = time.Now()
	}
	// A node that led until now may have heard of no other leader for long.
	if n.stored.Seq >= seq && n.stored.Seq > 0 && at.After(n.Level()) {
		n.level.Store(&at)
	}
}

// Level is when the node knew last that it has all of the log; the zero time: not
// since it was opened.
func (n *Node) Level() time.Time {
	if at := n.level.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// poke has Run look at what there is to do.
func (n *Node) poke() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// sendBeat tells the others how far this node is. mu is held.
func (n *Node) sendBeat() {
	n.o.Send(Beat{
		Log: n.stored.Log, ID: n.o.ID, URL: n.o.URL, Version: n.o.Version, Format: n.fold.highest(),
		Leading: n.leading, Term: n.stored.Term, Seq: n.stored.Seq, Halted: n.halted != nil,
		Number: n.beats.Add(1),
	})
}

// keepBeating sends beats until it is told to stop, while mu is held for long.
func (n *Node) keepBeating() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(n.o.Lease / 6)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				n.sendBeat()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// Run follows the log, and leads where nobody else does, until ctx ends. What
// Lead does has ended then.
func (n *Node) Run(ctx context.Context) {
	tick := time.NewTicker(n.o.Lease / 6)
	defer tick.Stop()
	wait := n.delay()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-n.wake:
			n.roundOrHalt(ctx, &wait, false)
		case <-tick.C:
			n.roundOrHalt(ctx, &wait, true)
		}
	}
	n.mu.Lock()
	n.resigned = true
	n.depose(context.Cause(ctx))
	ended := n.ended
	n.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// delay is how long the leader may be silent before this node claims: not as
// long as another node waits, since only one of two claims counts.
func (n *Node) delay() time.Duration {
	return n.o.Lease + time.Duration(rand.Int64N(int64(n.o.Lease)/2+1))
}

// roundOrHalt is round, a panic of which halts this node.
func (n *Node) roundOrHalt(ctx context.Context, wait *time.Duration, beat bool) {
	err := contain.Call(func() error { n.round(ctx, wait, beat); return nil })
	if err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		_ = n.halt(err)
	}
}

// round does once what the node's role asks for. wait is how long a leader may
// be silent.
func (n *Node) round(ctx context.Context, wait *time.Duration, beat bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if beat {
		defer n.sendBeat()
	}
	if n.halted != nil {
		return
	}
	n.hearing.Lock()
	term := n.heard.term
	if stoodStill := time.Since(n.rested) > n.o.Lease/2 && !n.rested.IsZero(); stoodStill {
		n.heard.leader = time.Now() // what others said meanwhile is not heard yet
	}
	n.hearing.Unlock()
	defer func() { n.rested = time.Now() }()
	if n.leading && term > n.stored.Term {
		n.depose(fmt.Errorf("term %d was heard of", term))
	}
	if n.leading {
		n.keep(ctx)
		return
	}
	if err := n.readOn(ctx); err != nil {
		n.report(ctx, err)
		return
	}
	n.noteLevel()
	if n.stored.Seq >= n.Ahead() {
		n.silent = time.Time{}
	} else if n.silent.IsZero() || n.fold.Seq > n.silentAt {
		n.silent, n.silentAt = time.Now(), n.fold.Seq
	} else if time.Since(n.silent) > cutWait*n.o.Lease {
		n.report(ctx, n.measure(ctx)) // a leader has more than the log shows this node
		return
	}
	if n.fold.Log == 0 && !n.o.Begins {
		n.report(ctx, errNoLog)
		return
	}
	n.hearing.Lock() // behind what was read: a claim that was in the log gives its writer a lease
	silent := time.Since(n.heard.leader)
	n.hearing.Unlock()
	if n.o.Observer || n.resigned || silent < *wait && n.open == nil {
		if n.short.IsZero() { // else it is as it was when this node tried to claim
			n.report(ctx, nil)
		}
		return
	}
	err := n.claim(ctx)
	n.report(ctx, err)
	if err == nil {
		*wait = n.delay()
	} // else the next round tries again: it reads what has the place, where something has
}

// report tells of an error of the log once, and of its end. What halts the node
// is told of elsewhere, and the end of ctx is not an error. mu is held.
func (n *Node) report(ctx context.Context, err error) {
	if n.halted != nil || ctx.Err() != nil || err == nil && n.trouble == nil {
		return
	}
	switch {
	case err == nil:
		n.o.Event("this node follows the cluster's log again", nil)
	case n.trouble == nil:
		n.o.Event("this node cannot follow the cluster's log", err)
	}
	n.trouble = err
	n.publish()
}

// keep asks for the log where no write did lately: a leader that is cut off
// knows it without one. mu is held.
func (n *Node) keep(ctx context.Context) {
	if time.Since(n.reached) < n.o.Lease/2 {
		return
	}
	within, cancel := context.WithTimeout(ctx, n.o.Lease/2)
	defer cancel()
	_, end, err := n.o.End(within)
	switch {
	case err == nil && end < n.fold.Seq:
		n.depose(errBehind)
	case err == nil && end > n.fold.Seq:
		// Void, or a claim: the next write would fail for it.
		err = n.readOn(within)
	}
	switch {
	case !n.leading:
	case err == nil:
		n.reached = time.Now()
		n.noteLevel()
	case time.Since(n.reached) > n.o.Lease:
		n.depose(err)
	}
}
