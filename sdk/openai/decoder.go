package openai

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// State is what a [Decoder] carries from call to call.
type State struct {
	Usage    provider.Usage
	Response uint32 // a hash of the response's id, for ids that we make up
	Calls    uint16 // tool calls so far; their entries begin the memo
	Pending  uint16 // bytes of the memo behind them: the call that is not opened yet
	Pattern  patternState
	Finish   finish
	Named    bool      // the Response record is out
	Seen     bool      // an event with a choice, a usage or an id has come
	Outer    [2]uint32 // hashes of the members last passed on of the chunk, and of its choice
	Counted  uint32    // a hash of what else was counted last
	HasUsage bool
	Filtered bool // a filter that looks on while the answer streams struck
	Done     bool // [DONE] has come, or the end was written
	Odd      provider.Unreadable
	Names    uint8 // under which there was reasoning: bits by what it is
	Empty    bool  // reasoning_content came with nothing in it
	Tags     Tags
	Twice    bool // the reasoning between them came under a name of its own, too
}

// A Decoder decodes the stream of an API that is shaped as OpenAI's chat
// completions. The zero value is ready; it holds scratch memory, so keep one
// in the provider's value.
//
// It takes what servers of that shape are known to send: tool calls whole or
// in pieces, with or without index and id; reasoning under either name;
// content as a list of parts; usage in odd places; errors in every form; a
// whole completion instead of a stream; no [DONE].
type Decoder struct {
	scratch []byte // unescaped text
	raw     []byte // JSON under construction
	memo    []byte
	calls   []call
	pending pendingCall
	reading pattern.Reading
	kept    pattern.Kept
	full    bool // read every event in full: what tests hold patterns against
}

// Decode is a provider's Decode.
func (d *Decoder) Decode(s *State, e provider.Event, out *provider.Out) error {
	if e.End {
		return d.end(s, e.Cancelled, out)
	}
	if s.Done {
		return nil
	}
	if string(e.Data) == "[DONE]" {
		return d.done(s, out)
	}
	if string(e.Type) != "error" && len(e.Data) > 0 && e.Data[0] == '{' &&
		(s.Pattern.Head > 0 && d.match(s, e.Data, out) || d.recall(s, len(e.Type) > 0, e.Data, out)) {
		return nil
	}
	return d.decode(s, e, out)
}

// decode reads an event that is like none before.
func (d *Decoder) decode(s *State, e provider.Event, out *provider.Out) error {
	var c chunk
	c.doc, c.typed, c.failed = e.Data, len(e.Type) > 0, string(e.Type) == "error"
	d.raw = append(d.raw[:0], '{')
	m := rawjson.Check(e.Data)
	for m.Next() {
		d.member(&c, &m.Members)
	}
	if !m.OK() || c.failed || len(c.choices) == 0 && len(c.usage) == 0 {
		v, ok := rawjson.Parse(e.Data)
		switch {
		case !ok:
			if rest, mended := mend(e.Data); mended {
				return d.lines(s, e.Type, rest, out)
			}
			return d.notJSON(s, e, out)
		case v.Kind() == rawjson.Array:
			v = firstOf(v)
			if isFailed(v.Get("error")) {
				return eventError(v)
			}
			return nil
		case c.failed || flatError(v):
			return eventError(v)
		case v.Kind() != rawjson.Object:
			return nil // a keep-alive
		}
		if inner := v.Get("data"); !inner.Get("choices").IsNull() { // a gateway put it into an object of its own
			return d.decode(s, provider.Event{Type: e.Type, Data: inner}, out)
		}
	}
	d.passChunk(s, out)
	d.name(s, &c.piece, out)
	s.takeUsage(c.usage, &c.piece, out)
	n := 0
	if c.choices.Kind() == rawjson.Object { // one, without a list around it
		c.piece.more = true
		if err := d.choice(s, c.choices, &c.piece, out); err != nil {
			return err
		}
		n++
	}
	for it := c.choices.Items(); it.Next(); n++ {
		if err := d.choice(s, it.Value, &c.piece, out); err != nil {
			return err
		}
	}
	d.read(s, &c.piece, n, out)
	if !d.full {
		d.remember(&c.piece, n)
	}
	return nil
}

// A chunk is an event that is read in full.
type chunk struct {
	piece
	choices, usage rawjson.Value
	failed         bool // it is an error
}

// member takes a member of c.
func (d *Decoder) member(c *chunk, m *rawjson.Members) {
	switch string(m.Key) {
	case "id":
		c.id = m.Value
	case "created":
		c.time = m.Value
	case "model":
		c.model = m.Value
	case "choices":
		c.choices = m.Value
	case "usage":
		c.usage = m.Value
	case "object":
	case "x_groq":
		if c.usage.IsNull() {
			c.usage = m.Value.Get("usage")
		}
	case "base_resp": // MiniMax's: an error unless its code is 0
		c.failed = c.failed || isCode(m.Value.Get("status_code"))
	case "obfuscation", "p": // padding: its value never matters
		c.free = m.Value
	case "error":
		c.failed = c.failed || isFailed(m.Value)
	default:
		d.gather(m)
		c.around(m)
	}
}

// read ends the reading of an event that had so many choices.
func (d *Decoder) read(s *State, p *piece, choices int, out *provider.Out) {
	s.Seen = s.Seen || choices > 0
	if p.simple() && choices == 1 && !d.full {
		d.learn(s, p, out)
	}
}

// name writes the Response record, once there is something to say.
func (d *Decoder) name(s *State, p *piece, out *provider.Out) {
	if s.Named || len(p.id) <= 2 && len(p.model) <= 2 {
		return
	}
	s.Named, s.Seen = true, true
	s.Response = hashFrom(hashSeed, p.id)
	id, _ := p.id.Text()
	model, _ := p.model.Text()
	out.Response(guestmem.StringOf(id), guestmem.StringOf(model))
}

// choice takes the one choice of an event.
func (d *Decoder) choice(s *State, v rawjson.Value, p *piece, out *provider.Out) error {
	var delta, message, reason, logprobs, text rawjson.Value
	d.raw = append(d.raw[:0], '{')
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "index":
			if i, ok := m.Value.Int(); ok && i != 0 {
				return nil // n is 1; a second choice is nobody's
			}
		case "delta":
			delta = m.Value
		case "message":
			message = m.Value
		case "text": // of an API without chats
			text = m.Value
		case "finish_reason", "finishReason": // some have both, one of them null
			if !m.Value.IsNull() {
				reason = m.Value
			}
		case "usage":
			s.takeUsage(m.Value, p, out)
		case "content_filter_results":
			if isFiltered(m.Value) {
				s.Filtered, p.more = true, true
			}
			d.gather(&m)
		case "logprobs":
			logprobs = m.Value
		case "error":
			if isFailed(m.Value) {
				return eventError(v)
			}
		default:
			d.gather(&m)
		}
	}
	d.passChoice(s, logprobs, p, out)
	if delta.IsNull() {
		delta = message // a whole completion
	}
	if delta.IsNull() && !text.IsNull() {
		d.text(s, textAnswer, text, p, out)
	}
	if err := d.delta(s, delta, p, out); err != nil {
		return err
	}
	if !reason.IsNull() {
		text, _ := reason.Text()
		if f := finishOf(text); f != finishNone {
			s.Finish, p.finish = f, f
			if f == finishUnknown {
				p.more = true
				out.NativeFinish(string(text))
			}
		}
	}
	return nil
}

// isFiltered reports whether one of the filters in v, Azure's results by filter,
// took the answer away. Each also says what it only noticed.
func isFiltered(v rawjson.Value) bool {
	for m := v.Members(); m.Next(); {
		if m.Value.Get("filtered").Kind() == rawjson.True {
			return true
		}
	}
	return false
}

// end takes the end of the response.
func (d *Decoder) end(s *State, cancelled bool, out *provider.Out) error {
	switch {
	case s.Done:
		return nil
	case cancelled:
		s.Done = true
		if s.HasUsage {
			out.Usage(s.Usage)
		}
		return nil
	case !s.Seen && s.Odd.Count > 0:
		return errNotJSON
	case !s.Seen && !s.HasUsage:
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider's answer was empty"}
	case s.Finish == finishNone:
		if s.HasUsage {
			out.Usage(s.Usage)
		}
		if s.Odd.Count > 0 {
			return errNotJSON
		}
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider's stream ended in the middle of the answer"}
	}
	return d.done(s, out)
}

// done writes the end: what was held back until no content can follow.
func (d *Decoder) done(s *State, out *provider.Out) error {
	s.Done = true
	if !s.Seen && s.Odd.Count > 0 {
		return errNotJSON
	}
	if !s.Seen && !s.HasUsage {
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider's answer was empty"}
	}
	if err := s.Finish.err(); err != nil {
		return err
	}
	if s.Filtered {
		s.Finish = finishFilter
	}
	if s.Tags.Held > 0 {
		s.Tags.End(s.sayTagged(out))
	}
	calls, err := d.completeCalls(s, s.Finish == finishLength, out)
	if err != nil {
		return err
	}
	if calls && (s.Finish == finishNone || s.Finish == finishStop || s.Finish == finishUnknown) {
		s.Finish = finishToolCalls
	}
	out.Finish(s.Finish.String())
	if s.HasUsage {
		out.Usage(s.Usage)
	}
	return nil
}
