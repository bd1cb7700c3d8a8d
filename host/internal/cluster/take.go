package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// readOn takes what the log has behind the fold, as far as the replica that is
// asked knows. mu is held.
func (n *Node) readOn(ctx context.Context) error {
	if !n.verified { // by what the database has, and not by what somebody else may have put behind it
		n.fold.rewind(&n.stored)
	}
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
					s := step{next: n.fold.Position, unverified: true}
					s.next.Seq, s.next.Last = m.Seq, checksum(m.Record)
					n.passOver(&s)
					continue
				}
			}
			if err != nil {
				return err
			}
		}
	}
}

// checkStored tells a stream that was made again, as another log, from one into which a record
// of an earlier log of this cluster was put: that one still has the message that this node
// stored last. Where it has another one there, the node halts by why. mu is held.
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

// passOver takes a void message. The stored position stays before it, so that the log is always
// compared by a message of its own: a void one may be in a stream that was made again, too. mu is
// held.
func (n *Node) passOver(s *step) {
	n.fold.advance(s)
	if s.next.Seq <= n.passed {
		return
	}
	n.passed = s.next.Seq
	n.counts.Void++
	if s.unverified {
		n.counts.Unverified++
		n.tellUnverified(n.passed)
	} else {
		n.o.Event(fmt.Sprintf("message %d of the cluster's log is void: it was written for place %d in term %d", n.passed, s.record.Prev+1, s.record.Term), nil)
	}
	n.publish()
}

// take makes one step of the fold. After an error the node is halted, but where its disk is
// full, and for a record of another log behind one of its own: see readOn. mu is held.
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
	switch s.meaning {
	case meansNothing:
		n.passOver(&s)
		return nil
	case meansPart: // its position stays in memory: after a crash all parts are read again
		n.fold.advance(&s)
		return nil
	}
	if err := n.o.Database.Apply(s.next, s.ops); err != nil {
		err = fmt.Errorf("apply message %d: %w", m.Seq, err)
		if errors.Is(err, ErrNoRoom) {
			n.depose(err)
			return err
		}
		return n.halt(err)
	}
	begins := n.fold.Log == 0
	n.fold.advance(&s)
	n.stored = s.next
	switch s.meaning {
	case meansClaim:
		if begins {
			n.forgetBeats()
		}
		n.depose(fmt.Errorf("%s claimed term %d", cmp.Or(s.next.Leader.ID, "nobody"), s.next.Term))
		n.hearClaim(s.next.Leader)
		if n.open != nil { // of a term before
			n.open.end(ErrLost)
			n.open = nil
		}
	case meansTxn:
		n.o.Applied(s.next, s.ops) // before its writer goes on, which may wait for what is told
		if n.open != nil && n.open.term == s.record.Term && n.open.n == s.record.N {
			n.open.end(nil)
			n.open = nil
		}
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
