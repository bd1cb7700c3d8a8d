package wasm

import (
	"math"
	"testing"
)

// TestSpread holds the buckets to their promise: each amount lies in the bucket
// that ends at or after it, and less than an eighth after it.
func TestSpread(t *testing.T) {
	for v := int64(0); v >= 0 && v < math.MaxInt64/3; v = v*17/16 + 1 {
		top := topOf(bucketOf(v))
		if top < v || float64(top) > float64(v)*1.125+1 {
			t.Fatalf("%d falls into a bucket that ends at %d", v, top)
		}
		if bucketOf(top) != bucketOf(v) || bucketOf(top+1) != bucketOf(v)+1 {
			t.Fatalf("the bucket of %d ends at %d: that falls into %d, and the next amount into %d", v, top, bucketOf(top), bucketOf(top+1))
		}
	}
	if n := bucketOf(math.MaxInt64); n != spreadSize-1 || topOf(n) != math.MaxInt64 {
		t.Errorf("the largest amount falls into bucket %d, which ends at %d; want %d, %d", n, topOf(n), spreadSize-1, int64(math.MaxInt64))
	}

	var s spread
	if got := s.quantiles(0.5); got[0] != 0 {
		t.Errorf("quantile of nothing = %d, want 0", got[0])
	}
	for v := range int64(1000) {
		s.add(v)
	}
	for i, got := range s.quantiles(0.5, 0.99, 1) {
		want := []float64{500, 990, 999}[i]
		if float64(got) < want-1 || float64(got) > want*1.125 {
			t.Errorf("quantile %d = %d, want about %g", i, got, want)
		}
	}
}

func BenchmarkSpread(b *testing.B) {
	var s spread
	b.ReportAllocs()
	for v := int64(0); b.Loop(); v += 1000 {
		s.add(v)
	}
}
