package plugin_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// The input of each call, and the one for which the guests do evil.
var (
	encodeInput = &abi.EncodeRequest{Chat: abi.RawJSON(`{}`)}
	encodeEvil  = &abi.EncodeRequest{Settings: abi.Settings{OrgID: "!"}, Chat: abi.RawJSON(`{}`)}
	decodeInput = abi.AppendDecodeInput(nil, nil, abi.FlagFirst, []abi.Event{{Data: []byte("x")}})
	decodeEvil  = abi.AppendDecodeInput(nil, nil, abi.FlagCancelled, nil)
	errorInput  = &abi.ErrorRequest{Status: 429}
	errorEvil   = &abi.ErrorRequest{Status: 500}
)

func TestProvider(t *testing.T) {
	checkGood(t, load(t, open(t, nil), "good"))
}

// checkGood makes one good call of each kind.
func checkGood(t *testing.T, p *plugin.Provider) {
	t.Helper()
	r, err := p.Encode(t.Context(), encodeInput)
	want := &abi.EncodeResponse{
		Method: "POST", URL: "https://api.example.com/v1", Headers: map[string]string{"authorization": "Bearer ${apiKey}"},
		Body: abi.RawJSON(`{"q":"a<b"}`), Framing: abi.FramingAuto,
	}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("Encode = %+v, %v, want %+v", r, err, want)
	}
	out, err := p.Decode(t.Context(), decodeInput, []byte("before "))
	if want := "before \x02\x00\x00\x00st\x01\x00\x00\x00\x02\x00\x00\x00hi"; string(out) != want || err != nil {
		t.Errorf("Decode = %q, %v, want %q", out, err, want)
	}
	e, err := p.Error(t.Context(), errorInput)
	if want := (abi.ProviderError{Kind: "rate_limit", Message: "slow down", RetryAfterMS: 1500}); err != nil || *e != want {
		t.Errorf("Error = %+v, %v, want %+v", e, err, want)
	}
}

// TestHostileProvider says what comes of each call of each guest that means
// evil, and that it is well again after that.
func TestHostileProvider(t *testing.T) {
	tests := []struct {
		name    string
		kind    provider.CallErrorKind
		message string
		fault   string // counted in Stats
	}{
		{"good", provider.Declared, "no such model", ""},
		{"spin", provider.Fault, "the plugin test 1.2.0 failed (deadline)", "deadline"},
		{"flood", provider.Fault, "the plugin test 1.2.0 failed (deadline)", "deadline"},
		{"trap", provider.Fault, "the plugin test 1.2.0 failed (trap)", "trap"},
		{"grow", provider.Fault, "the plugin test 1.2.0 failed (memory)", "memory"},
		{"outside", provider.Fault, "the plugin test 1.2.0 failed (bounds)", "bounds"},
		{"huge", provider.Fault, "the plugin test 1.2.0 failed (bounds)", "bounds"},
		{"nojson", provider.Fault, "the plugin test 1.2.0 gave an answer that cannot be used", "answer"},
	}
	rt := open(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := map[string]func(*plugin.Provider) error{
				"Encode": func(p *plugin.Provider) error { _, err := p.Encode(t.Context(), encodeEvil); return err },
				"Decode": func(p *plugin.Provider) error { _, err := p.Decode(t.Context(), decodeEvil, nil); return err },
				"Error":  func(p *plugin.Provider) error { _, err := p.Error(t.Context(), errorEvil); return err },
			}
			for name, call := range calls {
				p := load(t, rt, tt.name)
				err := call(p)
				e, ok := errors.AsType[*provider.CallError](err)
				if !ok || e.Kind != tt.kind || e.Message != tt.message {
					t.Errorf("%s: %v, want %s: %s", name, err, tt.kind, tt.message)
				}
				if tt.fault != "" && p.Stats().Faults[tt.fault] == 0 {
					t.Errorf("%s: faults %v, want one of kind %s", name, p.Stats().Faults, tt.fault)
				}
				checkGood(t, p)
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				if _, err := p.Decode(t.Context(), decodeInput, nil); kindOf(err) != provider.Unavailable {
					t.Errorf("Decode after Close: %v, want %s", err, provider.Unavailable)
				}
			}
		})
	}
}

func kindOf(err error) provider.CallErrorKind {
	e, ok := errors.AsType[*provider.CallError](err)
	if !ok {
		return ""
	}
	return e.Kind
}

// TestRetry shows that a decode call that traps is made once more, and that the
// breaker rests a plugin that goes on so.
func TestRetry(t *testing.T) {
	p := load(t, open(t, nil), "trap")
	for n := range 3 {
		if _, err := p.Decode(t.Context(), decodeEvil, nil); kindOf(err) != provider.Fault {
			t.Errorf("Decode that traps: %v, want %s", err, provider.Fault)
		}
		if got, want := p.Stats().Faults["trap"], int64(2*n+2); got != want {
			t.Errorf("%d traps counted after %d calls, want %d", got, n+1, want)
		}
	}
	_, err := p.Decode(t.Context(), decodeInput, nil)
	e, ok := errors.AsType[*provider.CallError](err)
	if !ok || e.Kind != provider.Unavailable || e.RetryAfter <= 0 {
		t.Errorf("Decode after three faults: %v, want %s with RetryAfter", err, provider.Unavailable)
	}
}

func TestDecodeAnswer(t *testing.T) {
	p := load(t, open(t, nil), "mirror")
	record := string(abi.AppendRecord(nil, abi.RecordText, "hi"))
	tests := []struct {
		name, answer string
		want         string // "": refused
	}{
		{"state alone", "\x01\x00\x00\x00s", "\x01\x00\x00\x00s"},
		{"nothing", "", "\x00\x00\x00\x00"},
		{"two records", "\x00\x00\x00\x00" + record + record, "\x00\x00\x00\x00" + record + record},
		{"unknown kind", "\x00\x00\x00\x00" + "\xc8" + record[1:], "\x00\x00\x00\x00" + "\xc8" + record[1:]},
		{"no length", "\x00\x00\x00", ""},
		{"state cut short", "\x05\x00\x00\x00abc", ""},
		{"state of 4 GiB", "\xff\xff\xff\xffabc", ""},
		{"state too long", "\x01\x00\x01\x00" + strings.Repeat("s", abi.MaxState+1), ""},
		{"record cut short", "\x00\x00\x00\x00" + record[:len(record)-1], ""},
		{"half a head", "\x00\x00\x00\x00" + record + "\x01\x00", ""},
		{"record of 4 GiB", "\x00\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff", ""},
	}
	for _, tt := range tests {
		in := abi.AppendDecodeInput(nil, nil, 0, []abi.Event{{Data: []byte(tt.answer)}})
		got, err := p.Decode(t.Context(), in, []byte("+"))
		switch {
		case tt.want == "" && kindOf(err) != provider.Fault:
			t.Errorf("%s: Decode = %q, %v, want %s", tt.name, got, err, provider.Fault)
		case tt.want == "" && string(got) != "+":
			t.Errorf("%s: dst came back as %q", tt.name, got)
		case tt.want != "" && (err != nil || string(got) != "+"+tt.want):
			t.Errorf("%s: Decode = %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	if _, err := p.Encode(t.Context(), encodeInput); kindOf(err) != provider.Fault {
		t.Errorf("Encode answered with nothing: %v, want %s", err, provider.Fault)
	}
	if _, err := p.Error(t.Context(), errorInput); kindOf(err) != provider.Fault {
		t.Errorf("Error answered with nothing: %v, want %s", err, provider.Fault)
	}
}

func TestTooLarge(t *testing.T) {
	p := load(t, open(t, nil), "good")
	in := &abi.EncodeRequest{Chat: abi.RawJSON(`"` + strings.Repeat("x", 3<<20) + `"`)}
	if _, err := p.Encode(t.Context(), in); kindOf(err) != provider.TooLarge {
		t.Errorf("Encode of 3 MiB: %v, want %s", err, provider.TooLarge)
	}
	checkGood(t, p)
}

// TestProviderContext shows that a call that waits for an instance leaves when
// its context ends, with the context's own error. How long all instances must
// be taken for a call to meet them so is found by trying: it depends on the
// machine.
func TestProviderContext(t *testing.T) {
	rt, module := open(t, nil), packed(t, "spin", nil)
	for timeout := 300 * time.Millisecond; timeout < time.Minute; timeout *= 2 {
		p, err := plugin.Load(t.Context(), rt, module, "test", plugin.Options{CallTimeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		if leftWaiting(t, p) {
			return
		}
	}
	t.Error("no call was refused for its context")
}

// leftWaiting has calls spin on all instances until their deadline, and reports
// whether meanwhile another one left with its context's error.
func leftWaiting(t *testing.T, p *plugin.Provider) bool {
	t.Helper()
	n := runtime.GOMAXPROCS(0)
	busy := make(chan error, n)
	for range n {
		go func() {
			_, err := p.Decode(context.Background(), decodeEvil, nil)
			busy <- err
		}()
	}
	left := false
	for !left && len(busy) < n {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err := p.Decode(ctx, decodeInput, nil)
		cancel()
		left = errors.Is(err, context.DeadlineExceeded) && kindOf(err) == ""
	}
	for range n {
		<-busy
	}
	return left
}

func TestLoadRefuses(t *testing.T) {
	rt := open(t, nil)
	twice := append(packed(t, "good", nil), packed(t, "good", nil)[len(guest(t, "good")):]...)
	tests := []struct {
		name   string
		module []byte
		want   string
	}{
		{"nothing", nil, "this is not a WebAssembly module"},
		{"text", []byte("#!/bin/sh\n"), "this is not a WebAssembly module (it begins with \"#!/bin/s\"): make one with `parley plugin build DIR`"},
		{"component", guest(t, "component"), "then run `parley plugin pack FILE --manifest manifest.json`"},
		{"no manifest", guest(t, "good"), "the module has no manifest: add one with `parley plugin pack FILE --manifest manifest.json`"},
		{"two manifests", twice, "the module has 2 manifests and may have one"},
		{"damaged", packed(t, "good", nil)[:300], "the module is damaged"},
		{"manifest of the future", packed(t, "good", map[string]any{"abi": 99}), "abi is 99, and this host speaks ABI 1"},
		{"code of the future", packed(t, "future", nil), "parley_abi says 99 and the manifest 1"},
		{"missing export", packed(t, "noexport", nil), "it lacks the export parley_decode (i32) -> i64, which a provider must have"},
		{"wrong signature", packed(t, "wrongsignature", nil), "its export parley_decode is (i64) -> i64 and must be (i32) -> i64"},
		{"unknown import", packed(t, "unknownimport", nil), "it imports the func wasi:filesystem/types@0.2.0.open-at, which the host does not have"},
		{"greedy", packed(t, "good", map[string]any{"limits": map[string]any{"memoryMiB": 65}}), "it asks for 65 MiB of memory, and this deployment grants 64"},
	}
	for _, tt := range tests {
		p, err := plugin.Load(t.Context(), rt, tt.module, "test", plugin.Options{})
		if p != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Load = %v, %v, want %q", tt.name, p, err, tt.want)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, l := range []wasm.Limiter{wasm.Unlimited(), wasm.ContextDone()} {
		b.Run(l.String(), func(b *testing.B) {
			p, err := plugin.Load(b.Context(), open(b, l), packed(b, "good", nil), "test", plugin.Options{CallTimeout: time.Second})
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			in := abi.AppendDecodeInput(nil, []byte("state"), 0, []abi.Event{{Data: []byte(strings.Repeat("x", 300))}})
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				if out, err = p.Decode(ctx, in, out[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
