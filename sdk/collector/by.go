package collector

import (
	"iter"

	"github.com/parley-search/parley/abi"
)

// A By keeps a T for each value of a metric's label: for each source of a window,
// say. [Metrics.For] writes them. It has room for all the values that a label may
// have; with a T of more than some 900 bytes, such as [Latency], it is too large to
// be saved.
type By[T any] struct {
	n     uint64
	words [abi.MaxByValues + 1]uint64 // "other" among them
	of    [abi.MaxByValues + 1]T
	none  T
}

// At returns what is kept for a value: a handle, or an ordinal by way of [Known].
// What is kept for 0, which is no value, or where there is no room, is not written.
func (b *By[T]) At(value uint64) *T {
	if value == 0 {
		return &b.none
	}
	n := min(b.n, uint64(len(b.words))) // a state that was loaded may say more
	for i, w := range b.words[:n] {
		if w == value {
			return &b.of[i]
		}
	}
	if n == uint64(len(b.words)) {
		return &b.none
	}
	b.words[n] = value
	b.n = n + 1
	return &b.of[n]
}

// All returns the values in the order in which they first came.
func (b *By[T]) All() iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		for i, w := range b.words[:min(b.n, uint64(len(b.words)))] {
			if !yield(w, &b.of[i]) {
				return
			}
		}
	}
}
