package wasm_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TestHostile says what the host does about each of the ways to be wrong, and
// that the module answers afterwards as if nothing had been.
func TestHostile(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	tests := []struct {
		name   string
		in     string
		kind   wasm.FaultKind
		detail string
		output string
	}{
		{name: "spin", kind: wasm.FaultDeadline},
		{name: "flood", kind: wasm.FaultDeadline},
		{name: "trap", kind: wasm.FaultTrap, detail: "wasm error: unreachable", output: "oh dear\n\uFFFD"},
		{name: "recurse", kind: wasm.FaultStack, detail: "its calls nest deeper than 8 MiB of stack"},
		{name: "exit", kind: wasm.FaultExit, detail: "the guest exited with code 3"},
		{name: "grow", kind: wasm.FaultMemory, detail: "denied more than 4 MiB of memory, then: wasm error: unreachable"},
		{name: "outside", kind: wasm.FaultBounds, detail: "its answer of 2 bytes at 65535 lies outside its memory of 65536 bytes"},
		{name: "huge", kind: wasm.FaultBounds, detail: "its answer of 2147483647 bytes at 0 lies outside its memory of 65536 bytes"},
		{name: "long", kind: wasm.FaultOutput, detail: "its answer has 65536 bytes and may have 60000"},
		{name: "short", kind: wasm.FaultError, detail: "its error has 2 bytes, too few for a code"},
		{name: "noinput", in: big, kind: wasm.FaultInput, detail: "it gave no region for 131072 bytes"},
		{name: "badinput", in: big, kind: wasm.FaultInput, detail: "its region of 131072 bytes at 2147483647 ends outside its memory of 131072 bytes"},
	}
	for _, limiter := range limiters() {
		r := open(t, wasm.Options{Limiter: limiter})
		short := 300 * time.Millisecond
		if limiter == wasm.ContextDone() {
			short = time.Second // which good calls must not come near either, on any machine
		}
		for _, tt := range tests {
			t.Run(limiter.String()+"/"+tt.name, func(t *testing.T) {
				timeout := time.Minute
				if tt.kind == wasm.FaultStack && limiter == wasm.ContextDone() {
					tt.kind, tt.detail = wasm.FaultTrap, "stack overflow" // at wazero's own bound
				}
				if tt.kind == wasm.FaultDeadline {
					timeout, tt.detail = short, "no end after "+short.String()
				}
				m := compile(t, r, tt.name, wasm.Limits{Memory: 4 << 20, Output: 60_000, CallTimeout: timeout})
				in := tt.in
				if in == "" {
					in = "!"
				}
				for range 2 { // the second time on the spare
					_, err := m.Call(t.Context(), decode, []byte(in), nil)
					f, ok := errors.AsType[*wasm.Fault](err)
					if !ok {
						t.Fatalf("Call: %v, want a fault", err)
					}
					if f.Kind != tt.kind || !strings.Contains(f.Detail, tt.detail) || f.Module != tt.name {
						t.Errorf("Call: %v, want %s: %s", f, tt.kind, tt.detail)
					}
					if tt.name != "flood" && f.Output != tt.output {
						t.Errorf("output %q, want %q", f.Output, tt.output)
					}
					runtime.GC() // stalls where a guest is still running
					if got, err := m.Call(t.Context(), decode, []byte("fine"), nil); string(got) != "fine" || err != nil {
						t.Errorf("Call after a fault = %q, %v", got, err)
					}
				}
				if got := m.Stats().Faults[tt.kind.String()]; got != 2 {
					t.Errorf("%d faults of kind %s counted, want 2", got, tt.kind)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
				if s := m.Stats(); s.Instances != 0 || s.Memory != 0 {
					t.Errorf("after Close: %d instances with %d bytes, want none", s.Instances, s.Memory)
				}
			})
		}
	}
}

// limiters are those that end what a guest does not end itself.
func limiters() []wasm.Limiter { return []wasm.Limiter{wasm.Metered(), wasm.ContextDone()} }

// TestFaultIsOfItsCall shows that a fault is explained by its own call, not by
// what an earlier one left on the same instance.
func TestFaultIsOfItsCall(t *testing.T) {
	m := compile(t, open(t, wasm.Options{}), "later", wasm.Limits{Instances: 1})
	if got, err := m.Call(t.Context(), decode, []byte("x"), nil); len(got) > 0 || err != nil {
		t.Fatalf("Call = %q, %v, want nothing", got, err)
	}
	_, err := m.Call(t.Context(), decode, []byte("!"), nil)
	f, ok := errors.AsType[*wasm.Fault](err)
	if !ok || f.Kind != wasm.FaultTrap || f.Output != "" {
		t.Errorf("Call: %v, want a trap without output", err)
	}
}

func TestHostileStart(t *testing.T) {
	for _, limiter := range limiters() {
		r := open(t, wasm.Options{Limiter: limiter})
		for name, kind := range map[string]wasm.FaultKind{"startspin": wasm.FaultDeadline, "starttrap": wasm.FaultTrap} {
			timeout := time.Minute
			if kind == wasm.FaultDeadline {
				timeout = 100 * time.Millisecond
			}
			m := compile(t, r, name, wasm.Limits{StartTimeout: timeout})
			_, err := m.Number(t.Context(), 0, "parley_abi")
			f, ok := errors.AsType[*wasm.Fault](err)
			if !ok || f.Kind != kind || f.Export != "_initialize" {
				t.Errorf("Number of %s: %v, want a %s in _initialize", name, err, kind)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if s := m.Stats(); s.Instances != 0 || s.Memory != 0 {
				t.Errorf("after Close: %d instances with %d bytes, want none", s.Instances, s.Memory)
			}
		}
	}
}

// TestTableStorm holds a guest that grows a table to the bound: the call that
// would go past it fails inside the guest, which says so by its answer.
func TestTableStorm(t *testing.T) {
	for _, l := range limiters() {
		m := compile(t, open(t, wasm.Options{Limiter: l}), "tablestorm", wasm.Limits{})
		out, err := m.Call(t.Context(), decode, []byte("x"), nil)
		if err != nil || len(out) != 4 {
			t.Fatalf("Call: %q, %v, want the size of the table", out, err)
		}
		if got := binary.LittleEndian.Uint32(out); got > 1<<17 || got < 1<<16 {
			t.Errorf("the guest grew its table to %d entries, want at most 131072", got)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	r := open(t, wasm.Options{})
	tests := []struct {
		name string
		want string
	}{
		{"unknownimport", "it imports the func env.read_file, which the host does not have; nothing that was linked defines it"},
		{"wrongimport", "it imports parley.log as (i64) -> (), which is (i32, i32, i32) -> ()"},
		{"globalimport", "it imports the global parley.log, which the host does not have"},
		{"nomemory", `it must have one memory and export it as "memory"`},
		{"hidden", `it must have one memory and export it as "memory"`},
		{"widetable", "it begins with a table of 200000 entries and the limit is 131072"},
		{"large", "it begins with 17408 KiB of memory and its limit is 16384 KiB"},
	}
	for _, tt := range tests {
		m, err := r.Compile(t.Context(), tt.name, guest(t, tt.name), wasm.Limits{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Compile(%s): %v, want %q", tt.name, err, tt.want)
		}
		if m != nil {
			t.Errorf("Compile(%s) returned a module", tt.name)
		}
	}
	echo := guest(t, "echo")
	for n := range len(echo) {
		// Cut anywhere: an error or, between two sections, a smaller module.
		if m, err := r.Compile(t.Context(), "cut", echo[:n], wasm.Limits{}); err == nil {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPureRetry shows that a call that faults is made again on another
// instance, and that both count as one for the breaker.
func TestPureRetry(t *testing.T) {
	m := compile(t, open(t, wasm.Options{}), "trap", wasm.Limits{})
	_, err := m.CallPure(t.Context(), wasm.Use{}, decode, []byte("!"), nil)
	if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultTrap {
		t.Errorf("CallPure: %v, want a trap", err)
	}
	if got := m.Stats(); got.Faults["trap"] != 2 || got.Calls != 1 || got.Open {
		t.Errorf("Stats = %+v, want 2 traps in 1 call and a closed breaker", got)
	}
}
