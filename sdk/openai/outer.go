package openai

import (
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Servers say more of a chunk than what the deltas come to: service_tier,
// system_fingerprint, citations, timings; and of its choice: logprobs, results of
// content filters. Most of it is the same in each event, so that it is passed on
// where it differs from what was passed on last. An event that is like one before
// then says nothing new here.

// The indexes of [State.Outer].
const (
	outerChunk = iota
	outerChoice
)

// gather adds a member to the object in d.raw, where it says something. What is
// not inlined here would cost, in a guest, by the function that it stands in.
//
//go:noinline
func (d *Decoder) gather(m *rawjson.Members) {
	if m.Value.IsNull() {
		return
	}
	if len(d.raw) > 1 {
		d.raw = append(d.raw, ',')
	}
	d.raw = append(append(append(d.raw, '"'), m.Key...), '"', ':')
	d.raw = append(d.raw, m.Value...)
}

// gathered is the object of what was gathered; none where that is nothing.
func (d *Decoder) gathered() rawjson.Value {
	if len(d.raw) == 1 {
		return nil
	}
	d.raw = append(d.raw, '}')
	return d.raw
}

// around notes a member of the chunk that is passed on: a pattern has holes for
// strings alone.
func (p *piece) around(m *rawjson.Members) {
	if m.Value.IsNull() {
		return
	}
	n := len(m.Key)
	at := rawjson.Offset(p.doc, m.Key) + n
	if p.members == len(p.member) || m.Value.Kind() != rawjson.String || n > maxKey ||
		at+2 != rawjson.Offset(p.doc, m.Value) {
		p.odd = true
		return
	}
	p.member[p.members] = found{foundMember + uint8(n), m.Value}
	p.members++
}

// gatherFound adds to the object in d.raw the member of a chunk whose value fits
// a pattern.
//
//go:noinline
func (d *Decoder) gatherFound(doc []byte, f *pattern.Found) {
	v := d.reading.Value(f)
	to := rawjson.Offset(doc, v)
	from := to - int(f.What-foundMember) - len(`"":`)
	if len(d.raw) > 1 {
		d.raw = append(d.raw, ',')
	}
	d.raw = append(d.raw, doc[from:to+len(v)]...)
}

// passes reports whether an object differs from what was passed on last.
func (s *State) passes(which int, object rawjson.Value) bool {
	if len(object) == 0 {
		return false
	}
	h := hashFrom(hashSeed, object)
	if h == s.Outer[which] {
		return false
	}
	s.Outer[which] = h
	s.Pattern = patternState{} // whose events had the other one around them
	return true
}

// passChunk passes on what was gathered of the chunk.
func (d *Decoder) passChunk(s *State, out *provider.Out) {
	if chunk := d.gathered(); s.passes(outerChunk, chunk) {
		out.Outer(chunk, nil)
	}
}

// passChoice passes on what was gathered of a choice. What is said of its tokens
// is of this one alone.
func (d *Decoder) passChoice(s *State, logprobs rawjson.Value, p *piece, out *provider.Out) {
	choice := d.gathered()
	p.choice = len(choice) > 0
	news := s.passes(outerChoice, choice)
	if !logprobs.IsNull() {
		p.more = true
		if !news {
			d.raw = append(d.raw[:0], '{')
		} else {
			d.raw[len(d.raw)-1] = ','
		}
		d.raw = append(append(append(d.raw, `"logprobs":`...), logprobs...), '}')
		choice, news = d.raw, true
	}
	if news {
		out.Outer(nil, choice)
	}
}
