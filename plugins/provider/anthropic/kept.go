package main

import (
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// The events before a block's second piece look as they did in the stream
// before, but for ids, counts and the piece. So they are kept as patterns by the
// instance, all but those about tools.

// What such a pattern has in its holes.
const (
	countInput = uint8(1 + iota)
	countOutput
	countCached
	countWritten
	countThinking
	foundIndex
	foundID
	foundModel
	foundText
	foundSignature
)

// The kinds of such events.
const (
	kindMessage = uint8(iota)
	kindText
	kindThinking
	kindTextDelta
	kindThinkingDelta
)

// recall takes an event that fits a pattern which the instance keeps, and
// reports whether it did.
func (p *anthropic) recall(s *state, data []byte, out *provider.Out) bool {
	r := &p.reading
	if !p.kept.Match(data, r) {
		return false
	}
	var id, model, text, signature rawjson.Value
	found := r.All()
	for i := range found {
		switch f := &found[i]; f.What {
		case foundIndex:
		case foundID:
			id = r.Value(f)
		case foundModel:
			model = r.Value(f)
		case foundText:
			text = r.Value(f)
		case foundSignature:
			signature = r.Value(f)
		default:
			s.count(f.What, int64(f.N))
		}
	}
	switch r.Kind {
	case kindMessage:
		s.name(id, model, out)
	case kindText:
		p.textStart(s, text, out)
	case kindThinking:
		p.thinkingStart(s, text, signature, out)
	case kindTextDelta:
		p.textDelta(s, text, data, out)
	case kindThinkingDelta:
		p.thinkingDelta(s, text, data, out)
	}
	return true
}

// remember has the instance keep the event that was read.
func (p *anthropic) remember(kind uint8) {
	p.reading.Kind = kind
	p.kept.Keep(&p.reading)
}
