package wasm_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TestRunaway lets guests run until their deadline, each in its own way of
// never ending: meanwhile neighbours are served and the collector runs, and
// after it they are gone.
func TestRunaway(t *testing.T) {
	for _, name := range []string{"spin", "mutual", "bulk", "random", "flood"} {
		t.Run(name, func(t *testing.T) {
			r := open(t, wasm.Options{Limiter: wasm.Metered()})
			neighbour := compile(t, r, "echo", wasm.Limits{Instances: 1})
			call(t, neighbour, "x")
			// A collection waits for the guest: were it not to come back until
			// its end, one would be all there is time for. How much time more of
			// them take is found by trying: it depends on the machine.
			served := 0
			for timeout := 300 * time.Millisecond; served < 2 && timeout < time.Minute; timeout *= 2 {
				m := compile(t, r, name, wasm.Limits{Memory: 32 << 20, Instances: 1, CallTimeout: timeout})
				call(t, m, "x")
				served = runaway(t, m, neighbour, "no end after "+timeout.String())
				call(t, m, "x")
				if s := m.Stats(); s.Fuel == 0 || s.Limiter != "metered" || s.Refusal != "" {
					t.Errorf("Stats = %+v, want fuel spent under the metered limiter", s)
				}
			}
			if served < 2 {
				t.Errorf("%d collections and calls of a neighbour while it ran, want more", served)
			}
		})
	}
}

// runaway has m run to its deadline, which detail names, and returns how often
// meanwhile the collector ran and the neighbour answered.
func runaway(t *testing.T, m, neighbour *wasm.Module, detail string) (served int) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), decode, []byte("!"), nil)
		done <- err
	}()
	for {
		runtime.GC()
		call(t, neighbour, "x")
		select {
		case err := <-done:
			if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultDeadline || f.Detail != detail {
				t.Errorf("Call: %v, want a deadline, %s", err, detail)
			}
			return served
		default:
			served++
		}
	}
}

// TestFuel shows that calls have a budget if they are given one: the same call
// spends the same, and one unit less than it needs is a fault of its own kind.
func TestFuel(t *testing.T) {
	r := open(t, wasm.Options{Limiter: wasm.Metered()})
	in := strings.Repeat("x", 100)
	spent := func(m *wasm.Module) int64 {
		before := m.Stats().Fuel
		call(t, m, in)
		return m.Stats().Fuel - before
	}
	free := compile(t, r, "echo", wasm.Limits{Instances: 1})
	call(t, free, in) // asks for the input region too
	need := spent(free)
	if again := spent(free); need <= 0 || again != need {
		t.Errorf("two equal calls spend %d and %d, want the same", need, again)
	}

	m := compile(t, r, "spin", wasm.Limits{Fuel: 3_000_000, CallTimeout: time.Minute})
	_, err := m.CallPure(t.Context(), wasm.Use{}, decode, []byte("!"), nil)
	f, ok := errors.AsType[*wasm.Fault](err)
	if !ok || f.Kind != wasm.FaultFuel || f.Detail != "no end after 3000000 units of fuel" {
		t.Fatalf("Call of a guest that spins: %v, want it out of fuel", err)
	}
	if s := m.Stats(); s.Faults["fuel"] != 1 || s.Fuel < 3_000_000 || s.Fuel > 3_000_100 {
		t.Errorf("Stats = %+v, want one fault, which is not tried again, and 3000000 units", s)
	}
	call(t, m, in)
}

// TestRefused shows a module that the meter refuses: it is bounded all the
// same, and says by what and why.
func TestRefused(t *testing.T) {
	r := open(t, wasm.Options{Limiter: wasm.Metered()})
	m := compile(t, r, "refused", wasm.Limits{CallTimeout: time.Second})
	other := compile(t, r, "refused", wasm.Limits{})
	call(t, m, "x")
	call(t, other, "x")
	_, err := m.Call(t.Context(), decode, []byte("!"), nil)
	if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultDeadline {
		t.Errorf("Call: %v, want a deadline", err)
	}
	const why = "section export: it exports parley.fuel, which is the meter's"
	if s := m.Stats(); s.Limiter != "context-done" || s.Refusal != why || s.Fuel != 0 {
		t.Errorf("Stats = %+v, want context-done, since %s", s, why)
	}
	if err := wasm.MeterRefuses(guest(t, "refused")); err == nil || err.Error() != why {
		t.Errorf("MeterRefuses: %v, want %s", err, why)
	}
	if err := wasm.MeterRefuses(guest(t, "echo")); err != nil {
		t.Errorf("MeterRefuses of a module like any: %v", err)
	}
}
