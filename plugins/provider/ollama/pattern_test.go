package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

const (
	wordLine  = `{"model":"m","created_at":"2026-01-01T00:00:00.1Z","message":{"role":"assistant","content":"Hi"},"done":false}`
	thinkLine = `{"model":"m","created_at":"2026-01-01T00:00:00.1Z","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}`
	callLine  = `{"model":"m","created_at":"2026-01-01T00:00:00.1Z","message":{"role":"assistant","content":"a","tool_calls":[{"function":{"name":"f","arguments":{"q":1}}}]},"done":false}`
	endLine   = `{"model":"m","created_at":"t","message":{"role":"assistant","content":"."},"done":true,"done_reason":"stop","eval_count":4}`
)

// TestPattern: the host makes the records of lines of one text, whenever they were
// made.
func TestPattern(t *testing.T) {
	later := func(s string) string { return strings.Replace(s, "00.1Z", "00.25Z", 1) }
	for _, tt := range []struct {
		name    string
		matched int
		lines   []string
	}{
		{"text", 3, []string{wordLine, later(wordLine), strings.Replace(wordLine, "Hi", "", 1), strings.Replace(wordLine, "Hi", `\n`, 1), endLine}},
		{"thinking, then text", 2, []string{thinkLine, later(thinkLine), wordLine, later(wordLine), endLine}},
		{"both", 0, []string{strings.Replace(thinkLine, `"content":""`, `"content":"a"`, 1), strings.Replace(thinkLine, `"content":""`, `"content":"a"`, 1), endLine}},
		{"calls", 0, []string{callLine, callLine, callLine, endLine}},
		{"the end twice", 0, []string{endLine, endLine}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events []abi.Event
			for _, line := range tt.lines {
				events = append(events, abi.Event{Data: []byte(line)})
			}
			plugintest.RunPatterns(t, plugintest.New(&ollama{}), tt.matched, events...)
		})
	}
}

func TestPatternsAlike(t *testing.T) {
	var events []abi.Event
	for _, line := range []string{wordLine, thinkLine, callLine} {
		events = append(events, abi.Event{Data: []byte(line)})
	}
	plugintest.RunAlike(t, plugintest.New(&ollama{}), plugintest.New(&ollama{}), nil, events, []abi.Event{{Data: []byte(endLine)}})
}
