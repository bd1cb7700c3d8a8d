package main

import (
	"bytes"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// state is what is kept of a response between its lines.
type state struct {
	calls int32
	named bool
	done  bool
	tags  openai.Tags
	odd   provider.Unreadable
}

var (
	errEarly   = provider.Errorf(provider.ErrorUpstream, "the response ended early")
	errNotJSON = provider.Errorf(provider.ErrorUpstream, "the response holds a line that is not JSON")
)

// Decode implements [provider.Provider]: an event is a line, or the one object of
// an answer that was not streamed.
func (o *ollama) Decode(s *state, e provider.Event, out *provider.Out) error {
	if e.End {
		if s.done || e.Cancelled {
			return nil
		}
		if s.odd.Count > 0 {
			return errNotJSON
		}
		return errEarly
	}
	if s.done {
		return nil
	}
	o.teller.Begin(e.Type, e.Data)
	v, ok := rawjson.Parse(e.Data)
	if !ok {
		if v, ok = readStreamLine(e.Data); ok && len(v) == 0 {
			return nil
		}
	}
	if !ok && s.odd.Skip(s.named, e.Data) {
		return nil
	}
	if v.Kind() != rawjson.Object {
		return errNotJSON
	}
	var m [6]rawjson.Value
	v.Pick(m[:], "message", "done", "error", "model", "created_at", "done_reason")
	if !m[2].IsNull() {
		return lineError(v)
	}
	if !s.named && m[3].Kind() == rawjson.String {
		s.named = true
		out.Response("", m[3].String())
	}
	o.teller.Skip(m[4])
	o.message(s, m[0], m[4], out)
	if m[1].Kind() != rawjson.True {
		return nil
	}
	s.done = true
	o.teller.Spoil()
	s.tags.End(sayTagged(out))
	reason := m[5].String()
	s.finish(reason, out)
	prompt, completion := countTokens(v.Get("prompt_eval_count")), countTokens(v.Get("eval_count"))
	if prompt+completion > 0 {
		out.Usage(provider.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion})
	}
	return nil
}

// finish ends the content. In a guest a branch costs by the function that it stands
// in, and Decode runs for each few letters.
//
//go:noinline
func (s *state) finish(reason string, out *provider.Out) {
	switch reason {
	case "stop", "", "load", "unload", "tool_calls":
		reason = "stop"
	case "length":
	default:
		out.NativeFinish(reason)
		if reason = "length"; s.calls > 0 {
			reason = "tool_calls"
		}
	}
	if s.calls > 0 && reason == "stop" { // Ollama says stop after calls, too
		reason = "tool_calls"
	}
	out.Finish(reason)
}

// readStreamLine reads a line of an event stream, which a gateway made of Ollama's
// lines; ok with no value is one that holds no data.
//
//go:noinline
func readStreamLine(line []byte) (v rawjson.Value, ok bool) {
	data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
	if data = bytes.TrimSpace(data); !isData && isStreamLine(data) || isData && string(data) == "[DONE]" {
		return nil, true
	}
	return rawjson.Parse(data)
}

// isStreamLine reports whether a line is one of an event stream that holds no data.
func isStreamLine(line []byte) bool {
	for _, begin := range [...]string{":", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return true
		}
	}
	return len(line) == 0
}

// Pattern implements [provider.Patterned].
func (o *ollama) Pattern(_ *state, out *provider.Out) { out.Pattern(o.teller.Pattern()) }

// message takes the piece of an answer. Calls come whole.
func (o *ollama) message(s *state, v, created rawjson.Value, out *provider.Out) {
	var m [3]rawjson.Value
	v.Pick(m[:], "content", "thinking", "tool_calls")
	if text, ok := m[1].Text(); ok {
		out.Reasoning(text)
		o.teller.Text(abi.RecordReasoning, m[1])
	}
	if text, ok := m[0].Text(); ok && len(text) > 0 {
		if s.tags.Past() || !s.tags.Split(text, sayTagged(out)) {
			out.Text(text)
			o.teller.Text(abi.RecordText, m[0])
		} else {
			o.teller.Spoil()
		}
	}
	for it := m[2].Items(); it.Next(); {
		o.teller.Spoil()
		f := it.Value.Get("function")
		name := f.Get("name").String()
		if name == "" {
			continue
		}
		n := int(s.calls)
		s.calls++
		// The index of the server's own is not reliable, and an id may come twice.
		out.ToolStart(n, o.callID(it.Value.Get("id").String(), created, n, out), name)
		out.ToolArguments(n, argumentsText(f.Get("arguments")))
	}
}

// tagsMark, carried, says that the model's thoughts were in its content, between tags: a
// server that does not know a model as one that thinks leaves them there.
const tagsMark = "tags"

// sayTagged returns what writes the parts of an answer that began with a tag.
func sayTagged(out *provider.Out) func([]byte, bool) {
	return func(text []byte, thought bool) {
		switch {
		case !thought:
			out.Text(text)
		case text == nil:
			out.Carry([]byte(tagsMark))
		default:
			out.Reasoning(text)
		}
	}
}

// callID returns the server's id of a call, where it has one that no call before it
// had, or makes one. The memo holds those that there were.
func (o *ollama) callID(id string, created rawjson.Value, n int, out *provider.Out) string {
	o.ids = append(o.ids[:0], out.Memo...)
	if id == "" || len(id) > 200 || len(o.ids) > provider.MaxMemo/2 || bytes.Contains(o.ids, []byte("\n"+id+"\n")) {
		id = ownID(created, n)
	}
	o.ids = append(append(append(o.ids, '\n'), id...), '\n')
	out.Memo = o.ids
	return id
}

// argumentsText returns a call's arguments: of an object its JSON, of a text that,
// also where a model wrote what is no JSON.
func argumentsText(v rawjson.Value) []byte {
	if text, ok := v.Text(); ok && len(bytes.TrimSpace(text)) > 0 {
		return text
	}
	return turns.Arguments(v)
}

func countTokens(v rawjson.Value) uint64 {
	if n, ok := v.Int(); ok && n > 0 {
		return uint64(n)
	}
	return 0
}
