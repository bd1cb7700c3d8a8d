package main

import (
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// finish is a stop reason that was seen and not written yet.
type finish uint8

const (
	finishNone finish = iota
	finishStop
	finishLength
	finishTools
	finishRefusal
)

// finishOf reads a stop reason. end_turn, stop_sequence and pause_turn are
// stops, and so is what is not known: new ones appear, and an answer is an
// answer.
func finishOf(reason []byte) finish {
	switch string(reason) {
	case "":
		return finishNone
	case "max_tokens", "model_context_window_exceeded":
		return finishLength
	case "tool_use":
		return finishTools
	case "refusal":
		return finishRefusal
	}
	return finishStop
}

// word returns OpenAI's word for f, given whether the answer has calls.
func (f finish) word(calls bool) string {
	switch {
	case f == finishLength:
		return "length"
	case f == finishRefusal:
		return "content_filter"
	case calls:
		return "tool_calls"
	}
	return "stop"
}

// takeUsage adds what usage says. It comes twice, at the start and at the end,
// and counts up; servers differ in which of the two has the input.
func (s *state) takeUsage(usage rawjson.Value) {
	input, cached, written := s.Usage.Prompt-s.Usage.Cached-s.Written, s.Usage.Cached, s.Written
	for m := usage.Members(); m.Next(); {
		n, ok := m.Value.Int()
		at := (*uint64)(nil)
		switch string(m.Key) {
		case "input_tokens":
			at = &input
		case "output_tokens":
			at = &s.Usage.Completion
		case "cache_read_input_tokens":
			at = &cached
		case "cache_creation_input_tokens":
			at = &written
		case "output_tokens_details":
			n, ok = m.Value.Get("thinking_tokens").Int()
			at = &s.Usage.Reasoning
		}
		if at != nil && ok && n >= 0 {
			*at = max(*at, uint64(n))
			s.HasUsage = true
		}
	}
	s.Written = written
	s.Usage = provider.Usage{
		Prompt: input + cached + written, Completion: s.Usage.Completion,
		Cached: cached, Reasoning: s.Usage.Reasoning,
	}
	s.Usage.Total = s.Usage.Prompt + s.Usage.Completion
}
