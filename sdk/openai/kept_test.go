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
		{"a time that is no number", first, strings.Replace(first, "17", "017", 1), false},
		{"a time that is no whole number", strings.Replace(first, "17", "1.7", 1), strings.Replace(first, "17", "1.8", 1), false},
		{"another model", text, strings.Replace(text, `"m"`, `"n"`, 1), true},
		{"no id", `{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"}}]}`, true},
		{"no choice", `{"id":"a","choices":[]}`, `{"id":"b","choices":[]}`, true},
		{"reasoning under both names", both, strings.Replace(both, `":"Hm`, `":"`, 1), false},
		{"reasoning", strings.Replace(text, "content", "reasoning", 1), strings.Replace(text, `content":"Hi`, `reasoning":"Ho`, 1), true},
		{"a finish", strings.Replace(text, `}}]`, `},"finish_reason":"stop"}]`, 1), strings.Replace(text, `}}]`, `},"finish_reason":"stop"}]`, 1), false},
		{"a usage", `{"id":"a","choices":[],"usage":{"prompt_tokens":1}}`, `{"id":"b","choices":[],"usage":{"prompt_tokens":1}}`, false},
		{"a field that no record knows", strings.Replace(text, `"content"`, `"x":1,"content"`, 1), strings.Replace(text, `"content"`, `"x":1,"content"`, 1), false},
		{"a tool call", call, call, false},
		{"an empty list of tool calls", strings.Replace(text, `"content"`, `"tool_calls":[],"content"`, 1), strings.Replace(text, `"content"`, `"tool_calls":[],"content"`, 1), false},
		{"what comes after", text, text + "}", false},
		{"cut off", text, text[:len(text)-1], false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			used := &plain{}
			g := provider.NewGuest(used)
			twice(t, g, tt.before)
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
