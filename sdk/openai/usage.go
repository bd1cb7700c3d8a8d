package openai

import (
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// takeUsage keeps the usage v and reports whether it is one. Servers may repeat
// it with every event, so the last one counts and is written at the end.
func (s *State) takeUsage(v rawjson.Value) bool {
	if v.Kind() != rawjson.Object {
		return false
	}
	var u provider.Usage
	known := false
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "prompt_tokens":
			u.Prompt, known = count(m.Value), true
		case "completion_tokens":
			u.Completion, known = count(m.Value), true
		case "total_tokens":
			u.Total = count(m.Value)
		case "prompt_tokens_details":
			u.Cached = max(u.Cached, count(m.Value.Get("cached_tokens")))
		case "prompt_cache_hit_tokens", "cached_tokens":
			u.Cached = max(u.Cached, count(m.Value))
		case "completion_tokens_details":
			u.Reasoning = max(u.Reasoning, count(m.Value.Get("reasoning_tokens")))
		case "reasoning_tokens":
			u.Reasoning = max(u.Reasoning, count(m.Value))
		}
	}
	if !known {
		return false
	}
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	s.Usage, s.HasUsage = u, true
	return true
}

// count returns v as a number of tokens; what is none is 0.
func count(v rawjson.Value) uint64 {
	n, _ := v.Int()
	return uint64(max(n, 0))
}
