package main

import (
	"bytes"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A state is what is carried from event to event. The memo has the calls, see
// blocks.go, and then the pattern.
type state struct {
	Usage    provider.Usage
	Written  uint64 // tokens of the prompt that went into the cache
	HasUsage bool
	Named    bool // the Response record is out
	Seen     bool // an event of a message has come
	Done     bool
	Answered bool // of a block of answerTool, some text is out
	Finish   finish
	Block    block
	Calls    uint16
	Response uint32 // a hash of the response's id, for ids that we make up
	Odd      provider.Unreadable
	Carry    carryState
	Pattern  patternState
}

func (p *anthropic) Decode(s *state, e provider.Event, out *provider.Out) error {
	p.typ = typeOf(e)
	switch {
	case e.End:
		return p.end(s, e.Cancelled, out)
	case s.Done:
		return nil
	case s.Pattern.Head > 0 && p.match(s, e.Data, out), p.recall(s, e.Data, out):
		return nil
	}
	return p.decode(s, e, out)
}

// decode reads an event that is like none before.
func (p *anthropic) decode(s *state, e provider.Event, out *provider.Out) error {
	v, ok := rawjson.Parse(e.Data)
	if !ok {
		return p.notJSON(s, e, out)
	}
	var typ, number, message, content, delta, usage rawjson.Value
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "type":
			typ = m.Value
		case "index":
			number = m.Value
		case "message":
			message = m.Value
		case "content_block":
			content = m.Value
		case "delta":
			delta = m.Value
		case "usage":
			usage = m.Value
		case "error":
			if !m.Value.IsNull() {
				return readFailure(e.Data)
			}
		}
	}
	index, _ := number.Int()
	p.reading.Begin(e.Data)
	p.reading.Vary(foundIndex, number)
	word, _ := typ.Text()
	switch string(word) {
	case "message_start":
		p.begin(s, message, out)
		p.remember(kindMessage)
	case "content_block_start":
		return p.blockStart(s, index, content, out)
	case deltaEvent:
		p.blockDelta(s, index, delta, e.Data, out)
	case "content_block_stop":
		p.blockStop(s, out)
	case "message_delta":
		s.Seen = true
		p.takeUsage(s, usage)
		p.stop(s, delta, out)
	case "message_stop":
		return p.done(s, out)
	case "error":
		return readFailure(e.Data)
	case "message":
		return p.whole(s, v, out)
	default:
		if string(e.Type) == "error" {
			return readFailure(e.Data)
		}
	}
	return nil
}

// notJSON takes an event whose data is not JSON.
func (p *anthropic) notJSON(s *state, e provider.Event, out *provider.Out) error {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0 || string(e.Type) == "ping":
		return nil
	case string(data) == "[DONE]": // of servers that speak OpenAI's form too
		return p.done(s, out)
	case string(e.Type) == "error":
		return readFailure(data)
	case data[0] == '<':
		return newUpstreamError("the provider answered with a web page, not with a stream of events; check baseUrl")
	}
	if s.Odd.Skip(s.Seen, data) {
		return nil
	}
	return errNotJSON
}

var errNotJSON = newUpstreamError("the provider sent an event that is not JSON")

func newUpstreamError(message string) error {
	return provider.ProviderError{Kind: abi.ErrorUpstream, Message: message}
}

// begin takes the message as it stands before its first word.
func (p *anthropic) begin(s *state, message rawjson.Value, out *provider.Out) {
	var members [3]rawjson.Value
	message.Pick(members[:], "id", "model", "usage")
	p.reading.StringIfAny(foundID, members[0])
	p.reading.StringIfAny(foundModel, members[1])
	s.name(members[0], members[1], out)
	p.takeUsage(s, members[2])
}

// name writes the Response record, once there is something to say.
func (s *state) name(id, model rawjson.Value, out *provider.Out) {
	s.Seen = true
	if !s.Named && (len(id) > 2 || len(model) > 2) {
		s.Named = true
		s.Response = hashBytes(id)
		out.Response(id.String(), model.String())
	}
}

// whole takes a message that is not streamed.
func (p *anthropic) whole(s *state, v rawjson.Value, out *provider.Out) error {
	p.reading.Spoil() // blocks are remembered from events of their own
	p.begin(s, v, out)
	index := int64(0)
	for it := v.Get("content").Items(); it.Next(); index++ {
		if err := p.blockStart(s, index, it.Value, out); err != nil {
			return err
		}
		p.blockStop(s, out)
	}
	p.stop(s, v, out)
	return p.done(s, out)
}

// stop takes why the message ends.
func (p *anthropic) stop(s *state, v rawjson.Value, out *provider.Out) {
	if reason, ok := v.Get("stop_reason").Text(); ok {
		if s.Finish = finishOf(reason); s.Finish == finishUnknown {
			out.NativeFinish(string(reason))
		}
	}
	if why, ok := v.Path("stop_details", "explanation").Text(); ok && s.Finish == finishRefusal {
		out.Refusal(why)
	}
}

// end takes the end of the response.
func (p *anthropic) end(s *state, cancelled bool, out *provider.Out) error {
	if s.Done {
		return nil
	}
	if !cancelled && s.Finish != finishNone {
		return p.done(s, out)
	}
	s.Done = true
	if s.HasUsage {
		out.UsageWritten(s.Usage, s.Written)
	}
	switch {
	case cancelled:
		return nil
	case s.Odd.Count > 0:
		return errNotJSON
	case !s.Seen:
		return newUpstreamError("the provider's answer was empty")
	}
	return newUpstreamError("the provider's stream ended in the middle of the answer")
}

// done writes the end: what was held back until no content can follow.
func (p *anthropic) done(s *state, out *provider.Out) error {
	s.Done = true
	if !s.Seen {
		return newUpstreamError("the provider's answer was empty")
	}
	if s.Finish != finishLength {
		completeCalls(s, out)
	}
	out.Finish(s.Finish.word(s.Calls > 0))
	if s.HasUsage {
		out.UsageWritten(s.Usage, s.Written)
	}
	return nil
}

// hashBytes returns FNV-1a.
func hashBytes(b []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}
