package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

const (
	textDelta    = `{"contentBlockIndex":1,"delta":{"text":"Hi"},"p":"abcd"}`
	thoughtDelta = `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm"}},"p":"ab"}`
	inputDelta   = `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{}"}},"p":"ab"}`
)

// TestPattern: the host makes the records of deltas of text; reasoning and calls
// leave more in the state.
func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		name    string
		matched int
		deltas  []string
	}{
		{"text", 3, []string{textDelta, strings.Replace(textDelta, "abcd", "", 1), strings.Replace(textDelta, "Hi", `\n`, 1), strings.Replace(textDelta, "Hi", "", 1)}},
		{"reasoning, then text", 1, []string{thoughtDelta, thoughtDelta, textDelta, textDelta}},
		{"arguments", 0, []string{inputDelta, inputDelta}},
		{"text beside a call", 0, []string{strings.Replace(textDelta, `"text"`, `"toolUse":{},"text"`, 1), strings.Replace(textDelta, `"text"`, `"toolUse":{},"text"`, 1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := []abi.Event{{Type: "contentBlockStart", Data: []byte(`{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}`)}}
			for _, data := range tt.deltas {
				events = append(events, abi.Event{Type: "contentBlockDelta", Data: []byte(data)})
			}
			events = append(events, abi.Event{Type: "messageStop", Data: []byte(`{"stopReason":"end_turn"}`)})
			plugintest.RunPatterns(t, plugintest.New(&bedrock{}), tt.matched, events...)
		})
	}
}

func TestPatternsAlike(t *testing.T) {
	var events []abi.Event
	for _, data := range []string{textDelta, thoughtDelta, inputDelta} {
		events = append(events, abi.Event{Type: "contentBlockDelta", Data: []byte(data)})
	}
	end := []abi.Event{{Type: "messageStop", Data: []byte(`{"stopReason":"end_turn"}`)}}
	plugintest.RunAlike(t, plugintest.New(&bedrock{}), plugintest.New(&bedrock{}), nil, events, end)
}
