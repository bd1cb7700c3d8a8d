package wasm

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A strangeModule is a compiled module of nobody's: wazero panics in Go code, before
// the guest has a say, as it is asked for an instance of it.
type strangeModule struct{ wazero.CompiledModule }

// A strangeFunction panics as it is called, outside of the guest.
type strangeFunction struct{ api.Function }

func (strangeFunction) CallWithStack(context.Context, []uint64) error {
	var none []byte
	_ = none[len(os.Args)]
	return nil
}

// TestContainPanics has wazero itself panic, as an instance starts and in a call:
// both end with a fault, and the module serves the next call.
func TestContainPanics(t *testing.T) {
	r := openRuntime(t, Options{})
	bin, err := os.ReadFile("testdata/echo.wasm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Compile(t.Context(), "echo", bin, Limits{Instances: 1})
	if err != nil {
		t.Fatal(err)
	}
	call := func(want string) {
		t.Helper()
		_, err := m.Call(t.Context(), "parley_decode", []byte("x"), nil)
		if f, ok := errors.AsType[*Fault](err); !ok || f.Kind != FaultTrap || !strings.Contains(f.Detail, want) {
			t.Errorf("Call: %v, want a trap with %q", err, want)
		}
	}
	works := func() {
		t.Helper()
		if out, err := m.Call(t.Context(), "parley_decode", []byte("x"), nil); err != nil || string(out) != "x" {
			t.Errorf("Call: %q, %v, want x", out, err)
		}
	}

	compiled := m.compiled
	m.compiled = strangeModule{compiled}
	call("wazero panicked: interface conversion")
	if s, err := m.Sole(); err == nil {
		s.Close()
		t.Error("Sole: no error, want a fault")
	}
	m.compiled = compiled
	works()

	m.pool.idle[0].funcs[m.index["parley_decode"]] = strangeFunction{}
	call("wazero panicked: runtime error: index out of range")
	works()
	if s := m.Stats(); s.Instances != 1 || s.Faults["trap"] != 3 {
		t.Errorf("%d instances and faults %v, want 1 and 3 traps", s.Instances, s.Faults)
	}
}
