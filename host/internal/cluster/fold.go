package cluster

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// A Position is how far into the log a database is. The database is the fold of
// the log up to Seq; both are stored in one transaction.
type Position struct {
	Log    uint64 // which log; 0: none yet
	Seq    uint64 // of the last message taken, void or not
	Term   uint64
	N      uint64 // transactions of the term so far
	Chain  uint64 // sum over all records that are not void
	Last   uint32 // checksum of the message at Seq; where no node wrote it, one of all its bytes
	Leader Claim  // who claimed Term
}

// Format is what the records behind the position are written in.
func (p *Position) Format() int { return max(1, p.Leader.Format) }

// Signed reports whether the records behind the position have codes.
func (p *Position) Signed() bool { return p.Format() >= formatSigned }

const positionLen = 5*8 + 4

// AppendBinary implements [encoding.BinaryAppender].
func (p *Position) AppendBinary(b []byte) ([]byte, error) {
	for _, v := range [...]uint64{p.Log, p.Seq, p.Term, p.N, p.Chain} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	b = binary.BigEndian.AppendUint32(b, p.Last)
	leader, err := json.Marshal(p.Leader)
	return append(b, leader...), err
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (p *Position) UnmarshalBinary(b []byte) error {
	if len(b) < positionLen {
		return fmt.Errorf("a position of %d bytes, not %d or more", len(b), positionLen)
	}
	for i, v := range [...]*uint64{&p.Log, &p.Seq, &p.Term, &p.N, &p.Chain} {
		*v = binary.BigEndian.Uint64(b[8*i:])
	}
	p.Last = binary.BigEndian.Uint32(b[40:])
	p.Leader = Claim{}
	return json.Unmarshal(b[positionLen:], &p.Leader)
}

// Errors that halt a node: the log and its database do not belong together, and
// nothing that the node could do by itself is safe.
var (
	// ErrOtherLog: the stream was made again and is another log.
	ErrOtherLog = errors.New("the stream holds another log than the one that this database was made of (`parley cluster join --replace` gives the node what the cluster has)")
	// ErrDiverged: the log lost or changed records that this database has, or
	// the replicas of the log disagree.
	ErrDiverged = errors.New("the log is not the one that this database was made of")
	// ErrPurged: records that this database lacks are not in the log any more.
	ErrPurged = errors.New("the log does not reach back to this database (start the node again: it begins with a snapshot of the cluster)")
	// ErrFormat: a record that counts was written by a newer build.
	ErrFormat = errors.New("the record needs a newer version of Parley")
)

// MayHeal reports whether a new start may heal what halted a node: one that lacks
// records begins with a snapshot, and a fault of the program may not come again. Where log
// and database do not belong together, or the build is too old, it halts again.
func MayHeal(halted error) bool {
	for _, lasting := range []error{ErrOtherLog, ErrDiverged, ErrFormat} {
		if errors.Is(halted, lasting) {
			return false
		}
	}
	return halted != nil
}

// A meaning is what a message of the log means at its place.
type meaning byte

const (
	meansNothing meaning = iota // the message is void
	meansPart                   // one more part of a transaction
	meansTxn                    // a transaction
	meansClaim                  // a new term
)

// A step is what taking one message does to a database.
type step struct {
	meaning meaning
	next    Position
	record  Record
	ops     []Op // of a transaction

	unverified bool // a void message that no node of this cluster wrote
}

// A fold is the state that decides what the next message means. It is the same
// on every node that took the same messages.
type fold struct {
	Position // with the parts that are not applied yet

	parts []byte // of the transaction that is not complete
	held  uint64 // how many parts that is

	// partLen is [partBytes], or less in a test.
	partLen int
	reads   int // not 0: the highest format, in a test
	key     Key // of the cluster

	// Without parts of the fence, for the test that shows what they are for.
	unplaced bool // prev is not looked at
	unfenced bool // whatever the log took counts, as if it checked what writers expect
}

// highest is the highest format that this build reads.
func (f *fold) highest() int { return cmp.Or(f.reads, Format) }

// lowest is the lowest format that counts. A node without data takes only what is signed: it
// knows nothing yet by which it could doubt the rest.
func (f *fold) lowest() int {
	if f.Log == 0 {
		return formatSigned
	}
	return f.Format()
}

// judge says what the message b at seq means. It changes nothing: see advance.
//
// Who writes the log is decided here and nowhere else. A record counts where
// it is right behind the message that its writer had seen last. Such a writer
// had the same fold as this node, and so the same log, chain and term; where
// those differ, log and database do not belong together. Only a part after the
// first is sent before its writer knows what is in front of it.
//
// The order of the checks matters; TestSim finds most other orders wrong.
func (f *fold) judge(seq uint64, b []byte) (s step, err error) {
	r, err := DecodeRecord(b, f.key)
	s = step{next: f.Position, record: r}
	s.next.Seq, s.next.Last = seq, checksum(b)
	if err != nil || int(r.Format) < f.lowest() {
		// Anyone who can write to the stream can put this here, so it must not halt a node. Where
		// it is a record that one replica has damaged, void on the nodes that read that one
		// and valid on all others, the chain of the next record halts the former.
		s.unverified, s.next.Last = true, crc32.Checksum(b, castagnoli)
		return s, nil
	}
	if !f.unfenced {
		if void, err := f.check(seq, &r); void || err != nil {
			return s, err
		}
	}
	s.next.Chain = sum(f.Chain, b)
	switch r.Kind {
	case KindClaim:
		s.meaning = meansClaim
		s.next.Log, s.next.Term, s.next.N = r.Log, r.Term, 0
		s.next.Leader, err = decodeClaim(r.Data)
	case KindMore:
		if r.Part > 0 && len(f.parts)+len(r.Data) > MaxData {
			return s, fmt.Errorf("%w: %w", ErrDamaged, ErrTooLarge)
		}
		s.meaning = meansPart
	case KindTxn:
		s.meaning = meansTxn
		s.next.N = r.N
		data := r.Data
		if r.Part > 0 {
			data = slices.Concat(f.parts, r.Data)
		}
		s.ops, err = decodeOps(data)
	default:
		err = fmt.Errorf("%w: kind %d", ErrDamaged, r.Kind)
	}
	return s, err
}

// check says whether the record r at seq is void, or why it can be neither void
// nor valid.
func (f *fold) check(seq uint64, r *Record) (void bool, err error) {
	switch {
	case r.Prev != seq-1 && !f.unplaced:
		return true, nil
	case r.Part > 0 && (r.Kind == KindClaim || r.Term != f.Term || r.N != f.N+1 || r.Part != f.held):
		return true, nil // a part before it was lost, or a claim came in between
	case f.Log != 0 && r.Log != f.Log:
		return false, fmt.Errorf("%w: it is %016x, here is %016x", ErrOtherLog, r.Log, f.Log)
	case f.Log == 0 && r.Chain != 0:
		// It was begun from what a node had, see `parley cluster reset`.
		return false, fmt.Errorf("%w: its first message has others before it", ErrPurged)
	case r.Chain != f.Chain:
		return false, fmt.Errorf("%w: the sum of the records before is %016x, here %016x", ErrDiverged, r.Chain, f.Chain)
	case int(r.Format) > f.highest():
		return false, fmt.Errorf("%w: it has format %d, this build reads %d", ErrFormat, r.Format, f.highest())
	case r.Kind == KindClaim && r.Term == f.Term+1, r.Kind != KindClaim && r.Term == f.Term && r.N == f.N+1 && f.Log != 0:
		return false, nil
	}
	return false, fmt.Errorf("%w: it has term %d, transaction %d; here are %d and %d", ErrDiverged, r.Term, r.N, f.Term, f.N)
}

// isLast reports whether the message b is the one at p's Seq.
func (f *fold) isLast(p *Position, b []byte) bool {
	_, err := DecodeRecord(b, f.key)
	return err == nil && checksum(b) == p.Last || crc32.Checksum(b, castagnoli) == p.Last
}

// rewind moves the fold back to a position that a database has.
func (f *fold) rewind(p *Position) { f.Position, f.parts, f.held = *p, nil, 0 }

// advance moves the fold behind a step, once the database has it.
func (f *fold) advance(s *step) {
	f.Position = s.next
	if s.meaning != meansPart {
		f.parts, f.held = nil, 0
		return
	}
	if s.record.Part == 0 {
		f.parts = nil
	}
	f.parts, f.held = append(f.parts, s.record.Data...), s.record.Part+1
}

// encode returns the records of a transaction that is the next of this node's
// term. Each expects the one before it.
func (f *fold) encode(ops []Op) (records [][]byte, err error) {
	data, err := encodeOps(ops)
	if err != nil {
		return nil, err
	}
	r := Record{Format: byte(f.Format()), Log: f.Log, Term: f.Term, N: f.N + 1, Prev: f.Seq, Chain: f.Chain}
	for more := true; more; {
		n := min(len(data), f.partLen)
		r.Data, data = data[:n], data[n:]
		r.Kind, more = KindTxn, len(data) > 0
		if more {
			r.Kind = KindMore
		}
		b := r.Encode(f.key)
		records = append(records, b)
		r.Part, r.Prev, r.Chain = r.Part+1, r.Prev+1, sum(r.Chain, b)
	}
	return records, nil
}
