package gemini

import (
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// The first event of a stream and its last one look as they did in the stream
// before, but for names, counts and texts. So events without a call or a signature
// are kept as patterns by the instance, with holes for those.

// What such a pattern has in its holes, beside counts and texts.
const (
	foundID = textReasoning + 1 + iota
	foundModel
	foundDetail // a count that does not matter
)

// The Kind of such a pattern: its finish, and whether it said anything.
const (
	kindFinish = 0x07
	kindSeen   = 0x08
)

// recall takes an event that fits a pattern which the instance keeps, and reports
// whether it did.
func (g *Provider) recall(s *state, data []byte, out *provider.Out) bool {
	r := &g.whole
	if !g.kept.Match(data, r) {
		return false
	}
	var u provider.Usage
	var id, model rawjson.Value
	g.reading.Begin(data)
	found := r.All()
	for i := range found {
		switch f := &found[i]; f.What {
		case foundID:
			id = r.Value(f)
		case foundModel:
			model = r.Value(f)
		case foundDetail:
		case textAnswer, textReasoning:
			g.reading.String(f.What, r.Value(f))
		default:
			addCount(&u, f.What, f.N)
			g.reading.Number(f.What, r.Digits(f))
		}
	}
	s.keepUsage(u)
	s.Seen = s.Seen || r.Kind&kindSeen != 0
	s.name(id, model, out)
	for i := range found {
		if f := &found[i]; f.What == textAnswer || f.What == textReasoning {
			s.say(f.What, r.Text(f), out)
		}
	}
	if why := finish(r.Kind & kindFinish); why != finishNone {
		s.Finish = why
	} else {
		g.learn(s, out)
	}
	return true
}

// remember has the instance keep an event that was read.
func (g *Provider) remember(id, model rawjson.Value, seen bool) {
	r := &g.whole
	g.whole.StringIfAny(foundID, id)
	g.whole.StringIfAny(foundModel, model)
	if seen {
		r.Kind |= kindSeen
	}
	g.kept.Keep(r)
}

// spoil says that an event held what no pattern has a word for.
func (g *Provider) spoil() {
	g.reading.Spoil()
	g.whole.Spoil()
}
