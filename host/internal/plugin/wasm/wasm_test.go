package wasm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// open returns a runtime that is closed, and leaves no goroutine, at the end
// of the test.
func open(t testing.TB, o wasm.Options) *wasm.Runtime {
	t.Helper()
	before := runtime.NumGoroutine()
	r, err := wasm.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		var after int
		if waittest.Until(func() bool { after = runtime.NumGoroutine(); return after <= before }) {
			return
		}
		stacks := make([]byte, 64<<10)
		t.Errorf("%d goroutines after Close, %d before Open:\n%s", after, before, stacks[:runtime.Stack(stacks, true)])
	})
	return r
}

func guest(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compile(t testing.TB, r *wasm.Runtime, name string, l wasm.Limits) *wasm.Module {
	t.Helper()
	m, err := r.Compile(context.Background(), name, guest(t, name), l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const decode = "parley_decode"

func TestCall(t *testing.T) {
	m := compile(t, open(t, wasm.Options{}), "echo", wasm.Limits{Input: 2 << 20})
	// Larger, smaller, larger again: the input region moves with the largest.
	for _, n := range []int{1, 0, 200, 100_000, 3, 1 << 20, 70_000, 2 << 20} {
		in := bytes.Repeat([]byte("x"), n)
		got, err := m.Call(t.Context(), decode, in, []byte("before "))
		if err != nil {
			t.Fatalf("Call with %d bytes: %v", n, err)
		}
		if want := "before " + string(in); string(got) != want {
			t.Errorf("Call with %d bytes = %d bytes %.20q, want %d bytes %.20q", n, len(got), got, len(want), want)
		}
	}
	if got, err := m.Number(t.Context(), 0, "parley_abi"); got != 1 || err != nil {
		t.Errorf("Number = %d, %v, want 1", got, err)
	}
	_, err := m.Call(t.Context(), decode, []byte("!"), nil)
	want := wasm.GuestError{Code: 7, Message: "!bad"}
	if got, ok := errors.AsType[*wasm.GuestError](err); !ok || *got != want {
		t.Errorf("Call that declares an error: %v, want %v", err, &want)
	}
	if _, err := m.Call(t.Context(), decode, make([]byte, 2<<20+1), nil); !errors.Is(err, wasm.ErrInputTooLarge) {
		t.Errorf("Call with more than Limits.Input: %v, want %v", err, wasm.ErrInputTooLarge)
	}
	if _, err := m.Call(t.Context(), "parley_abi", nil, nil); err == nil || !strings.Contains(err.Error(), "no such export of form (i32) -> i64") {
		t.Errorf("Call of an export of another form: %v", err)
	}
	s := m.Stats()
	if s.Calls != 10 || s.Declared != 1 || len(s.Faults) != 0 {
		t.Errorf("Stats = %+v, want 10 calls, 1 declared error, no fault", s)
	}
}

func TestCallAfterClose(t *testing.T) {
	r := open(t, wasm.Options{})
	m := compile(t, r, "echo", wasm.Limits{})
	if _, err := m.Call(t.Context(), decode, []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := m.Call(t.Context(), decode, []byte("x"), nil); !errors.Is(err, wasm.ErrClosed) {
		t.Errorf("Call after Close: %v, want %v", err, wasm.ErrClosed)
	}
	if s := m.Stats(); s.Instances != 0 || s.Memory != 0 {
		t.Errorf("after Close: %d instances with %d bytes, want none", s.Instances, s.Memory)
	}
	// The module itself can be compiled again.
	again := compile(t, r, "echo", wasm.Limits{})
	if _, err := again.Call(t.Context(), decode, []byte("x"), nil); err != nil {
		t.Errorf("Call of the same module compiled again: %v", err)
	}
}

func TestWASI(t *testing.T) {
	m := compile(t, open(t, wasm.Options{}), "wasi", wasm.Limits{})
	before := time.Now()
	one, err := m.Call(t.Context(), decode, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := m.Call(t.Context(), decode, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, int64(binary.LittleEndian.Uint64(one)))
	if now.Before(before) || now.After(time.Now()) {
		t.Errorf("time of day %v, want one between the call's begin %v and its end", now, before)
	}
	if a, b := binary.LittleEndian.Uint64(one[8:]), binary.LittleEndian.Uint64(two[8:]); a >= b {
		t.Errorf("count from start %d, then %d, want it to grow", a, b)
	}
	if bytes.Equal(one[16:24], two[16:24]) {
		t.Errorf("random bytes %x twice", one[16:24])
	}
	const badFile, fault = 8, 21
	want := []byte{0, 0, 0, badFile, badFile, 0, 0, 0, fault, 42, 1}
	if !bytes.Equal(one[24:], want) {
		t.Errorf("error numbers %v, want %v", one[24:], want)
	}
}

func TestWriteVectors(t *testing.T) {
	m := compile(t, open(t, wasm.Options{}), "vectors", wasm.Limits{})
	got, err := m.Call(t.Context(), decode, []byte("!"), nil)
	const invalid, fault = 28, 21
	if want := []byte{invalid, 0, 0, 0, fault, 0, 0, 0}; err != nil || !bytes.Equal(got, want) {
		t.Errorf("error numbers %v, %v, want %v", got, err, want)
	}
}

func TestLog(t *testing.T) {
	lines := make(chan wasm.LogLine, 10_000)
	r := open(t, wasm.Options{Log: func(l wasm.LogLine) { lines <- l }})
	// It ends by its fuel, since how much it says in a time depends on the machine.
	m := compile(t, r, "flood", wasm.Limits{Fuel: 10_000, CallTimeout: time.Minute})
	ctx := logs.WithRequest(t.Context(), "request-1")
	_, err := m.CallPure(ctx, wasm.Use{Client: &wasm.Client{Workspace: "support"}}, decode, []byte("!"), nil)
	f, ok := errors.AsType[*wasm.Fault](err)
	if !ok || f.Kind != wasm.FaultFuel {
		t.Fatalf("Call of a guest that logs without end: %v, want it out of fuel", err)
	}
	if len(f.Output) > 4<<10 || f.Output == "" {
		t.Errorf("%d bytes of output kept, want some, at most 4 KiB", len(f.Output))
	}
	close(lines)
	var sum int
	var last wasm.LogLine
	for l := range lines {
		sum += len(l.Text)
		if last = l; l.Workspace != "support" || logs.RequestOf(l.Context) != "request-1" {
			t.Fatalf("line %+v, want the workspace and the request that it is of", l)
		}
	}
	if sum > 64<<10+200 || sum < 32<<10 {
		t.Errorf("%d bytes logged, want about 64 KiB", sum)
	}
	if last.Module != "flood" || last.Level != 2 || last.Text != "it logs too much; the rest of this minute is dropped" {
		t.Errorf("last line %+v, want a warning that the rest is dropped", last)
	}
	if m.Stats().LogLines == 0 {
		t.Error("no dropped lines counted")
	}
}

func TestCallContext(t *testing.T) {
	r := open(t, wasm.Options{})
	m := compile(t, r, "spin", wasm.Limits{Instances: 1, CallTimeout: 300 * time.Millisecond})
	done := make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), decode, []byte("!"), nil)
		done <- err
	}()
	late := time.After(time.Minute)
	for m.Stats().Instances == 0 {
		select {
		case <-late:
			t.Fatal("no instance within a minute")
		case <-time.After(time.Millisecond):
		}
	}
	// The only instance is taken: this call waits, and leaves when its context
	// says so.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Call(ctx, decode, []byte("!"), nil); err == nil {
		t.Error("Call with a context that ends: no error")
	}
	select {
	case err := <-done:
		if _, ok := errors.AsType[*wasm.Fault](err); !ok {
			t.Errorf("the call that spins ended in %v, want a fault", err)
		}
	case <-late:
		t.Fatal("the call that spins did not end within a minute")
	}
	if _, err := m.Call(t.Context(), decode, []byte("x"), nil); err != nil {
		t.Errorf("Call after that: %v", err)
	}
}
