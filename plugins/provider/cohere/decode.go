package main

import (
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// state is what is kept of a response between its events.
type state struct {
	calls     int32 // opened
	index     int64 // of the last one, as the API counts
	open      bool
	arguments bool // it has some
	thought   bool // there was reasoning that is no plan
	done      bool
	begun     bool // an event was read
	odd       provider.Unreadable
}

// thoughtMark, carried, says that a round's reasoning is not its plan alone. The plan
// is carried itself.
const thoughtMark = 0

var (
	errEarly   = provider.Errorf(provider.ErrorUpstream, "the response ended early")
	errNotJSON = provider.Errorf(provider.ErrorUpstream, "the response holds an event that is not JSON")
)

// Decode implements [provider.Provider].
func (c *cohere) Decode(s *state, e provider.Event, out *provider.Out) error {
	if e.End {
		if s.done || e.Cancelled {
			return nil
		}
		if s.odd.Count > 0 {
			return errNotJSON
		}
		return errEarly
	}
	if s.done || string(e.Data) == "[DONE]" {
		return nil
	}
	c.teller.Begin(e.Type, e.Data)
	v, ok := rawjson.Parse(e.Data)
	if !ok && s.odd.Skip(s.begun, e.Data) {
		return nil
	}
	if v.Kind() != rawjson.Object {
		return errNotJSON
	}
	s.begun = true
	delta := v.Get("delta")
	message := delta.Get("message")
	switch v.Get("type").String() {
	case "message-start":
		out.Response(v.Get("id").String(), "")
	case "content-start", "content-delta":
		content := message.Get("content")
		thinking := content.Get("thinking")
		if !s.thought && thinking.Kind() == rawjson.String && len(thinking) > 2 {
			s.thought = true
			out.Carry([]byte{thoughtMark})
		}
		c.emit(out.Reasoning, abi.RecordReasoning, thinking)
		c.emit(out.Text, abi.RecordText, content.Get("text"))
		c.emit(out.Text, abi.RecordText, content) // some servers of the same API write a text
	case "tool-plan-delta":
		plan := message.Get("tool_plan")
		emitString(out.Reasoning, plan)
		emitString(out.Carry, plan)
	case "tool-call-start":
		s.start(v, message.Get("tool_calls"), out)
	case "tool-call-delta":
		s.add(message.Path("tool_calls", "function", "arguments"), out)
	case "tool-call-end":
		s.close(out)
	case "message-end":
		return s.end(delta, out)
	case "":
		// A gateway's own error, in the form of one that is no stream.
		if m := v.Get("message"); m.Kind() == rawjson.String {
			return newFailure(m.String(), v.Get("error_type").String())
		}
		if m := v.Get("error"); !m.IsNull() {
			return newFailure(m.String()+m.Get("message").String(), "")
		}
	}
	return nil
}

// emit writes a text, if v is one.
func (c *cohere) emit(to func([]byte), kind abi.RecordKind, v rawjson.Value) {
	emitString(to, v)
	c.teller.Text(kind, v)
}

// Pattern implements [provider.Patterned].
func (c *cohere) Pattern(_ *state, out *provider.Out) { out.Pattern(c.teller.Pattern()) }

func emitString(to func([]byte), v rawjson.Value) {
	if text, ok := v.Text(); ok {
		to(text)
	}
}

// start opens a call. tool_calls of events is an object; a list is taken as
// well.
func (s *state) start(v, call rawjson.Value, out *provider.Out) {
	for it := call.Items(); it.Next(); {
		call = it.Value
		break
	}
	f := call.Get("function")
	name := f.Get("name").String()
	if name == "" {
		return
	}
	s.close(out)
	s.index, _ = v.Get("index").Int()
	id := call.Get("id").String()
	if id == "" || strings.Contains(string(out.Memo), "\n"+id+"\n") || len(out.Memo)+len(id) > provider.MaxMemo/2 {
		id = "call_" + string(rune('a'+s.calls%26)) + strings.Repeat("_", int(s.calls/26)%64)
		for strings.Contains(string(out.Memo), "\n"+id+"\n") {
			id += "_"
		}
	}
	out.Memo = []byte(string(out.Memo) + "\n" + id + "\n")
	out.ToolStart(int(s.calls), id, name)
	s.calls++
	s.open, s.arguments = true, false
	s.add(f.Get("arguments"), out)
}

// add takes a piece of the open call's arguments.
func (s *state) add(piece rawjson.Value, out *provider.Out) {
	text, ok := piece.Text()
	if !ok || !s.open || len(text) == 0 || !s.arguments && string(text) == "null" {
		return
	}
	s.arguments = true
	out.ToolArguments(int(s.calls)-1, text)
}

// close ends the open call. One without arguments has none to be an object of.
func (s *state) close(out *provider.Out) {
	if s.open && !s.arguments {
		out.ToolArguments(int(s.calls)-1, []byte("{}"))
	}
	s.open = false
}

// end reads how the message ended.
func (s *state) end(delta rawjson.Value, out *provider.Out) error {
	s.done = true
	tokens := delta.Path("usage", "tokens")
	u := provider.Usage{
		Prompt: countTokens(tokens.Get("input_tokens")), Completion: countTokens(tokens.Get("output_tokens")),
		Cached: countTokens(delta.Path("usage", "cached_tokens")), Reasoning: countTokens(tokens.Get("reasoning_tokens")),
	}
	failed := delta.Get("error")
	reason, message := delta.Get("finish_reason").String(), failed.String()+failed.Get("message").String()
	if u.Total = u.Prompt + u.Completion; u.Total > 0 {
		out.Usage(u)
	}
	if message != "" || reason == "ERROR" || reason == "TIMEOUT" {
		if reason == "TIMEOUT" {
			return provider.ProviderError{Kind: abi.ErrorTimeout, Message: message, ProviderCode: reason}
		}
		return newFailure(message, delta.Get("error_type").String())
	}
	s.close(out)
	switch {
	case reason == "MAX_TOKENS":
		out.Finish("length")
	case reason == "ERROR_TOXIC":
		out.Finish("content_filter")
	case !slices.Contains(wholeReasons[:], reason):
		out.NativeFinish(reason)
		if s.calls == 0 {
			out.Finish("length")
			break
		}
		out.Finish("tool_calls")
	case s.calls > 0: // seen by them: a client waits for calls that TOOL_CALL promises
		out.Finish("tool_calls")
	default:
		out.Finish("stop")
	}
	return nil
}

// wholeReasons are the reasons to finish of an answer that is whole.
var wholeReasons = [...]string{"COMPLETE", "STOP_SEQUENCE", "TOOL_CALL", ""}

// newFailure sorts an error inside a response.
func newFailure(message, code string) error {
	e := provider.ProviderError{Kind: abi.ErrorUpstream, Message: message, ProviderCode: code}
	if tooMany(strings.ToLower(message + " " + code)) {
		e.Kind = abi.ErrorContextLength
	}
	return e
}

// countTokens reads a number of tokens, which may be written as 7.0.
func countTokens(v rawjson.Value) uint64 {
	whole, _, _ := strings.Cut(string(v), ".")
	if n, ok := rawjson.Value(whole).Int(); ok && n > 0 && v.Kind() == rawjson.Number {
		return uint64(n)
	}
	return 0
}
