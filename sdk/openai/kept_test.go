package openai

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

// TestKept gives a decoder that has had a stream the event of another one,
// and holds it to a new decoder, which reads the event in full.
func TestKept(t *testing.T) {
	const first = `{"id":"a-1","created":17,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null}}],"obfuscation":"xy"}`
	const text = `{"id":"a-1","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}],"p":"xy"}`
	const call = `{"id":"a-1","created":17,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}`
	const both = `{"id":"a-1","model":"m","choices":[{"index":0,"delta":{"reasoning":"Hm","reasoning_content":"Hm"}}]}`
	const finish = `{"id":"a-1","created":17,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	const usage = `{"id":"a","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3,"audio_tokens":0}}}`
	const around = `{"id":"a-1","model":"m","service_tier":"flex","system_fingerprint":"fp_1","choices":[{"delta":{"content":"Hi"}}]}`
	for _, tt := range []struct {
		name, before, event string
		fits                bool // the event is of a pattern that is kept
	}{
		{"the same", first, first, true},
		{"another id, time and padding", first, `{"id":"b","created":1800,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null}}],"obfuscation":""}`, true},
		{"another text", text, strings.Replace(text, "Hi", "Grüße\x01\xff", 1), true},
		{"no text", text, strings.Replace(text, "Hi", "", 1), true},
		{"an escape in the text", text, strings.Replace(text, "Hi", `\n`, 1), true},
		{"a wrong escape in the text", text, strings.Replace(text, "Hi", `\x`, 1), false},
		{"an escape in the id", first, strings.Replace(first, "a-1", `\u0061`, 1), true},
		{"no text to learn from", strings.Replace(text, "Hi", "", 1), text, false},
		{"an id that is none", strings.Replace(first, `"a-1"`, `[]`, 1), strings.Replace(first, `"a-1"`, `[]`, 1), false},
		{"a time that is not a number", first, strings.Replace(first, "17", "017", 1), false},
		{"a time that is no whole number", strings.Replace(first, "17", "1.7", 1), strings.Replace(first, "17", "1.8", 1), false},
		{"another model", text, strings.Replace(text, `"m"`, `"n"`, 1), true},
		{"no id", `{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"}}]}`, true},
		{"no choice", `{"id":"a","choices":[]}`, `{"id":"b","choices":[]}`, true},
		{"reasoning under both names", both, strings.Replace(both, `":"Hm`, `":"`, 1), false},
		{"reasoning", strings.Replace(text, "content", "reasoning", 1), strings.Replace(text, `content":"Hi`, `reasoning":"Ho`, 1), true},
		{"a finish", strings.Replace(text, `}}]`, `},"finish_reason":"stop"}]`, 1), strings.Replace(text, `}}]`, `},"finish_reason":"stop"}]`, 1), true},
		{"another finish", strings.Replace(text, `}}]`, `},"finish_reason":"stop"}]`, 1), strings.Replace(text, `}}]`, `},"finish_reason":"length"}]`, 1), false},
		{"a finish without a text", finish, strings.Replace(finish, "a-1", "a-2", 1), true},
		{"a usage", usage, strings.NewReplacer(":1", ":10", ":2", ":0", ":3", ":7").Replace(usage), true},
		{"a usage of another form", usage, strings.Replace(usage, ":2", `:"2"`, 1), false},
		{"a usage that is not a number of tokens", strings.Replace(usage, ":2", ":-2", 1), strings.Replace(usage, ":2", ":-2", 1), false},
		{"a usage that a choice has, too", strings.Replace(usage, "[]", `[{"usage":{"prompt_tokens":1}}]`, 1), strings.Replace(usage, "[]", `[{"usage":{"prompt_tokens":1}}]`, 1), false},
		{"a usage without a count", `{"id":"a","choices":[],"usage":{}}`, `{"id":"b","choices":[],"usage":{}}`, true},
		{"around the delta", around, strings.NewReplacer("flex", "default", "fp_1", `fp_\"2`, "Hi", "Ho").Replace(around), true},
		{"around the delta, less", around, strings.Replace(around, `"fp_1"`, "null", 1), false},
		{"around the delta, spaced", strings.Replace(around, `:"fp_1"`, `: "fp_1"`, 1), strings.Replace(around, `:"fp_1"`, `: "fp_1"`, 1), false},
		{"around the delta, a number", strings.Replace(around, `"fp_1"`, "1", 1), strings.Replace(around, `"fp_1"`, "1", 1), false},
		{"around the choice", strings.Replace(around, `"delta"`, `"seed":1,"delta"`, 1), strings.Replace(around, `"delta"`, `"seed":1,"delta"`, 1), false},
		{"a field that no record knows", strings.Replace(text, `"content"`, `"x":1,"content"`, 1), strings.Replace(text, `"content"`, `"x":1,"content"`, 1), false},
		{"a tool call", call, call, false},
		{"an empty list of tool calls", strings.Replace(text, `"content"`, `"tool_calls":[],"content"`, 1), strings.Replace(text, `"content"`, `"tool_calls":[],"content"`, 1), false},
		{"what comes after", text, text + "}", false},
		{"cut off", text, text[:len(text)-1], false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			used := &plain{}
			g := provider.NewGuest(used)
			for range 2 { // the first of its form is not kept
				twice(t, g, tt.before)
			}
			if fits := used.kept.Match([]byte(tt.event), &used.reading); fits != tt.fits {
				t.Errorf("fits: %t, want %t", fits, tt.fits)
			}
			if got, want := twice(t, g, tt.event), twice(t, provider.NewGuest(&plain{}), tt.event); got != want {
				t.Errorf("by a decoder that has had a stream %s, by a new one %s", got, want)
			}
		})
	}
}

// twice has g decode a stream of the event two times over, and returns what
// comes of it: states and records.
func twice(t *testing.T, g provider.Guest, data string) string {
	t.Helper()
	var all, state []byte
	for range 2 {
		out, err := g.Decode(abi.AppendDecodeInput(nil, state, 0, []abi.Event{{Data: []byte(data)}}))
		if err != nil {
			t.Fatal(err)
		}
		next, _, err := abi.DecodeOutput(out)
		if err != nil {
			t.Fatal(err)
		}
		state = bytes.Clone(next)
		all = append(all, out...)
	}
	return fmt.Sprintf("%q", all)
}
