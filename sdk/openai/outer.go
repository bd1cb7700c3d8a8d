package openai

import (
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

// gather adds a member to the object in d.raw, where it says something.
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

// passes reports whether an object differs from what was passed on last.
func (s *State) passes(which int, object rawjson.Value, p *piece) bool {
	if len(object) == 0 {
		return false
	}
	p.outer = true
	h := hash(hashSeed, object)
	if h == s.Outer[which] {
		return false
	}
	s.Outer[which] = h
	return true
}

// passChoice passes on what was gathered of a choice. What is said of its tokens
// is of this one alone.
func (d *Decoder) passChoice(s *State, logprobs rawjson.Value, p *piece, out *provider.Out) {
	choice := d.gathered()
	news := s.passes(outerChoice, choice, p)
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
