package collector

import (
	"math/bits"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// Bounds are the upper bounds of a histogram's buckets, as the manifest's buckets have
// them.
type Bounds []uint64

// A Histogram counts numbers by buckets, for a metric of that kind.
type Histogram struct {
	sum    Sum
	counts [abi.MaxBuckets + 1]uint64
}

// Add counts n into the first bucket whose bound it is not above.
func (h *Histogram) Add(of Bounds, n uint64) {
	h.sum.Add(n)
	at := 0
	for at < len(of) && at < abi.MaxBuckets && n > of[at] {
		at++
	}
	h.counts[at]++
}

// Histogram sets a histogram; nothing where nothing was added to it.
func (m *Metrics) Histogram(metric int, of Bounds, h *Histogram) {
	words, any := []uint64{uint64(h.sum)}, uint64(0)
	for _, n := range h.counts[:min(len(of), abi.MaxBuckets)+1] {
		words, any = append(words, min(n, event.MaxCount)), any|n
	}
	if any > 0 {
		m.add(metric, abi.TagHistogram, words...)
	}
}

// The buckets of a [Sketch]: one for each number below 32, then 16 for each doubling up to
// 2^22, so that what it answers is at most a sixteenth too much.
const (
	coarse        = 32
	coarseSteps   = 16
	coarseTop     = 22
	coarseBuckets = coarse + (coarseTop-5)*coarseSteps
)

// A Sketch is a [Latency] that is small enough for [By]: percentiles of whole numbers, such
// as milliseconds up to an hour, in 600 bytes. Below 32 they are exact; from there on they
// are at most a sixteenth too much.
type Sketch struct{ buckets [coarseBuckets]uint16 }

// Add counts n in.
func (s *Sketch) Add(n uint64) {
	n = min(n, 1<<coarseTop-1)
	at := int(n)
	if n >= coarse {
		octave := bits.Len64(n) - 6 // of 32 to 63: 0
		at = coarse + octave*coarseSteps + int(n>>(octave+1))&(coarseSteps-1)
	}
	if s.buckets[at]++; s.buckets[at] == 1<<16-1 {
		for i := range s.buckets { // halved, they say the same
			s.buckets[i] -= s.buckets[i] / 2
		}
	}
}

// Percentile returns the number of rank ceil(p/100 × count), counted from the smallest: the
// nearest rank. ok is false where there are none.
func (s *Sketch) Percentile(p uint64) (n uint64, ok bool) {
	count := uint64(0)
	for _, c := range s.buckets {
		count += uint64(c)
	}
	if count == 0 {
		return 0, false
	}
	rank := (count*p + 99) / 100
	for at, c := range s.buckets {
		if uint64(c) < rank {
			rank -= uint64(c)
			continue
		}
		if at < coarse {
			return uint64(at), true
		}
		octave, step := (at-coarse)/coarseSteps, (at-coarse)%coarseSteps
		return (uint64(coarseSteps+step)+1)<<(octave+1) - 1, true
	}
	return 1<<coarseTop - 1, true
}
