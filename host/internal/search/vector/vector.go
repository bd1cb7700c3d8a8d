// Package vector finds the nearest of many vectors by looking at each of them: at the
// vectors, or, where they are many, at codes of nine bits a number, of which
// the best are looked at closer (codes.go).
//
// No graph must be built and kept, deletions and filters cost nothing; why it is no
// library: "Why codes of our own for vectors?" in RATIONALE.
//
// A [Space] has the vectors of one embedder. [Memory] keeps the spaces that were
// searched last, within a bound, and reads the others from the database at each
// search. A [Document] is what is kept there of the vectors of one document.
package vector

import "math"

// Dot returns the product of two vectors of the same length: the cosine of the
// angle between them where both have the length 1.
func Dot(a, b []float32) float32 {
	// Eight sums, so that an addition need not wait for the one before it; and
	// slices of a length that the compiler knows, so that it checks no bounds.
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := a[:8:8], b[:8:8]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3) + ((s4 + s5) + (s6 + s7))
}

// Unit returns v at length 1. A vector without a direction stays as it is, at
// a right angle to all others.
func Unit(v []float32) []float32 {
	// In 64 bits, where no square of a 32-bit number is infinite or zero.
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	if sum == 0 {
		return out
	}
	length := math.Sqrt(sum)
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out
}

// Signs returns v with each number replaced by 1, or -1 where it is below
// zero: what is left of a vector that is kept at one bit a number.
func Signs(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = 1
		if x < 0 {
			out[i] = -1
		}
	}
	return out
}

// A Set is a set of small numbers. The zero value is empty; a nil *Set holds
// all numbers. Not safe for concurrent use while it is added to.
type Set struct{ bits []uint64 }

// Add adds n.
func (s *Set) Add(n uint64) {
	if need := int(n/64) + 1; need > len(s.bits) {
		s.bits = append(s.bits, make([]uint64, need-len(s.bits))...)
	}
	s.bits[n/64] |= 1 << (n % 64)
}

// Has reports whether n is in s.
func (s *Set) Has(n uint64) bool {
	return s == nil || n/64 < uint64(len(s.bits)) && s.bits[n/64]&(1<<(n%64)) != 0
}
