package wasm

import (
	"math/bits"
	"sync/atomic"
)

// The buckets of a [spread]: 16 of width one, then 8 for each doubling.
const (
	spreadFine = 16
	spreadStep = 8
	spreadSize = spreadFine + (63-4)*spreadStep
)

// A spread counts amounts by size, closely enough for quantiles: a bucket is at
// most an eighth wider than where it begins. Counting takes one atomic addition
// and no memory. Safe for concurrent use.
type spread struct{ counts [spreadSize]atomic.Int64 }

func (s *spread) add(v int64) { s.counts[bucketOf(v)].Add(1) }

// bucketOf returns the number of the bucket that v, from 0 on, falls into.
func bucketOf(v int64) int {
	if v < spreadFine {
		return int(max(v, 0))
	}
	e := bits.Len64(uint64(v)) - 1 // 4 or more
	return spreadFine + (e-4)*spreadStep + int(v>>(e-3))&(spreadStep-1)
}

// topOf returns the largest amount that falls into bucket n.
func topOf(n int) int64 {
	if n < spreadFine {
		return int64(n)
	}
	e, step := (n-spreadFine)/spreadStep+4, int64((n-spreadFine)%spreadStep)
	return (spreadStep+step+1)<<(e-3) - 1
}

// quantiles returns for each of q, which rises, an amount that so large a part
// of all amounts does not go over; 0 where nothing was counted.
func (s *spread) quantiles(q ...float64) []int64 {
	var counts [spreadSize]int64
	var total int64
	for n := range s.counts {
		counts[n] = s.counts[n].Load()
		total += counts[n]
	}
	out := make([]int64, len(q))
	if total == 0 {
		return out
	}
	n, seen := 0, counts[0]
	for i, part := range q {
		for float64(seen) < part*float64(total) && n < spreadSize-1 {
			n++
			seen += counts[n]
		}
		out[i] = topOf(n)
	}
	return out
}
