package vector

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/base/contain"
)

// blockRows is how many vectors one piece of a [Space]'s memory holds.
const blockRows = 1024

// docBytes is about what a document takes beside its vectors and its id: its
// places in the tables and a map.
const docBytes = 128

// exactRows is how many vectors are kept as they are, and all looked at. Beyond
// these they are kept as codes.
const exactRows = 16 * blockRows

// A Space holds the vectors of documents in memory. Safe for concurrent use.
type Space struct {
	dims int

	mu     sync.RWMutex
	rows   rows
	blocks int
	owners []int32  // of each row: its document
	seqs   []uint64 // of each row: its document's number
	docs   []doc
	byID   map[string]int32
	bytes  int64
	// version is another one after each change, and in each space.
	version uint64
}

// A doc is a document in a Space.
type doc struct {
	id   string
	seq  uint64
	rows []int32
}

// New returns an empty space for vectors of dims numbers; binary keeps only the
// sign of each.
func New(dims int, binary bool) *Space {
	s := &Space{dims: dims, byID: map[string]int32{}, rows: &floats{dims: dims}, version: rand.Uint64()}
	if binary {
		s.rows = &signs{dims: dims, words: (dims + 63) / 64}
	}
	return s
}

// Bytes is about how much memory s takes.
func (s *Space) Bytes() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bytes
}

// Docs is how many documents have vectors in s, and which version of s that is: it
// is another one whenever a document has come or gone.
func (s *Space) Docs() (n int, version uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.docs), s.version
}

// Seqs returns the numbers of all documents that have vectors in s.
func (s *Space) Seqs() *Set {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := new(Set)
	for i := range s.docs {
		out.Add(s.docs[i].seq)
	}
	return out
}

// Put gives a document its vectors, each of the space's dimensions, in place of
// those that it had; none takes it out. seq is the number that [Space.Nearest]
// asks a set for.
func (s *Space) Put(id string, seq uint64, vectors [][]float32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(id)
	if len(vectors) == 0 {
		return
	}
	n := int32(len(s.docs))
	d := doc{id: id, seq: seq}
	for _, v := range vectors {
		row := len(s.owners)
		s.rows.set(row, v)
		s.owners, s.seqs = append(s.owners, n), append(s.seqs, seq)
		d.rows = append(d.rows, int32(row))
	}
	s.docs = append(s.docs, d)
	s.byID[id] = n
	s.bytes += docBytes + int64(len(id))
	if f, ok := s.rows.(*floats); ok && len(s.owners) > exactRows {
		s.encode(f)
	}
	s.account()
}

// encode has s keep codes from now on.
func (s *Space) encode(f *floats) {
	c := newCodes(s.dims, len(s.owners), f.row)
	for row := range s.owners {
		c.set(row, f.row(row))
	}
	s.bytes -= int64(s.blocks) * f.blockBytes()
	s.rows, s.blocks = c, 0
}

// account brings the count of bytes up to the rows.
func (s *Space) account() {
	blocks := blocksOf(len(s.owners))
	s.bytes += int64(blocks-s.blocks) * s.rows.blockBytes()
	s.blocks = blocks
}

// remove takes a document out, if it is there. The last ones fill the gaps.
func (s *Space) remove(id string) {
	s.version++
	n, ok := s.byID[id]
	if !ok {
		return
	}
	gone := slices.Clone(s.docs[n].rows)
	slices.Sort(gone)
	for _, row := range slices.Backward(gone) {
		s.removeRow(int(row))
	}
	last := int32(len(s.docs) - 1)
	if n != last {
		s.docs[n] = s.docs[last]
		s.byID[s.docs[n].id] = n
		for _, row := range s.docs[n].rows {
			s.owners[row] = n
		}
	}
	s.docs[last] = doc{}
	s.docs = s.docs[:last]
	delete(s.byID, id)
	s.bytes -= docBytes + int64(len(id))
}

// removeRow fills row with the last one.
func (s *Space) removeRow(row int) {
	last := len(s.owners) - 1
	if row != last {
		s.rows.move(row, last)
		owner := s.owners[last]
		s.owners[row], s.seqs[row] = owner, s.seqs[last]
		of := s.docs[owner].rows
		of[slices.Index(of, int32(last))] = int32(row)
	}
	s.owners, s.seqs = s.owners[:last], s.seqs[:last]
	s.rows.cut(last)
}

// Delete takes a document out, if it is there.
func (s *Space) Delete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(id)
	s.account()
}

// Nearest returns the k documents whose vectors are most like query, best
// first, of those whose numbers are in allowed (nil: all). A document with
// several vectors counts by its best. exact is false where these are the nearest
// by codes: some may be others, and scores are a little off; so there may be up to
// more of them to choose from. stop is asked now and then; with its error nothing
// is returned.
func (s *Space) Nearest(query []float32, k, more int, allowed *Set, stop func() error) (list []Neighbour, exact bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c, ok := s.rows.(*codes); ok {
		list, err = s.byCodes(c, c.query(query), k, max(k, more), allowed, stop)
		return list, false, err
	}
	list, err = s.all(s.looker(query), k, allowed, stop)
	return list, true, err
}

// all is Nearest where each row is looked at.
func (s *Space) all(look func(row int) float32, k int, allowed *Set, stop func() error) ([]Neighbour, error) {
	top := NewTop(k)
	if len(s.owners) == len(s.docs) {
		for row, seq := range s.seqs {
			if row%blockRows == 0 {
				if err := stop(); err != nil {
					return nil, err
				}
			}
			if allowed.Has(seq) {
				top.Add(s.docs[s.owners[row]].id, seq, look(row))
			}
		}
		return top.List(), nil
	}
	for i := range s.docs {
		if i%blockRows == 0 {
			if err := stop(); err != nil {
				return nil, err
			}
		}
		d := &s.docs[i]
		if !allowed.Has(d.seq) {
			continue
		}
		best := float32(0)
		for _, row := range d.rows {
			best = max(best, look(int(row)))
		}
		top.Add(d.id, d.seq, best)
	}
	return top.List(), nil
}

// looker returns what says how like query a row is, from 0 to 1.
func (s *Space) looker(query []float32) func(row int) float32 {
	switch r := s.rows.(type) {
	case *signs:
		q := make([]uint64, r.words)
		pack(q, query)
		return func(row int) float32 { return 1 - float32(r.differ(row, q))/float32(s.dims) }
	case *floats:
		q := Unit(query)
		return func(row int) float32 { return likeness(Dot(q, r.row(row))) }
	}
	panic("vector: rows of a form without an order")
}

// By codes, so many rows are looked at closer than documents are asked for, as far as they may be
// among the nearest: the bits leave it open which of them are. Where nothing is
// much nearer than the rest, fewer would lose some.
const (
	rowsForOne  = 60
	leastCloser = 2000
)

// byCodes is Nearest by codes.
func (s *Space) byCodes(c *codes, q *codedQuery, k, more int, allowed *Set, stop func() error) ([]Neighbour, error) {
	if len(s.docs) == 0 {
		return nil, nil
	}
	each := (len(s.owners) + len(s.docs) - 1) / len(s.docs) // rows of a document
	for near := max(k, 1) * each; ; near *= 4 {
		found, err := s.candidates(c, q, max(rowsForOne*near, leastCloser), near, allowed, stop)
		if err != nil {
			return nil, err
		}
		top := NewTop(more)
		if len(s.owners) == len(s.docs) {
			for _, x := range found {
				top.Add(s.docs[s.owners[x.row]].id, s.seqs[x.row], likeness(x.like))
			}
			return top.List(), nil
		}
		seen := map[int32]bool{}
		for _, x := range found {
			n := s.owners[x.row]
			if seen[n] {
				continue
			}
			seen[n] = true
			d, like := &s.docs[n], float32(-1)
			for _, row := range d.rows {
				like = max(like, c.like(q, int(row)))
			}
			top.Add(d.id, d.seq, likeness(like))
		}
		if len(seen) >= k || len(found) < near {
			return top.List(), nil
		}
	}
}

// shareBlocks is how many blocks are worth a goroutine of their own.
const shareBlocks = 32

// candidates returns the most likely rows by their bits, and how like they are by
// their bytes. Many rows are looked at by as many goroutines as there are
// processors, a share each.
func (s *Space) candidates(c *codes, q *codedQuery, want, near int, allowed *Set, stop func() error) ([]candidate, error) {
	blocks := blocksOf(len(s.owners))
	shares := max(min(runtime.GOMAXPROCS(0), blocks/shareBlocks), 1)
	each := func(f func(i int)) {
		var others contain.Group
		for i := 1; i < shares; i++ {
			others.Go(func() { f(i) })
		}
		f(0)
		others.Wait()
	}
	// Blocks take turns, so that each share has its part of what was added at one
	// time and is alike; by itself it has as many as are asked for.
	found := make([]*candidates, shares)
	var failed error // of the first share, which asks stop
	var stopped atomic.Bool
	each(func(i int) {
		best := newCandidates(max(want/shares, near), near, q.doubt)
		found[i] = best
		for from := i * blockRows; from < len(s.owners) && !stopped.Load(); from += shares * blockRows {
			if i == 0 {
				if failed = stop(); failed != nil {
					stopped.Store(true)
					return
				}
			}
			c.scan(q, from, min(from+blockRows, len(s.owners)), s.seqs, allowed, best)
		}
	})
	if failed != nil {
		return nil, failed
	}
	var out []candidate
	for _, f := range found {
		out = append(out, f.most.heap...)
	}
	nearest := likeliest{want: near}
	for _, x := range out {
		nearest.add(x)
	}
	least := nearest.least() - q.sidesDoubt
	out = slices.DeleteFunc(out, func(x candidate) bool { return x.like < least })
	each(func(i int) {
		for n := len(out) * i / shares; n < len(out)*(i+1)/shares; n++ {
			out[n].like = c.like(q, int(out[n].row))
		}
	})
	return out, nil
}

// Likeness says how like two vectors of the same length are: 1 for the same
// direction, 0 for the opposite one.
func Likeness(a, b []float32) float32 { return likeness(Dot(Unit(a), Unit(b))) }

// likeness brings a cosine to the range from 0 to 1, beyond which rounding may
// have taken it.
func likeness(cosine float32) float32 { return min(max((1+cosine)/2, 0), 1) }
