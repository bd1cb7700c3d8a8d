package wasm

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestPoolStartFails shows what a pool does when instances cannot be started:
// with none to serve, each call is told why; with one, calls go on, and starts
// are tried again only after a rest.
func TestPoolStartFails(t *testing.T) {
	r, err := Open(Options{Limiter: Unlimited()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	bin, err := os.ReadFile("testdata/echo.wasm")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m, err := r.Compile(t.Context(), "echo", bin, Limits{Instances: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		start, starts, broken := m.pool.start, 0, true
		failure := errors.New("no memory")
		m.pool.start = func() (*instance, error) {
			starts++
			if broken {
				return nil, failure
			}
			return start()
		}
		for range 3 {
			if _, err := m.Call(t.Context(), "parley_decode", []byte("x"), nil); !errors.Is(err, failure) {
				t.Errorf("Call without any instance: %v, want %v", err, failure)
			}
		}
		if starts != 3 {
			t.Errorf("%d starts for 3 calls, want 3", starts)
		}

		broken, starts = false, 0
		for range spareUses {
			if _, err := m.Call(t.Context(), "parley_decode", []byte("x"), nil); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		one, err := m.pool.acquire(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		broken, starts = true, 0
		m.pool.release(one, true) // the spare takes its place
		for range 10 {
			if _, err := m.Call(t.Context(), "parley_decode", []byte("x"), nil); err != nil {
				t.Errorf("Call with one instance: %v", err)
			}
			synctest.Wait()
		}
		if starts != 1 {
			t.Errorf("%d starts during the rest, want 1", starts)
		}
		time.Sleep(startPause)
		broken = false
		if _, err := m.Call(t.Context(), "parley_decode", []byte("x"), nil); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := m.Stats().Instances; starts != 2 || got != 2 {
			t.Errorf("%d starts and %d instances after the rest, want 2 and 2", starts, got)
		}
	})
}
