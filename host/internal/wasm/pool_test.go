package wasm_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-search/parley/host/internal/wasm"
)

func TestPoolRests(t *testing.T) {
	r := open(t, wasm.Options{Limiter: wasm.Unlimited()})
	synctest.Test(t, func(t *testing.T) {
		m := compile(t, r, "echo", wasm.Limits{Instances: 3, IdleAfter: time.Minute})
		defer m.Close()
		if got := m.Stats().Instances; got != 0 {
			t.Errorf("%d instances before the first call, want 0", got)
		}
		call(t, m, "x")
		synctest.Wait()
		if got := m.Stats().Instances; got != 1 {
			t.Errorf("%d instances after the first call, want 1: it may be the last", got)
		}
		for range 64 {
			call(t, m, "x")
		}
		synctest.Wait()
		if got := m.Stats().Instances; got != 2 {
			t.Errorf("%d instances once in use, want 2: one and a spare", got)
		}
		time.Sleep(50 * time.Second)
		call(t, m, "x")
		time.Sleep(50 * time.Second)
		if got := m.Stats().Instances; got != 2 {
			t.Errorf("%d instances while in use, want 2", got)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := m.Stats(); got.Instances != 1 || got.Memory != 64<<10 {
			t.Errorf("%d instances with %d bytes after idle minutes, want 1 with %d", got.Instances, got.Memory, 64<<10)
		}
		call(t, m, "x")
		synctest.Wait()
		if got := m.Stats().Instances; got != 2 {
			t.Errorf("%d instances once in use again, want 2", got)
		}
	})
}

func TestPoolRecycles(t *testing.T) {
	tests := []struct {
		name   string
		limits wasm.Limits
		in     int // bytes of each call
		want   int64
	}{
		// The guest grows to hold its input and cannot shrink.
		{"memory", wasm.Limits{Memory: 1 << 20, Input: 1 << 20}, 600_000, 1<<20/4*3 + 1},
		{"calls", wasm.Limits{Calls: 1}, 10, 2<<16 + 1},
	}
	r := open(t, wasm.Options{Limiter: wasm.Unlimited()})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := compile(t, r, "echo", tt.limits)
			for range 50 {
				call(t, m, string(make([]byte, tt.in)))
			}
			if got := m.Stats().Memory; got >= tt.want+64<<10 {
				t.Errorf("memory %d after 50 calls, want under %d: worn instances go", got, tt.want)
			}
			if f := m.Stats().Faults; len(f) > 0 {
				t.Errorf("faults %v, want none", f)
			}
		})
	}
}

func TestBreaker(t *testing.T) {
	r := open(t, wasm.Options{Limiter: wasm.Unlimited()})
	synctest.Test(t, func(t *testing.T) {
		m := compile(t, r, "trap", wasm.Limits{})
		defer m.Close()
		fault := func(want wasm.FaultKind) *wasm.Fault {
			t.Helper()
			_, err := m.Call(t.Context(), decode, []byte("!"), nil)
			f, ok := errors.AsType[*wasm.Fault](err)
			if !ok || f.Kind != want {
				t.Fatalf("Call: %v, want a fault of kind %s", err, want)
			}
			return f
		}
		// Spread out, they open nothing.
		for range 6 {
			fault(wasm.FaultTrap)
			time.Sleep(31 * time.Second)
		}
		time.Sleep(time.Minute)
		for range 3 {
			fault(wasm.FaultTrap)
		}
		if f := fault(wasm.FaultBreaker); f.RetryAfter != 30*time.Second {
			t.Errorf("RetryAfter %s, want 30s", f.RetryAfter)
		}
		time.Sleep(29 * time.Second)
		if f := fault(wasm.FaultBreaker); f.RetryAfter != time.Second {
			t.Errorf("RetryAfter %s, want 1s", f.RetryAfter)
		}
		time.Sleep(time.Second)
		fault(wasm.FaultTrap) // the one that tries
		fault(wasm.FaultBreaker)
		time.Sleep(30 * time.Second)
		call(t, m, "fine")
		for range 2 {
			fault(wasm.FaultTrap) // closed again: it takes three
		}
		call(t, m, "fine")
		if s := m.Stats(); s.Faults["breaker"] != 3 || s.Open {
			t.Errorf("Stats = %+v, want 3 calls kept away and a closed breaker", s)
		}
	})
}

func call(t *testing.T, m *wasm.Module, in string) {
	t.Helper()
	if got, err := m.Call(t.Context(), decode, []byte(in), nil); string(got) != in || err != nil {
		t.Fatalf("Call = %d bytes, %v, want %d", len(got), err, len(in))
	}
}
