package main

import (
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestPatternTold: the host makes the records of a block's deltas, unless the
// answer's blocks are carried.
func TestPatternTold(t *testing.T) {
	const (
		begin     = `{"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":9}}}`
		text      = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		delta     = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One"}}`
		spaced    = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" \u00e9"}   }`
		more      = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One"},"more":1}`
		stop      = `{"type":"content_block_stop","index":0}`
		tool      = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}`
		arguments = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"[]"}}`
		thinking  = `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
		thought   = `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`
		end       = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}`
	)
	for _, tt := range []struct {
		name    string
		matched int
		events  []string
	}{
		{"text", 3, []string{begin, text, delta, delta, spaced, delta, stop, end}},
		{"another member", 2, []string{begin, text, delta, delta, more, delta, more, delta, delta, stop, end}},
		{"arguments", 2, []string{begin, tool, arguments, arguments, arguments, stop, end}},
		{"carried", 0, []string{begin, thinking, thought, thought, thought, stop, end}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for typ, matched := range map[string]int{deltaEvent: tt.matched, "": tt.matched, "chunk": 0} {
				var events []abi.Event
				for _, data := range tt.events {
					events = append(events, abi.Event{Type: typ, Data: []byte(data)})
				}
				plugintest.RunPatterns(t, plugintest.New(&anthropic{}), matched, events...)
			}
		})
	}
}
