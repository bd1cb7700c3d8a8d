package main

import (
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) {
	plugintest.RunCases(t, plugintest.New(&anthropic{}), "testdata")
}

func TestRecordings(t *testing.T) {
	plugintest.RunCorpus(t, plugintest.New(&anthropic{}), "anthropic")
}

// TestCancelled ends a response from outside: it cost something, and neither
// finished nor failed.
func TestCancelled(t *testing.T) {
	for _, events := range [][]abi.Event{
		nil,
		{{Data: []byte(`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`)}},
		{{Data: []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`)}},
	} {
		s := plugintest.New(&anthropic{}).Stream()
		if err := s.Decode(0, events...); err != nil {
			t.Fatal(err)
		}
		if err := s.Decode(abi.FlagLast | abi.FlagCancelled); err != nil {
			t.Fatal(err)
		}
		if s.FinishReason != nil || s.Error != nil || (s.Usage != nil) != (events != nil) {
			t.Errorf("after %d events: finish %v, error %v, usage %v", len(events), s.FinishReason, s.Error, s.Usage)
		}
	}
}

// TestCutAnywhere cuts each case after every byte of its end and after every
// event: it finishes or fails, and no rule is broken.
func TestCutAnywhere(t *testing.T) {
	cases, err := response.ReadCases("testdata")
	if err != nil {
		t.Fatal(err)
	}
	d := plugintest.New(&anthropic{})
	for _, c := range cases {
		if c.Kind != "stream" || len(c.Body) > 8<<10 {
			continue
		}
		for end := range len(c.Body) {
			if c.Body[end] != '\n' && end < len(c.Body)-100 {
				continue
			}
			s, err := d.Run(c.Body[:end])
			if err != nil {
				t.Fatalf("%s cut at %d: %v", c.Name, end, err)
			}
			if (s.FinishReason == nil) == (s.Error == nil) || len(s.Broken) > 0 {
				t.Errorf("%s cut at %d: finish %v, error %v, broken %v", c.Name, end, s.FinishReason, s.Error, s.Broken)
			}
		}
	}
}
