package main

import (
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestBadStreams(t *testing.T) {
	own := map[string]abi.Event{}
	for name, data := range map[string]string{
		"a message of wrong types":   `{"type":"message_start","message":{"id":5,"model":[],"usage":"x","content":{}}}`,
		"a block of no kind":         `{"type":"content_block_start","index":"x","content_block":{"type":9}}`,
		"a block made up":            `{"type":"content_block_start","index":900,"content_block":{"type":"made_up","text":1}}`,
		"a call without anything":    `{"type":"content_block_start","index":3,"content_block":{"type":"tool_use"}}`,
		"a delta without a block":    `{"type":"content_block_delta","index":77,"delta":{"type":"input_json_delta","partial_json":"{\"a"}}`,
		"a delta of wrong types":     `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":{"a":1}}}`,
		"a signature without a text": `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":7}}`,
		"a stop made up":             `{"type":"message_delta","delta":{"stop_reason":"made_up"},"usage":{"output_tokens":-1}}`,
		"an end in the middle":       `{"type":"message_stop"}`,
		"an error of wrong types":    `{"type":"error","error":[1]}`,
		"an event made up":           `{"type":"made_up","index":{}}`,
	} {
		own[name] = abi.Event{Data: []byte(data)}
	}
	plugintest.RunBad(t, plugintest.New(&anthropic{}), "testdata", own)
}
