package plugin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// one is a self-test of one call.
func one(call, input, output string) []abi.SelfTest {
	return []abi.SelfTest{{Name: "it", Call: call, Input: abi.RawJSON(input), Output: abi.RawJSON(output)}}
}

// TestSelfTest holds each call's answer against what a manifest says of it. The
// guest answers always the same.
func TestSelfTest(t *testing.T) {
	rt := open(t, nil)
	tests := []struct {
		name  string
		tests []abi.SelfTest
		want  string // in the error; empty: it passes
	}{
		{"none", nil, ""},
		{"encode", one("encode", `{"chat":{}}`, `{"url":"https://api.example.com/v1","headers":{"authorization":"Bearer ${apiKey}"},"body":{"q":"a<b"},"method":"POST"}`), ""},
		{"encode, nothing looked at", one("encode", `{"chat":{}}`, `{}`), ""},
		{"encode, another header", one("encode", `{"chat":{}}`, `{"headers":{"x-api-key":"${apiKey}"}}`), `self-test "it", call encode: headers: want {"x-api-key":"${apiKey}"}, got {"authorization":"Bearer ${apiKey}"}`},
		{"encode, no such member", one("encode", `{"chat":{}}`, `{"reply":"x"}`), `reply: want "x", got null`},
		{"encode, declared", one("encode", `{"settings":{"orgId":"!"},"chat":{}}`, `{"declared":{"code":9,"message":"no such model"}}`), ""},
		{"encode, declared unasked", one("encode", `{"settings":{"orgId":"!"},"chat":{}}`, `{"url":"https://api.example.com/v1"}`), `url: want "https://api.example.com/v1", got null`},
		{"decode", one("decode", `{"events":[{"data":"a"},{"data":"b"}]}`, `{"text":"hihihi","finish_reason":null,"usage":null,"tool_calls":[]}`), ""},
		{"decode, another text", one("decode", `{"events":[{"data":"a"}]}`, `{"text":"ho"}`), `call decode: text: want "ho", got "hihi"`},
		{"error", one("error", `{"status":429,"headers":{},"body":""}`, `{"kind":"rate_limit","retry_after_ms":1500}`), ""},
		{"error, another kind", one("error", `{"status":429}`, `{"kind":"quota"}`), `kind: want "quota", got "rate_limit"`},
		{"not of the input's form", one("error", `{"status":"429"}`, `{}`), "its input is not an error request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := plugin.Load(context.Background(), rt, packed(t, "good", map[string]any{"selfTest": tt.tests}), "test", plugin.Options{})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Load: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Load: %v, want %s", err, tt.want)
			}
			if (p == nil) != (err != nil) {
				t.Errorf("Load = %v, %v", p, err)
			}
		})
	}
	// A guest that faults in its test is not taken either.
	trap := one("encode", `{"settings":{"orgId":"!"},"chat":{}}`, `{}`)
	if _, err := plugin.Load(context.Background(), rt, packed(t, "trap", map[string]any{"selfTest": trap}), "test", plugin.Options{}); err == nil || !strings.Contains(err.Error(), "trap") {
		t.Errorf("Load of a guest that traps: %v", err)
	}
}

// TestSelfTestForm says what a manifest may not hold.
func TestSelfTestForm(t *testing.T) {
	for want, tests := range map[string][]abi.SelfTest{
		`selfTest[0].call is "observe" and must be one of: ["encode" "decode" "error"]`: one("observe", `{}`, `{}`),
		"selfTest[0].input must be an object":                                           one("encode", `[]`, `{}`),
		"selfTest[0].output must be an object":                                          one("encode", `{}`, `"x"`),
		"selfTest has 33 calls and may have 32":                                         make([]abi.SelfTest, 33),
	} {
		for i := range tests {
			if tests[i].Input == nil {
				tests[i] = one("encode", `{}`, `{}`)[0]
			}
		}
		_, err := plugin.Pack(guest(t, "good"), manifest(t, map[string]any{"selfTest": tests}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Pack: %v, want %s", err, want)
		}
	}
}

// TestFuelPerCall gives a plugin the fuel that it asks for, as far as the
// deployment allows.
func TestFuelPerCall(t *testing.T) {
	rt := open(t, nil)
	spins := func(asks int64, granted int64) error {
		t.Helper()
		p, err := plugin.Load(context.Background(), rt, packed(t, "spin", map[string]any{"limits": map[string]any{"fuelPerCall": asks}}), "test", plugin.Options{FuelPerCall: granted})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		_, err = p.Encode(t.Context(), encodeEvil)
		if got := p.Stats().Faults["fuel"]; got != 1 {
			t.Errorf("asks for %d, may have %d: %d faults of fuel, want 1", asks, granted, got)
		}
		return err
	}
	for _, tt := range []struct {
		asks, granted int64
		want          string
	}{{10_000, 0, "after 10000 units"}, {10_000, 5_000, "after 5000 units"}, {5_000, 10_000, "after 5000 units"}, {0, 7_000, "after 7000 units"}} {
		if err := spins(tt.asks, tt.granted); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("asks for %d, may have %d: %v, want %q", tt.asks, tt.granted, err, tt.want)
		}
	}
	if _, err := plugin.Pack(guest(t, "good"), manifest(t, map[string]any{"limits": map[string]any{"fuelPerCall": -1}})); err == nil || !strings.Contains(err.Error(), "limits.fuelPerCall is -1") {
		t.Errorf("Pack with less than no fuel: %v", err)
	}
}
