package wasm_test

import (
	"errors"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

const (
	observe = "parley_observe"
	save    = "parley_save"
	flush   = "parley_flush"
)

// TestSole keeps what it was told, beside the pool, until it has a fault.
func TestSole(t *testing.T) {
	for _, limiter := range limiters() {
		t.Run(limiter.String(), func(t *testing.T) {
			m := compile(t, open(t, wasm.Options{Limiter: limiter}), "keeper", wasm.Limits{Input: 1000})
			s, err := m.Sole()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			for i, want := range []uint32{3, 6, 9} {
				if got, err := s.Count(observe, []byte("abc")); got != want || err != nil {
					t.Errorf("%d: Count = %d, %v, want %d", i, got, err, want)
				}
			}
			if got, err := s.Ask(save, []byte("x")); string(got) != "x\x09\x00\x00\x00" || err != nil {
				t.Errorf("Ask = %q, %v, want x and 9", got, err)
			}
			if got, err := s.Call(flush, []byte("1"), nil); string(got) != "\x0a\x00\x00\x00" || err != nil {
				t.Errorf("Call = %q, %v, want 10", got, err)
			}
			if got, err := s.Number("parley_abi"); got != 1 || err != nil {
				t.Errorf("Number = %d, %v, want 1", got, err)
			}
			if got := m.Stats(); got.Instances != 1 || got.Calls != 6 {
				t.Errorf("Stats = %+v, want one instance and 6 calls", got)
			}
			if _, err := s.Count(observe, make([]byte, 1001)); !errors.Is(err, wasm.ErrInputTooLarge) || s.Closed() {
				t.Errorf("Count with too much: %v, closed %v, want %v and open", err, s.Closed(), wasm.ErrInputTooLarge)
			}
			if _, err := s.Count(flush, nil); err == nil || s.Closed() {
				t.Errorf("Count of an export of another form: %v, closed %v, want an error and open", err, s.Closed())
			}
			if s.Worn() {
				t.Error("Worn after seven calls, want not")
			}
		})
	}
}

func TestSoleFault(t *testing.T) {
	for in, want := range map[string]wasm.FaultKind{"!": wasm.FaultTrap, "?": wasm.FaultDeadline} {
		m := compile(t, open(t, wasm.Options{}), "keeper", wasm.Limits{CallTimeout: 300 * time.Millisecond})
		s, err := m.Sole()
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Count(observe, []byte(in))
		if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != want {
			t.Fatalf("Count(%q): %v, want a fault of kind %s", in, err, want)
		}
		if _, err := s.Count(observe, []byte("a")); !errors.Is(err, wasm.ErrClosed) || !s.Closed() {
			t.Errorf("Count after a fault: %v, want %v", err, wasm.ErrClosed)
		}
		if got := m.Stats(); got.Instances != 0 || got.Faults[want.String()] != 1 {
			t.Errorf("Stats after a fault = %+v, want no instance and one %s", got, want)
		}
		again, err := m.Sole()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.Count(observe, []byte("a")); got != 1 || err != nil {
			t.Errorf("Count in a new instance = %d, %v, want 1: it knows nothing of the other", got, err)
		}
		again.Close()
		again.Close()
	}
}
