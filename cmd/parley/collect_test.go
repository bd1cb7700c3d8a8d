package main

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
