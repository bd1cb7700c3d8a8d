package vector

import (
	"math/bits"
	"slices"
	"sync"
)

// blockRows is how many vectors one piece of a [Space]'s memory holds: it grows
// by pieces, so that no copy of the whole is ever made.
const blockRows = 1024

// docBytes is about what a document takes beside its vectors and its id: its
// places in two tables and a map.
const docBytes = 120

// A Space holds the vectors of documents in memory. Safe for concurrent use.
type Space struct {
	dims   int
	binary bool
	stride int // of one vector, in the numbers that it is kept in

	mu     sync.RWMutex
	floats [][]float32 // blocks of vectors at length 1, side by side
	signs  [][]uint64  // blocks of vectors at one bit a number
	owners []int32     // of each row: its document
	docs   []doc
	byID   map[string]int32
	bytes  int64
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
	s := &Space{dims: dims, binary: binary, stride: dims, byID: map[string]int32{}}
	if binary {
		s.stride = (dims + 63) / 64
	}
	return s
}

// Bytes is about how much memory s takes.
func (s *Space) Bytes() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bytes
}

// Docs is how many documents have vectors in s.
func (s *Space) Docs() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.docs)
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
		d.rows = append(d.rows, s.add(v, n))
	}
	s.docs = append(s.docs, d)
	s.byID[id] = n
	s.bytes += docBytes + int64(len(id))
}

// add appends a row and returns its number.
func (s *Space) add(v []float32, owner int32) int32 {
	row := len(s.owners)
	s.owners = append(s.owners, owner)
	if s.binary {
		if row/blockRows == len(s.signs) {
			s.signs = append(s.signs, make([]uint64, blockRows*s.stride))
			s.bytes += int64(blockRows * s.stride * 8)
		}
		pack(s.rowSigns(row), v)
		return int32(row)
	}
	if row/blockRows == len(s.floats) {
		s.floats = append(s.floats, make([]float32, blockRows*s.stride))
		s.bytes += int64(blockRows * s.stride * 4)
	}
	copy(s.rowFloats(row), Unit(v))
	return int32(row)
}

func (s *Space) rowFloats(row int) []float32 {
	at := row % blockRows * s.stride
	return s.floats[row/blockRows][at : at+s.stride]
}

func (s *Space) rowSigns(row int) []uint64 {
	at := row % blockRows * s.stride
	return s.signs[row/blockRows][at : at+s.stride]
}

// pack writes the signs of v as bits.
func pack(dst []uint64, v []float32) {
	clear(dst)
	for i, x := range v {
		if x >= 0 {
			dst[i/64] |= 1 << (i % 64)
		}
	}
}

// remove takes a document out, if it is there. The last ones fill the gaps.
func (s *Space) remove(id string) {
	n, ok := s.byID[id]
	if !ok {
		return
	}
	rows := slices.Clone(s.docs[n].rows)
	slices.Sort(rows)
	for _, row := range slices.Backward(rows) {
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
		if s.binary {
			copy(s.rowSigns(row), s.rowSigns(last))
		} else {
			copy(s.rowFloats(row), s.rowFloats(last))
		}
		owner := s.owners[last]
		s.owners[row] = owner
		rows := s.docs[owner].rows
		rows[slices.Index(rows, int32(last))] = int32(row)
	}
	s.owners = s.owners[:last]
	if last%blockRows != 0 {
		return
	}
	if s.binary {
		s.signs = s.signs[:last/blockRows]
		s.bytes -= int64(blockRows * s.stride * 8)
		return
	}
	s.floats = s.floats[:last/blockRows]
	s.bytes -= int64(blockRows * s.stride * 4)
}

// Delete takes a document out, if it is there.
func (s *Space) Delete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(id)
}

// Nearest returns the k documents whose vectors are most like query, best
// first, of those whose numbers are in allowed (nil: all). A document with
// several vectors counts by its best. stop is asked now and then; with its
// error nothing is returned.
func (s *Space) Nearest(query []float32, k int, allowed *Set, stop func() error) ([]Neighbour, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	top := NewTop(k)
	look := s.looker(query)
	if len(s.owners) == len(s.docs) {
		for row, owner := range s.owners {
			if row%blockRows == 0 {
				if err := stop(); err != nil {
					return nil, err
				}
			}
			if d := &s.docs[owner]; allowed.Has(d.seq) {
				top.Add(d.id, d.seq, look(row))
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
	if s.binary {
		q := make([]uint64, s.stride)
		pack(q, query)
		return func(row int) float32 {
			differ := 0
			for i, w := range s.rowSigns(row) {
				differ += bits.OnesCount64(w ^ q[i])
			}
			return 1 - float32(differ)/float32(s.dims)
		}
	}
	q := Unit(query)
	return func(row int) float32 { return likeness(Dot(q, s.rowFloats(row))) }
}

// Likeness says how like two vectors of the same length are: 1 for the same
// direction, 0 for the opposite one.
func Likeness(a, b []float32) float32 { return likeness(Dot(Unit(a), Unit(b))) }

// likeness brings a cosine to the range from 0 to 1, beyond which rounding may
// have taken it.
func likeness(cosine float32) float32 { return min(max((1+cosine)/2, 0), 1) }
