package main

import (
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/plugintest"
)

var startEvents = []string{
	`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":7,"cache_read_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":7},"output_tokens":1,"output_tokens_details":{"thinking_tokens":3}}}}`,
	`{"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":9,"cache_read_input_tokens":null}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"One"}}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
	`{"type":"content_block_stop","index":2}`,
}

// TestKeptAlike holds what comes of events that fit a pattern to reading them in
// full.
func TestKeptAlike(t *testing.T) {
	var events []abi.Event
	for _, data := range startEvents {
		events = append(events, abi.Event{Data: []byte(data)})
	}
	end := []abi.Event{{Data: []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}`)}}
	plugintest.RunAlike(t, plugintest.New(&anthropic{}), plugintest.New(&plain{}), nil, events, end)
}

// TestKept: of the events that begin a stream, those that are not about tools
// are read in full twice.
func TestKept(t *testing.T) {
	p := &anthropic{}
	for range 2 { // the first of its form is not kept
		s := plugintest.New(p).Stream()
		for _, data := range startEvents {
			if err := s.Decode(0, abi.Event{Data: []byte(data)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []bool{true, true, true, true, false, true, true, false, false, false}
	for i, data := range startEvents {
		var r pattern.Reading
		if got := p.kept.Match([]byte(data), &r); got != want[i] {
			t.Errorf("%s is kept: %v, want %v", data, got, want[i])
		}
	}
}
