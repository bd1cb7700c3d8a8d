package wasm_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
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

// A caller makes calls for a client, of a guest that traps over "!".
type caller struct {
	t      *testing.T
	m      *wasm.Module
	client wasm.Client
}

// fault makes a call that must fail so.
func (c caller) fault(in string, want wasm.FaultKind) *wasm.Fault {
	c.t.Helper()
	_, err := c.m.CallPure(c.t.Context(), wasm.Use{Client: &c.client}, decode, []byte(in), nil)
	f, ok := errors.AsType[*wasm.Fault](err)
	if !ok || f.Kind != want {
		c.t.Fatalf("Call for %v: %v, want a fault of kind %s", c.client, err, want)
	}
	return f
}

func (c caller) fine() {
	c.t.Helper()
	if got, err := c.m.CallPure(c.t.Context(), wasm.Use{Client: &c.client}, decode, []byte("fine"), nil); string(got) != "fine" || err != nil {
		c.t.Fatalf("Call for %v = %q, %v, want fine", c.client, got, err)
	}
}

// TestBreakerClient shows that a client whose input makes the guest fail is kept away
// alone, and for longer each time that it fails again.
func TestBreakerClient(t *testing.T) {
	r := open(t, wasm.Options{Limiter: wasm.Unlimited()})
	synctest.Test(t, func(t *testing.T) {
		m := compile(t, r, "trap", wasm.Limits{})
		defer m.Close()
		bad := caller{t, m, wasm.Client{Workspace: "g", Key: "k", ID: "k"}}
		others := []caller{{t, m, wasm.Client{Workspace: "v", Key: "k", ID: "k"}}, {t, m, wasm.Client{Workspace: "g", Key: "l", ID: "l"}}, {t, m, wasm.Client{}}}
		good := func() {
			t.Helper()
			for _, c := range others {
				c.fine()
			}
		}
		for range 6 { // spread out, they keep nothing away
			bad.fault("!", wasm.FaultTrap)
			time.Sleep(31 * time.Second)
		}
		time.Sleep(time.Minute)
		for range 3 {
			bad.fault("!", wasm.FaultTrap)
			good()
		}
		for _, pause := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
			if f := bad.fault("fine", wasm.FaultClient); f.RetryAfter != pause*time.Second {
				t.Errorf("RetryAfter %s, want %s", f.RetryAfter, pause*time.Second)
			}
			good()
			time.Sleep(pause * time.Second)
			bad.fault("!", wasm.FaultTrap) // the one that tries
		}
		if s := m.Stats(); s.Open || len(s.Clients) != 1 || s.Clients[0].Client != bad.client || time.Until(s.Clients[0].Paused) != 30*time.Second {
			t.Errorf("Stats: open %v, clients %+v, want g's alone for 30 s", s.Open, s.Clients)
		}
		if f := m.Stats().LastFault; f.Workspace != "g" || f.Key != "k" {
			t.Errorf("last fault %+v, want one of g's input, sent with key k", f)
		}
		time.Sleep(30 * time.Second)
		bad.fine()
		for range 2 {
			bad.fault("!", wasm.FaultTrap) // it counts from the beginning
		}
		bad.fine()
		if s := m.Stats(); len(s.Clients) != 1 || s.Clients[0].Faults != 2 || !s.Clients[0].Paused.IsZero() {
			t.Errorf("clients %+v, want g's with two faults and no pause", s.Clients)
		}
		// Of a client most of whose calls are good, as of an application with many users
		// and one key, none is kept away.
		for range 30 {
			for range 3 {
				bad.fine()
			}
			bad.fault("!", wasm.FaultTrap)
		}
		good()
	})
}

// TestBreakerModule shows that a guest that fails for all is kept from all, and that
// one that fails for some is not.
func TestBreakerModule(t *testing.T) {
	r := open(t, wasm.Options{Limiter: wasm.Unlimited()})
	synctest.Test(t, func(t *testing.T) {
		m := compile(t, r, "trap", wasm.Limits{})
		defer m.Close()
		client := func(n int) caller { return caller{t, m, wasm.Client{Workspace: fmt.Sprint(n)}} }
		for n := range 30 {
			client(n).fault("!", wasm.FaultTrap)
			client(100).fine()
			client(101).fine()
		}
		time.Sleep(2 * time.Minute)
		for n := range 10 {
			client(n).fault("!", wasm.FaultTrap)
		}
		if f := client(100).fault("fine", wasm.FaultBreaker); f.RetryAfter != time.Second {
			t.Errorf("RetryAfter %s, want 1s", f.RetryAfter)
		}
		if s := m.Stats(); !s.Open || s.Faults["breaker"] != 1 {
			t.Errorf("Stats: open %v, faults %v, want one call kept away", s.Open, s.Faults)
		}
		time.Sleep(time.Second)
		client(50).fault("!", wasm.FaultTrap) // the one that tries
		if f := client(100).fault("fine", wasm.FaultBreaker); f.RetryAfter != 2*time.Second {
			t.Errorf("RetryAfter %s, want 2s", f.RetryAfter)
		}
		time.Sleep(2 * time.Second)
		client(100).fine()
		client(101).fine()
		if m.Stats().Open {
			t.Error("the breaker is open after a good call")
		}
	})
}

// TestBreakerCostly shows that three calls that run out of time keep a client away, and
// all of them where they are of several.
func TestBreakerCostly(t *testing.T) {
	m := compile(t, open(t, wasm.Options{}), "spin", wasm.Limits{CallTimeout: 20 * time.Millisecond})
	one, other, third := caller{t, m, wasm.Client{Workspace: "1"}}, caller{t, m, wasm.Client{Workspace: "2"}}, caller{t, m, wasm.Client{Workspace: "3"}}
	for range 3 {
		one.fault("!", wasm.FaultDeadline)
		for range 20 {
			other.fine()
		}
	}
	if f := one.fault("fine", wasm.FaultClient); f.RetryAfter < 20*time.Second {
		t.Errorf("RetryAfter %s, want nearly 30s", f.RetryAfter)
	}
	other.fine()
	other.fault("!", wasm.FaultDeadline)
	if f := third.fault("fine", wasm.FaultBreaker); f.RetryAfter < 20*time.Second {
		t.Errorf("RetryAfter %s, want nearly 30s", f.RetryAfter)
	}
}

func call(t *testing.T, m *wasm.Module, in string) {
	t.Helper()
	if got, err := m.Call(t.Context(), decode, []byte(in), nil); string(got) != in || err != nil {
		t.Fatalf("Call = %d bytes, %v, want %d", len(got), err, len(in))
	}
}
