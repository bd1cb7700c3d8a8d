package gemini

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
)

// Most events are one text, and counts that grow: those of the next few letters
// fit the pattern of the one before. What has a finish reason, a signature or a
// call is read in full.

// The texts of a pattern, beside its counts.
const (
	textAnswer = countTotal + 1 + iota
	textReasoning
)

// idSize is what a call takes in the memo.
const idSize = 8

// match takes an event that fits the pattern, and reports whether it did.
func (g *Provider) match(s *state, data []byte, out *provider.Out) bool {
	if !s.Pattern.Match(out.Memo[int(s.Calls)*idSize:], data, &g.reading) {
		return false
	}
	var u provider.Usage
	found := g.reading.All()
	for i := range found {
		f := &found[i]
		if f.What <= countTotal {
			addCount(&u, f.What, f.N)
			continue
		}
		s.say(f.What, g.reading.Text(f), out)
	}
	s.keepUsage(u)
	return true
}

// Pattern implements [provider.Patterned]. The pattern stays in the state, for what
// the host says of what it matched.
func (g *Provider) Pattern(s *state, out *provider.Out) {
	if s.Compat {
		g.compat.TellPattern(&s.OpenAI, out)
		return
	}
	if !s.Pattern.Known() {
		return
	}
	told := abi.Pattern{Kind: abi.RecordText, Report: true, Holes: g.holes[:0]}
	text, ok := s.Pattern.Tell(out.Memo[int(s.Calls)*idSize:], 0, &told)
	if !ok {
		return
	}
	if text == textReasoning {
		told.Kind = abi.RecordReasoning
	}
	g.holes = told.Holes
	out.Pattern(&told)
}

// matched takes what the host says of the events that it made the records of.
func (g *Provider) matched(s *state, data []byte) {
	var u provider.Usage
	text, ok := s.Pattern.Matched(data, func(what uint8, n uint64) { addCount(&u, what, n) })
	if !ok {
		return
	}
	s.keepUsage(u)
	if s.Pattern.Has(textAnswer) {
		s.Text += uint32(text)
	}
}

// learn makes the event that was read the pattern, where it can be one.
func (g *Provider) learn(s *state, out *provider.Out) {
	memo := append(g.memo[:0], out.Memo[:int(s.Calls)*idSize]...)
	if memo, ok := g.reading.Learn(&s.Pattern, memo); ok {
		g.memo, out.Memo = memo, memo
	}
}

// forget gives up the pattern, and returns what else is in the memo: the hashes
// of the calls' ids.
func (s *state) forget(out *provider.Out) []byte {
	s.Pattern = pattern.State{}
	return out.Memo[:int(s.Calls)*idSize]
}
