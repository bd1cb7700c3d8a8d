package vector

import (
	"math"
	"math/rand/v2"
)

// A rotation turns vectors: lengths and angles stay, and what was in few numbers
// is in all of them afterwards. It is the same for all vectors of a length, on
// every host.
type rotation struct {
	block int // the largest power of two that fits
	signs [turns][]float32
}

// turns is how often numbers are mixed: after the second time what was in one is in all,
// though a block does not reach all of them.
const turns = 2

func newRotation(dims int) *rotation {
	r := &rotation{block: 1}
	for r.block*2 <= dims {
		r.block *= 2
	}
	rng := rand.New(rand.NewPCG(1, uint64(dims)))
	for i := range r.signs {
		r.signs[i] = make([]float32, dims)
		for k := range r.signs[i] {
			r.signs[i][k] = float32(1 - 2*int(rng.Uint64()&1))
		}
	}
	return r
}

// apply turns v in its place.
func (r *rotation) apply(v []float32) {
	for _, signs := range r.signs {
		for i, s := range signs {
			v[i] *= s
		}
		mix(v[:r.block])
		if rest := len(v) - r.block; rest > 0 {
			mix(v[rest:]) // overlaps with the first part
		}
	}
}

// mix is the Hadamard transform of a power of two of numbers.
func mix(v []float32) {
	for half := 1; half < len(v); half *= 2 {
		for at := 0; at < len(v); at += 2 * half {
			a, b := v[at:at+half], v[at+half:at+2*half]
			b = b[:len(a)]
			for i, x := range a {
				y := b[i]
				a[i], b[i] = x+y, x-y
			}
		}
	}
	by := float32(1 / math.Sqrt(float64(len(v))))
	for i := range v {
		v[i] *= by
	}
}
