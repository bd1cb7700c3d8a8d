package wasm_test

import (
	"errors"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TestProbe checks what sets a probe apart from the pool: its own instance, its
// fuel, and that a fault is its end.
func TestProbe(t *testing.T) {
	m := compile(t, open(t, wasm.Options{}), "trap", wasm.Limits{})
	p, err := m.Probe()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Memory() == 0 || p.Memory() > p.MaxMemory() || p.MaxInput() <= 0 {
		t.Errorf("memory %d of %d, input up to %d", p.Memory(), p.MaxMemory(), p.MaxInput())
	}
	if v, err := p.Number(abi.FuncABI); err != nil || v != 1 {
		t.Errorf("Number(%s) = %d, %v, want 1", abi.FuncABI, v, err)
	}
	if _, err := p.Call(decode, make([]byte, p.MaxInput()+1), nil); !errors.Is(err, wasm.ErrInputTooLarge) {
		t.Errorf("Call with too much: %v, want %v", err, wasm.ErrInputTooLarge)
	}
	if out, err := p.Call(decode, []byte("x"), []byte("before ")); err != nil || string(out) != "before x" || p.Fuel() == 0 {
		t.Errorf("Call = %q, %v with %d of fuel, want an echo behind what was there, and some fuel", out, err, p.Fuel())
	}
	_, err = p.Call(decode, []byte("!"), nil)
	first, ok := errors.AsType[*wasm.Fault](err)
	if !ok || first.Kind != wasm.FaultTrap {
		t.Fatalf("Call of a guest that traps: %v, want a trap", err)
	}
	for range 5 {
		if _, err := p.Call(decode, []byte("x"), nil); !errors.Is(err, first) {
			t.Errorf("Call after a fault: %v, want the fault again", err)
		}
	}
	// Nobody counted them: the module still takes calls.
	if m.Stats().Open {
		t.Error("the breaker is open after faults of a probe")
	}
}
