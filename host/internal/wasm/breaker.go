package wasm

import (
	"sync"
	"sync/atomic"
	"time"
)

// A breaker keeps calls away from a module that has a fault again and again:
// after so many within a window it is open and admits nothing for a while,
// then one call to try (half open); that call's outcome closes it or opens it
// anew.
type breaker struct {
	faults        int
	window, pause time.Duration

	// tripped is true while the breaker is not closed, so that the way of the
	// good call is one load.
	tripped atomic.Bool

	mu      sync.Mutex
	recent  []time.Time // the last faults, oldest first
	until   time.Time   // when it may be tried again
	probing bool        // one call is trying
}

// admit reports whether a call may go ahead, and whether it is the one that
// tries. A call that may not should wait for the duration.
func (b *breaker) admit() (ok, probe bool, wait time.Duration) {
	if !b.tripped.Load() {
		return true, false, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.tripped.Load() {
		return true, false, 0
	}
	if wait = time.Until(b.until); wait > 0 || b.probing {
		return false, false, max(wait, time.Second)
	}
	b.probing = true
	return true, true, 0
}

// succeeded records the end of a probe without fault.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recent, b.probing = b.recent[:0], false
	b.tripped.Store(false)
}

// abandoned records a probe that never reached the guest.
func (b *breaker) abandoned() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// failed records a fault.
func (b *breaker) failed(probe bool) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
		b.until = now.Add(b.pause)
		return
	}
	for len(b.recent) > 0 && (now.Sub(b.recent[0]) > b.window || len(b.recent) >= b.faults) {
		b.recent = b.recent[1:]
	}
	if b.recent = append(b.recent, now); len(b.recent) >= b.faults && !b.tripped.Load() {
		b.until = now.Add(b.pause)
		b.tripped.Store(true)
	}
}
