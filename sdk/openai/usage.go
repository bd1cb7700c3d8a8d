package openai

import (
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// takeUsage keeps the usage v, where it is one. Servers may repeat it with every
// event, so the last one counts and is written at the end. What it counts beside
// tokens is written where it is new.
func (s *State) takeUsage(v rawjson.Value, p *piece, out *provider.Out) {
	if v.Kind() != rawjson.Object {
		return
	}
	var u provider.Usage
	var more rawjson.Value
	known, first := false, p.counts
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "prompt_tokens", "input_tokens":
			u.Prompt, known = max(u.Prompt, p.tokens(countPrompt, m.Value)), true
		case "completion_tokens", "output_tokens":
			u.Completion, known = max(u.Completion, p.tokens(countCompletion, m.Value)), true
		case "total_tokens":
			u.Total = p.tokens(countTotal, m.Value)
		case "prompt_tokens_details":
			u.Cached = max(u.Cached, p.tokens(countCached, m.Value.Get("cached_tokens")))
			more = appendDetails(more, &m)
		case "prompt_cache_hit_tokens", "cached_tokens":
			u.Cached = max(u.Cached, p.tokens(countCached, m.Value))
		case "completion_tokens_details":
			u.Reasoning = max(u.Reasoning, p.tokens(countReasoning, m.Value.Get("reasoning_tokens")))
			more = appendDetails(more, &m)
		case "reasoning_tokens":
			u.Reasoning = max(u.Reasoning, p.tokens(countReasoning, m.Value))
		default:
			more = appendMember(more, &m)
		}
	}
	if !known {
		p.counts = first
		return
	}
	p.usages++
	s.keepUsage(u)
	if len(more) > 0 {
		p.odd = true
		s.countMore(more, out)
	}
}

// countMore passes on what a usage counts beside tokens, members of an object.
func (s *State) countMore(members []byte, out *provider.Out) {
	object := append(append(rawjson.Value{'{'}, members...), '}')
	if h := hashFrom(hashSeed, object); h != s.Counted {
		s.Counted = h
		out.UsageMembers(s.Usage, object)
	}
}

// appendDetails appends what m, the details of a count, has beside those that are
// known and those that are 0.
func appendDetails(b []byte, m *rawjson.Members) []byte {
	var others []byte
	for it := m.Value.Members(); it.Next(); {
		if !it.KeyIs("cached_tokens") && !it.KeyIs("reasoning_tokens") && string(it.Value) != "0" {
			others = appendMember(others, &it)
		}
	}
	if len(others) == 0 {
		return b
	}
	return appendMember(b, &rawjson.Members{Key: m.Key, Value: append(append(rawjson.Value{'{'}, others...), '}')})
}

// keepUsage keeps what was counted, unless that is nothing, as some servers count at
// the end.
func (s *State) keepUsage(u provider.Usage) {
	if s.HasUsage && u == (provider.Usage{}) {
		return
	}
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	s.Usage, s.HasUsage = u, true
}

// addCount adds to u what stands in a pattern's hole.
func addCount(u *provider.Usage, what uint8, n uint64) {
	switch what {
	case countPrompt:
		u.Prompt = max(u.Prompt, n)
	case countCompletion:
		u.Completion = max(u.Completion, n)
	case countTotal:
		u.Total = n
	case countCached:
		u.Cached = max(u.Cached, n)
	case countReasoning:
		u.Reasoning = max(u.Reasoning, n)
	}
}

// tokens notes a count of a usage and returns it.
func (p *piece) tokens(what uint8, v rawjson.Value) uint64 {
	if !v.IsNull() {
		if p.counts == len(p.count) {
			p.more = true
		} else {
			p.count[p.counts] = found{what, v}
			p.counts++
		}
	}
	return countTokens(v)
}

// countTokens returns v as a number of tokens; what is none is 0.
func countTokens(v rawjson.Value) uint64 {
	n, _ := v.Int()
	return uint64(max(n, 0))
}
