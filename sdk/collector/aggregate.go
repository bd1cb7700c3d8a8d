package collector

import (
	"math"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// Aggregates without pointers, for the fields of a collector. Their zero value
// is empty.

// A Mean is an average of whole numbers.
type Mean struct{ Sum, Count uint64 }

// Add counts n in, unless the sum would leave what a metric's numerator can
// hold.
func (m *Mean) Add(n uint64) {
	one := uint64(1)
	if n > math.MaxInt64-m.Sum {
		n, one = 0, 0
	}
	m.Sum += n
	m.Count += one
}

// A Sum is a sum that stops at [event.MaxCount].
type Sum uint64

// Add adds n.
func (s *Sum) Add(n uint64) { *s = Sum(min(uint64(*s)+min(n, event.MaxCount), event.MaxCount)) }

// Keep puts a value of an event in place of the one before it, where the event
// has one. It is how the last of a window is found: every kind of field has 0
// for "nothing said".
func Keep[T ~uint64](last *T, v T) {
	kept := *last
	if v != 0 {
		kept = v
	}
	*last = kept // always, which is faster in Wasm than a jump around it
}

// Handles is a set of handles: the first [abi.DefaultItems] different ones.
type Handles struct {
	n    uint64
	list [abi.DefaultItems]event.Handle
}

// Add puts h into the set, where it is one and there is room.
func (s *Handles) Add(h event.Handle) {
	if h == 0 || s.n >= uint64(len(s.list)) {
		return
	}
	for _, other := range s.all() {
		if other == h {
			return
		}
	}
	s.list[s.n] = h
	s.n++
}

// all is what is in the set. A state that was loaded may say that there is more
// than the list has.
func (s *Handles) all() []event.Handle { return s.list[:min(s.n, uint64(len(s.list)))] }

// A Tally counts the values of an enumeration, up to the ordinal 32.
type Tally[E event.Enum] struct{ counts [32]uint64 }

// Add counts e, where it is one.
func (t *Tally[E]) Add(e E) {
	// One comparison, which sends 0 to the far end: jumps are dear in Wasm.
	if i := uint64(e) - 1; i < uint64(len(t.counts)) {
		t.counts[i]++
	}
}

// Count is how often e came.
func (t *Tally[E]) Count(e E) uint64 {
	if e < 1 || e > E(len(t.counts)) {
		return 0
	}
	return t.counts[e-1]
}

// Most is the ordinal that came most often, of equal ones that whose label is
// first in the alphabet; 0 where none came. Ordinals of a newer host, for which
// there is no label here, are left out.
func (t *Tally[E]) Most() uint64 {
	labels, best := E(0).Labels(), 0
	for i, n := range t.counts[:min(len(labels), len(t.counts))] {
		if n == 0 {
			continue
		}
		if best == 0 || n > t.counts[best-1] || n == t.counts[best-1] && labels[i] < labels[best-1] {
			best = i + 1
		}
	}
	return uint64(best)
}
