package main

import "github.com/parley-search/parley/sdk/rawjson"

// countOf says what a member of usage counts, 0 where it is none of ours.
func countOf(key []byte) uint8 {
	switch string(key) {
	case "input_tokens":
		return countInput
	case "output_tokens":
		return countOutput
	case "cache_read_input_tokens":
		return countCached
	case "cache_creation_input_tokens":
		return countWritten
	case "output_tokens_details":
		return countThinking
	}
	return 0
}

// takeUsage adds what usage says. It comes twice, at the start and at the end,
// and counts up; servers differ in which of the two has the input.
func (p *anthropic) takeUsage(s *state, usage rawjson.Value) {
	for m := usage.Members(); m.Next(); {
		what, v := countOf(m.Key), m.Value
		if what == countThinking {
			v = v.Get("thinking_tokens")
		}
		if n, ok := v.Int(); what != 0 && ok {
			p.reading.Number(what, v)
			s.count(what, n)
		}
	}
}

// count takes one count.
func (s *state) count(what uint8, n int64) {
	if n < 0 {
		return
	}
	s.HasUsage = true
	u := &s.Usage
	input, tokens := u.Prompt-u.Cached-s.Written, uint64(n)
	switch what {
	case countInput:
		input = max(input, tokens)
	case countOutput:
		u.Completion = max(u.Completion, tokens)
	case countCached:
		u.Cached = max(u.Cached, tokens)
	case countWritten:
		s.Written = max(s.Written, tokens)
	case countThinking:
		u.Reasoning = max(u.Reasoning, tokens)
	}
	u.Prompt = input + u.Cached + s.Written
	u.Total = u.Prompt + u.Completion
}
