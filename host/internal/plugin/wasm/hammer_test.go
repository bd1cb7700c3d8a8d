package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TestHammerCalls has many goroutines call one module, some of them so that it
// traps, some that leave early: each gets its own answer or its own error.
func TestHammerCalls(t *testing.T) {
	for _, limiter := range []wasm.Limiter{wasm.Metered(), wasm.ContextDone(), wasm.Unlimited()} {
		t.Run(limiter.String(), func(t *testing.T) {
			m := compile(t, open(t, wasm.Options{Limiter: limiter}), "trap", wasm.Limits{Instances: 3, Unbroken: true, Calls: 50})
			var wg sync.WaitGroup
			for g := range 16 {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(1, uint64(g)))
					var out []byte
					for n := range 200 {
						in, evil := fmt.Sprintf("call %d of %d", n, g), rnd.IntN(20) == 0
						if evil {
							in = "!" + in
						}
						ctx, cancel := context.WithCancel(t.Context())
						if rnd.IntN(10) == 0 {
							ctx, cancel = context.WithTimeout(t.Context(), time.Duration(rnd.IntN(50))*time.Microsecond)
						}
						var err error
						out, err = m.Call(ctx, decode, []byte(in), out[:0])
						ended := ctx.Err() != nil
						cancel()
						switch _, fault := errors.AsType[*wasm.Fault](err); {
						case err == nil && !evil && string(out) == in:
						case fault && evil:
						case ended && errors.Is(err, context.DeadlineExceeded):
						default:
							t.Errorf("Call(%q) = %q, %v", in, out, err)
							return
						}
					}
				})
			}
			wg.Wait()
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if s := m.Stats(); s.Instances != 0 || s.Memory != 0 || s.Faults["trap"] == 0 {
				t.Errorf("Stats after Close = %+v, want no instance and some traps", s)
			}
		})
	}
}

// TestHammerClose closes a module, and then its runtime, under calls.
func TestHammerClose(t *testing.T) {
	for range 20 {
		r := open(t, wasm.Options{Limiter: wasm.Unlimited()})
		m := compile(t, r, "echo", wasm.Limits{Instances: 2})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					got, err := m.Call(context.Background(), decode, []byte("hello"), nil)
					if errors.Is(err, wasm.ErrClosed) {
						return
					}
					if err != nil || string(got) != "hello" {
						t.Errorf("Call = %q, %v", got, err)
						return
					}
				}
			})
		}
		waittest.For(t, "100 calls", func() bool { return m.Stats().Calls >= 100 })
		wg.Go(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if s := m.Stats(); s.Instances != 0 {
			t.Errorf("%d instances after Close, want 0", s.Instances)
		}
		wg.Wait()
	}
}
