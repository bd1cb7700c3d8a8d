package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

const (
	wordEvent  = `{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hi"}}}}`
	thinkEvent = `{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"Hm"}}}}`
	planEvent  = `{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I will"}}}`
	endEvent   = `{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":1,"output_tokens":2}}}}`
)

// TestPattern: the host makes the records of deltas of one text.
func TestPattern(t *testing.T) {
	word := func(text string) string { return strings.Replace(wordEvent, "Hi", text, 1) }
	for _, tt := range []struct {
		name    string
		matched int
		events  []string
	}{
		{"text", 3, []string{wordEvent, word(" there"), word(""), word(`\"`), endEvent}},
		{"thinking, then text", 2, []string{thinkEvent, thinkEvent, wordEvent, wordEvent, endEvent}},
		{"both", 0, []string{word(`a","thinking":"b`), word(`a","thinking":"b`), endEvent}},
		{"a plan, which is carried", 0, []string{planEvent, planEvent, endEvent}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, typ := range []string{"", "content-delta"} {
				var events []abi.Event
				for _, data := range tt.events {
					events = append(events, abi.Event{Type: typ, Data: []byte(data)})
				}
				plugintest.RunPatterns(t, plugintest.New(&cohere{}), tt.matched, events...)
			}
		})
	}
}

func TestPatternsAlike(t *testing.T) {
	var events []abi.Event
	for _, data := range []string{wordEvent, thinkEvent, planEvent, `{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}`} {
		events = append(events, abi.Event{Data: []byte(data)})
	}
	plugintest.RunAlike(t, plugintest.New(&cohere{}), plugintest.New(&cohere{}), nil, events, []abi.Event{{Data: []byte(endEvent)}})
}
