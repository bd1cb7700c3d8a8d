package cli

import (
	"runtime/debug"
	"testing"
)

func TestCollectEarly(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for _, tt := range []struct {
		gogc string
		want int
	}{{"150", 100}, {"off", 100}, {"", 50}} {
		t.Setenv("GOGC", tt.gogc)
		collectEarly()
		if got := debug.SetGCPercent(100); got != tt.want {
			t.Errorf("with GOGC=%q the heap may grow by %d %%, want %d", tt.gogc, got, tt.want)
		}
	}
}

func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{0: 50, 1 << 20: 50, 48 << 20: 50, 60 << 20: 40, 96 << 20: 25, 160 << 20: 15, 240 << 20: 10, 1 << 40: 10} {
		if got := growthOf(live); got != want {
			t.Errorf("a heap of %d MiB may grow by %d %%, want %d", live>>20, got, want)
		}
	}
}
