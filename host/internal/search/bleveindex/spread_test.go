package bleveindex

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestSpread wants as many calls at a time as there are threads, and no more:
// each waits until that many are under way.
//
//parley:option max-indexing-threads
func TestSpread(t *testing.T) {
	for _, tt := range []struct{ threads, n, together int }{{1, 5, 1}, {3, 9, 3}, {8, 2, 2}, {4, 0, 0}} {
		var calls, under, most atomic.Int64
		met := make(chan struct{})
		spread(tt.threads, tt.n, func(int) {
			calls.Add(1)
			now := under.Add(1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			if now == int64(tt.together) {
				select {
				case <-met:
				default:
					close(met)
				}
			}
			select {
			case <-met:
			case <-time.After(time.Minute):
				t.Errorf("%d threads: %d calls are under way, want %d", tt.threads, now, tt.together)
			}
			under.Add(-1)
		})
		if calls.Load() != int64(tt.n) || most.Load() != int64(tt.together) {
			t.Errorf("%d threads made %d calls, %d at a time; want %d, %d at a time", tt.threads, calls.Load(), most.Load(), tt.n, tt.together)
		}
	}
}
