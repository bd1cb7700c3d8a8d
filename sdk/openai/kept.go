package openai

import (
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A stream has a pattern of its own from its first text on. The events before
// that look as they did in the stream before, and a server that gives each event
// its own time sends no two that are alike. So an event of which nothing
// mattered but a text at most is kept as a pattern by the instance, too, with
// holes for what differs from stream to stream.

// What such a pattern has in its holes, beside a text.
const (
	foundTime = uint8(0x10 + iota)
	foundID
	foundModel
	foundPadding
)

// recall takes an event that fits a pattern which the instance keeps, and
// reports whether it did.
func (d *Decoder) recall(s *State, data []byte, out *provider.Out) bool {
	if !d.kept.Match(data, &d.reading) {
		return false
	}
	p := piece{doc: data}
	var text *pattern.Found
	found := d.reading.All()
	for i := range found {
		switch f := &found[i]; f.What {
		case foundTime:
		case foundID:
			p.id = d.reading.Value(f)
		case foundModel:
			p.model = d.reading.Value(f)
		case foundPadding:
			p.free = d.reading.Value(f)
		default:
			text = f
		}
	}
	d.name(s, &p, out)
	if text != nil {
		d.text(text.What, d.reading.Value(text), &p, out)
	}
	d.read(s, &p, int(d.reading.Kind), out)
	return true
}

// remember has the instance keep an event that had so many choices.
func (d *Decoder) remember(p *piece, choices int) {
	if p.more || p.outer || p.called || !named(p.id) || !named(p.model) {
		return
	}
	r := &d.reading
	r.Begin(p.doc)
	r.Kind = uint8(min(choices, 2)) // one, or not one
	r.Vary(foundTime, p.time)
	r.Vary(foundID, p.id)
	r.Vary(foundModel, p.model)
	r.Vary(foundPadding, p.free)
	r.Vary(p.what, p.text)
	d.kept.Keep(r)
}

// named reports whether v is a name, or absent.
func named(v rawjson.Value) bool { return len(v) == 0 || v.Kind() == rawjson.String }
