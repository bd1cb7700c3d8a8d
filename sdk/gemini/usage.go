package gemini

import (
	"strconv"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// The counts of an event's usageMetadata.
const (
	countPrompt = uint8(1 + iota)
	countAnswer
	countThoughts
	countCached
	countTotal
)

// countOf says what a member of usageMetadata counts, 0 where it is none of
// ours.
func countOf(key []byte) uint8 {
	switch string(key) {
	case "promptTokenCount", "toolUsePromptTokenCount":
		return countPrompt
	case "candidatesTokenCount":
		return countAnswer
	case "thoughtsTokenCount":
		return countThoughts
	case "cachedContentTokenCount":
		return countCached
	case "totalTokenCount":
		return countTotal
	}
	return 0
}

// addCount adds a count to u.
func addCount(u *provider.Usage, what uint8, n uint64) {
	switch what {
	case countPrompt:
		u.Prompt += n
	case countAnswer:
		u.Completion += n
	case countThoughts:
		u.Reasoning = n
		u.Completion += n
	case countCached:
		u.Cached = n
	case countTotal:
		u.Total = n
	}
}

// takeUsage takes the counts of an event.
func (g *Provider) takeUsage(s *state, v rawjson.Value) {
	var u provider.Usage
	for m := v.Members(); m.Next(); {
		if what := countOf(m.Key); what != 0 {
			addCount(&u, what, countTokens(m.Value))
			g.reading.Number(what, m.Value)
			g.whole.Number(what, m.Value)
		}
		for it := m.Value.Items(); it.Next(); {
			g.modality(s, &m, it.Value)
		}
	}
	s.keepUsage(u)
}

// modality takes a count by modality of the member m: of the prompt's tokens, or of the
// answer's.
func (g *Provider) modality(s *state, m *rawjson.Members, v rawjson.Value) {
	n, modality := v.Get("tokenCount"), v.Get("modality")
	if modality.Is("TEXT") {
		g.whole.Vary(foundDetail, n)
		return
	}
	g.whole.Spoil()
	side := 0
	switch {
	case m.KeyIs("promptTokensDetails"):
	case m.KeyIs("candidatesTokensDetails"):
		side = 1
	default:
		return
	}
	switch tokens := uint32(countTokens(n)); {
	case modality.Is("AUDIO"):
		s.Audio[side] = tokens
	case modality.Is("IMAGE"):
		s.Images[side] = tokens
	}
}

// countTokens returns v as a number of tokens; what is none is 0.
func countTokens(v rawjson.Value) uint64 {
	n, _ := v.Int()
	return uint64(max(n, 0))
}

// keepUsage keeps the counts of an event: they grow, and the last ones count.
func (s *state) keepUsage(u provider.Usage) {
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	if u.Total > 0 {
		s.Usage, s.HasUsage = u, true
	}
}

func (s *state) usage(out *provider.Out) {
	if !s.HasUsage {
		return
	}
	if s.Audio == [2]uint32{} && s.Images == [2]uint32{} {
		out.Usage(s.Usage)
		return
	}
	b := rawjson.Value{'{'}
	for side, name := range [...]string{"prompt_tokens_details", "completion_tokens_details"} {
		if side > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), `":{"audio_tokens":`...)
		b = strconv.AppendUint(b, uint64(s.Audio[side]), 10)
		b = strconv.AppendUint(append(b, `,"image_tokens":`...), uint64(s.Images[side]), 10)
		b = append(b, '}')
	}
	out.UsageMembers(s.Usage, append(b, '}'))
}
