package collector_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// TestLatency compares with sorting: exact below 1024, and at most one part in
// 64 too much above it.
func TestLatency(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 99, 100, 101, 5000} {
		for _, top := range []uint64{1, 1000, 1024, 100_000, 1 << 23} {
			var l collector.Latency
			var all []uint64
			for range size {
				n := rnd.Uint64N(top)
				l.Add(n)
				all = append(all, n)
			}
			slices.Sort(all)
			for _, p := range []uint64{1, 50, 99, 100} {
				want := all[(uint64(size)*p+99)/100-1]
				got, ok := l.Percentile(p)
				if !ok || got < want || got > want+want/64 || want < 1024 && got != want {
					t.Errorf("Percentile(%d) of %d numbers below %d = %d, %v, want %d", p, size, top, got, ok, want)
				}
			}
		}
	}
	var l collector.Latency
	if _, ok := l.Percentile(99); ok {
		t.Error("Percentile of nothing: ok, want not")
	}
	l.Add(1 << 60)
	if got, _ := l.Percentile(99); got != 1<<24-1 {
		t.Errorf("Percentile of 1<<60 = %d, want the largest there is, %d", got, 1<<24-1)
	}
}

func TestTally(t *testing.T) {
	var nav collector.Tally[event.Navigation]
	if got := nav.Most(); got != 0 {
		t.Errorf("Most of nothing = %d, want 0", got)
	}
	nav.Add(event.Estimated)
	nav.Add(event.Exhaustive)
	if got := nav.Most(); got != uint64(event.Estimated) {
		t.Errorf("Most of one each = %d, want estimated, which comes first in the alphabet", got)
	}
	nav.Add(event.Exhaustive)
	nav.Add(0)
	nav.Add(200)
	if got := nav.Most(); got != uint64(event.Exhaustive) {
		t.Errorf("Most = %d, want exhaustive", got)
	}
	if got := nav.Count(event.Exhaustive); got != 2 {
		t.Errorf("Count = %d, want 2", got)
	}
	if got := nav.Count(200) + nav.Count(0); got != 0 {
		t.Errorf("Count of what there is not = %d, want 0", got)
	}
}
