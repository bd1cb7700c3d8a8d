package telemetry

import (
	"hash/maphash"
	"sync"
)

// maxSeen bounds a set, which has 8 bytes an entry. What comes past it counts
// as seen.
const maxSeen = 1 << 16

// seen is a set of pairs of texts of which it keeps hashes alone, with a seed
// that no other process has. Safe for concurrent use.
type seen struct {
	mu   sync.Mutex
	seed maphash.Seed
	set  map[uint64]struct{}
}

func newSeen() *seen { return &seen{seed: maphash.MakeSeed(), set: map[uint64]struct{}{}} }

// first puts a pair into the set and reports whether it was not there.
func (s *seen) first(a, b string) bool {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(a) // it never fails
	_ = h.WriteByte(0)
	_, _ = h.WriteString(b)
	sum := h.Sum64()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.set[sum]; ok || len(s.set) >= maxSeen {
		return false
	}
	s.set[sum] = struct{}{}
	return true
}

func (s *seen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.set)
	s.seed = maphash.MakeSeed()
}
