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
	countPrompt // a count of a usage, this and on
	countCompletion
	countTotal
	countCached
	countReasoning

	// A member of the chunk that is passed on: this, and how long its key is.
	foundMember = 0x40
	maxKey      = 0xff - foundMember
)

// The Kind of such a pattern: how many choices the event has, one or not one, and
// its finish reason above.
const (
	kindChoices = 0x03
	kindFinish  = 2 // bits to the right of it
)

// recall takes an event that fits a pattern which the instance keeps, and
// reports whether it did.
func (d *Decoder) recall(s *State, typed bool, data []byte, out *provider.Out) bool {
	if !d.kept.Match(data, &d.reading) {
		return false
	}
	var r recalled
	r.doc, r.typed, r.finish = data, typed, finish(d.reading.Kind>>kindFinish)
	d.raw = append(d.raw[:0], '{')
	found := d.reading.All()
	for i := range found {
		d.sort(&r, &found[i])
	}
	d.passChunk(s, out)
	d.name(s, &r.piece, out)
	if r.usages > 0 {
		s.keepUsage(r.usage)
	}
	if r.string != nil {
		v := d.reading.Value(r.string)
		if !d.text(s, r.string.What, v, &r.piece, out) && r.string.What == textReasoning && s.isFirstEmpty() {
			out.Extra(rawjson.Value(`{"reasoning_content":""}`))
		}
	}
	if r.finish != finishNone {
		s.Finish = r.finish
	}
	d.read(s, &r.piece, int(d.reading.Kind&kindChoices), out)
	return true
}

// A recalled event is one that fits a pattern.
type recalled struct {
	piece
	string *pattern.Found // the text; nil: none
	usage  provider.Usage
}

// sort puts what was found in its place.
func (d *Decoder) sort(r *recalled, f *pattern.Found) {
	switch f.What {
	case foundTime:
	case foundID:
		r.id = d.reading.Value(f)
	case foundModel:
		r.model = d.reading.Value(f)
	case foundPadding:
		r.free = d.reading.Value(f)
	case countPrompt, countCompletion, countTotal, countCached, countReasoning:
		addCount(&r.usage, f.What, f.N)
		r.usages = 1
	case textAnswer, textReasoning, textRefusal, textReasoningShort, textThinking:
		r.string = f
	default:
		d.gatherFound(r.doc, f)
	}
}

// remember has the instance keep an event that had so many choices.
func (d *Decoder) remember(p *piece, choices int) {
	if p.more || p.choice || p.odd || p.called || p.usages > 1 || !isName(p.id) || !isName(p.model) {
		return
	}
	r := &d.reading
	r.Begin(p.doc)
	r.Kind = uint8(min(choices, 2)) | uint8(p.finish)<<kindFinish
	r.Vary(foundTime, p.time)
	r.Vary(foundID, p.id)
	r.Vary(foundModel, p.model)
	r.Vary(foundPadding, p.free)
	for i := range p.member[:p.members] {
		r.String(p.member[i].what, p.member[i].value)
	}
	for i := range p.count[:p.counts] {
		r.Number(p.count[i].what, p.count[i].value)
	}
	r.Vary(p.what, p.text)
	d.kept.Keep(r)
}

// isName reports whether v is a name, or absent.
func isName(v rawjson.Value) bool { return len(v) == 0 || v.Kind() == rawjson.String }
