package response

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
)

// A Said gathers what a response said beside its text and its calls: reasoning,
// a refusal, and members of its deltas that no record knows. Providers want it back
// in the assistant's message, with the answers to the calls. Its zero value is ready.
type Said struct {
	reasoning, refusal []byte
	extras             []byte // JSON objects, each behind a comma
	large              bool   // more than maxSaid: a part of it is as good as nothing
}

// maxSaid bounds, in bytes, what is kept of a response.
const maxSaid = 4 << 20

// Add takes a record; those that belong to a call are for [CallMembers].
func (s *Said) Add(r abi.Record) {
	if s.large || len(s.reasoning)+len(s.refusal)+len(s.extras)+len(r.Payload) > maxSaid {
		s.large = true
		return
	}
	switch r.Kind {
	case abi.RecordReasoning:
		s.reasoning = append(s.reasoning, r.Payload...)
	case abi.RecordRefusal:
		s.refusal = append(s.refusal, r.Payload...)
	case abi.RecordExtra:
		s.extras = append(append(s.extras, ','), r.Payload...)
	}
}

// Reset forgets all, and keeps the memory.
func (s *Said) Reset() {
	*s = Said{reasoning: s.reasoning[:0], refusal: s.refusal[:0], extras: s.extras[:0]}
}

// Empty reports whether there is nothing that a message could have.
func (s *Said) Empty() bool {
	return s.large || len(s.reasoning)+len(s.refusal)+len(s.extras) == 0
}

// AppendMessage appends the assistant's message of a response, as a chat of OpenAI's
// form has it: its text, null where that is empty, what it said beside that, as
// reasoning_content, refusal and the members under their own names, and its calls
// with the members of theirs.
func AppendMessage(b, text []byte, said *Said, calls []ToolCall) []byte {
	b = append(b, `{"role":"assistant","content":`...)
	if len(text) == 0 {
		b = append(b, "null"...)
	} else {
		b = appendString(b, string(text))
	}
	if !said.large {
		b = said.appendMembers(b)
	}
	for i, c := range calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = c.append(b)
	}
	if len(calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func (s *Said) appendMembers(b []byte) []byte {
	if len(s.reasoning) > 0 {
		b = appendString(append(b, `,"reasoning_content":`...), string(s.reasoning))
	}
	if len(s.refusal) > 0 {
		b = appendString(append(b, `,"refusal":`...), string(s.refusal))
	}
	if len(s.extras) == 0 {
		return b
	}
	var objects []json.RawMessage
	if json.Unmarshal(append(append([]byte{'['}, s.extras[1:]...), ']'), &objects) != nil {
		return b
	}
	var all Joined
	for _, o := range objects {
		all.Add("", o)
	}
	others := all.Append(nil)
	if empty := `""`; len(s.reasoning) == 0 && string(membersOf(others).get("reasoning_content")) == empty {
		b = append(append(b, `,"reasoning_content":`...), empty...) // some want back that there was none
	}
	return appendMembers(b, others, "role", "content", "reasoning_content", "refusal", "tool_calls")
}

// append appends the call as a message has it.
func (c *ToolCall) append(b []byte) []byte {
	function, others := CutFunction(c.Members)
	b = appendString(append(b, `{"id":`...), c.ID)
	b = appendString(append(b, `,"type":"function","function":{"name":`...), c.Name)
	b = appendString(append(b, `,"arguments":`...), c.Arguments)
	b = append(appendMembers(b, function, "name", "arguments"), '}')
	return append(appendMembers(b, others, "id", "index", "type"), '}')
}

// CallMembers reads an extra record {"tool_calls": [{…}]}: the members that a call
// has beside its own. index is the one among them that says which call, and -1 where
// there is none: it is the one whose start the record follows. ok is false where the
// extra is of another form.
func CallMembers(extra []byte) (index int, members json.RawMessage, ok bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(extra, " \t\r\n"), []byte(`{"tool_calls"`)) {
		return 0, nil, false
	}
	o := membersOf(extra)
	var calls []json.RawMessage
	if len(o) != 1 || json.Unmarshal(o[0].value, &calls) != nil || len(calls) != 1 || len(calls[0]) == 0 || calls[0][0] != '{' {
		return 0, nil, false
	}
	call := membersOf(calls[0])
	at := call.get("index")
	if at == nil {
		return -1, calls[0], true
	}
	if json.Unmarshal(at, &index) != nil || index < 0 {
		return 0, nil, false
	}
	return index, call.without("index"), true
}

// JoinMembers returns the members that a call has when more come. Both are JSON
// objects, or nothing.
func JoinMembers(members, more json.RawMessage) json.RawMessage {
	if bytes.Equal(members, more) {
		return members // some servers say them with each piece
	}
	var all Joined
	all.Add("", members)
	all.Add("", more)
	return all.Append(nil)
}

// CutFunction cuts the members of the function out of those of a call. All are JSON
// objects, or nothing.
func CutFunction(members json.RawMessage) (function, others json.RawMessage) {
	if !bytes.Contains(members, []byte(`"function"`)) {
		return nil, members
	}
	o := membersOf(members)
	return o.get("function"), o.without("function")
}

// appendMembers appends the members of object, each behind a comma, but for those
// called without.
func appendMembers(b []byte, object json.RawMessage, without ...string) []byte {
	for _, m := range membersOf(object) {
		if !slices.Contains(without, m.name) {
			b = append(append(appendString(append(b, ','), m.name), ':'), m.value...)
		}
	}
	return b
}

// appendString appends s as JSON. It leaves <, > and & alone: models read it.
func appendString(b []byte, s string) []byte {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can be written
	return append(b, strings.TrimSuffix(out.String(), "\n")...)
}
