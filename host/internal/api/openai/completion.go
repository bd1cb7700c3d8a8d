package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// maxWhole bounds, in bytes, what is kept of an answer that is put together.
const maxWhole = 32 << 20

// commonText is the room, in bytes, that a text has to begin with: most fit.
const commonText = 1 << 10

// A Completion puts an answer together to a whole chat completion.
type Completion struct {
	chat.Discard

	id       string
	created  int64
	model    string
	fields   jsonbody.Object // of the chunks, the last of each
	pending  jsonbody.Object // of the next delta's choice
	choice   jsonbody.Object // of the choice
	logprobs response.Joined
	texts    [3][]byte // by kind
	extra    map[string]*response.Joined
	calls    []*call
	finish   *chat.Finish
	size     int
	pieces   int
}

var _ chat.Sink = (*Completion)(nil)

// A call is a tool call under construction.
type call struct {
	id, name  string
	arguments []byte
	extra     json.RawMessage // an object of its other members, or nothing
}

// NewCompletion returns one without a text.
func NewCompletion() *Completion { return &Completion{id: newCompletionID()} }

// Begin implements [chat.Sink].
func (c *Completion) Begin(h chat.Head) { c.created, c.model = h.Created, h.Model }

// Model implements [chat.Sink]. What an attempt that broke reasoned is not of the
// answer.
func (c *Completion) Model(name []byte) {
	c.Responding(name)
	c.extra, c.pending, c.texts[chat.Reasoning] = nil, nil, nil
}

// Responding implements [chat.Sink].
func (c *Completion) Responding(model []byte) {
	if len(model) > 0 && string(model) != c.model {
		c.model = string(model)
	}
}

// BeginRound implements [chat.Sink].
func (c *Completion) BeginRound() { c.pending = nil }

// Text implements [chat.Sink].
func (c *Completion) Text(kind chat.Kind, text, extra []byte) {
	if c.texts[kind] == nil {
		c.texts[kind] = make([]byte, 0, commonText)
	}
	c.texts[kind] = append(c.texts[kind], text...)
	c.countDelta(len(text))
	c.takeMembers(extra)
}

// Extra implements [chat.Sink].
func (c *Completion) Extra(object []byte) {
	c.countDelta(0)
	c.takeMembers(object)
}

// countDelta counts a delta of size bytes, which takes what was said of its choice.
func (c *Completion) countDelta(size int) {
	c.pieces++
	c.size += size
	for name, v := range c.pending {
		if c.choice == nil {
			c.choice = jsonbody.Object{}
		}
		if name == "logprobs" {
			c.logprobs.Add("", v)
			continue
		}
		c.choice[name] = v
	}
	clear(c.pending)
}

// Outer implements [chat.Sink].
func (c *Completion) Outer(object []byte) {
	m, _ := rawjson.MembersOf(object)
	for m.Next() {
		switch {
		case m.Called("chunk"):
			eachOther(m.Value, ownChunk, func(key, value []byte) { c.keepMember(&c.fields, key, value) })
		case m.Called("choice"):
			if len(c.pending) > 0 { // of an event without a delta
				c.countDelta(0)
			}
			eachOther(m.Value, ownChoice, func(key, value []byte) { c.keepMember(&c.pending, key, value) })
		}
	}
}

// keepMember puts a copy of a member into an object.
func (c *Completion) keepMember(to *jsonbody.Object, key, value []byte) {
	if *to == nil {
		*to = jsonbody.Object{}
	}
	name, _ := rawjson.String(key)
	c.size += len(value)
	(*to)[name] = appendLine(nil, value)
}

// textKinds are the members of a delta that hold text.
var textKinds = map[string]chat.Kind{"content": chat.Content, "refusal": chat.Refusal, "reasoning_content": chat.Reasoning}

// takeMembers takes the other members of a delta.
func (c *Completion) takeMembers(object []byte) {
	m, ok := rawjson.MembersOf(object)
	if !ok {
		return
	}
	c.size += len(object)
	for m.Next() {
		name, _ := rawjson.String(m.Key)
		switch name {
		case "role":
		case "content", "refusal", "reasoning_content":
			text, _ := rawjson.String(m.Value)
			kind := textKinds[name]
			c.texts[kind] = append(c.texts[kind], text...)
		case "tool_calls": // are told of by themselves
		default:
			if rawjson.IsAbsent(m.Value) {
				continue
			}
			if c.extra == nil {
				c.extra = map[string]*response.Joined{}
			}
			if c.extra[name] == nil {
				c.extra[name] = &response.Joined{}
			}
			c.extra[name].Add(name, appendLine(nil, m.Value))
		}
	}
}

// ToolStart implements [chat.Sink].
func (c *Completion) ToolStart(id, name string, extra []byte) {
	c.calls = append(c.calls, &call{id: id, name: name})
	c.ToolExtra(len(c.calls)-1, extra)
	c.size += len(id) + len(name)
}

// ToolExtra implements [chat.Sink].
func (c *Completion) ToolExtra(call int, members []byte) {
	c.calls[call].extra = response.JoinMembers(c.calls[call].extra, appendLine(nil, members))
	c.countDelta(len(members))
}

// ToolArguments implements [chat.Sink].
func (c *Completion) ToolArguments(call int, piece []byte) {
	k := c.calls[call]
	k.arguments = append(k.arguments, piece...)
	c.countDelta(len(piece))
}

// EndRound implements [chat.Sink].
func (c *Completion) EndRound(left *chat.Carry) {
	if left.Details != nil {
		c.Extra(jsonbody.Object{"reasoning_details": left.Details}.Append(nil))
	}
}

// Finish implements [chat.Sink].
func (c *Completion) Finish(f *chat.Finish) {
	c.countDelta(0)
	c.finish = f
}

// Flush implements [chat.Sink]. The error says that the answer is too long.
func (c *Completion) Flush() error {
	if c.size > maxWhole {
		return fmt.Errorf("the answer has more than %d bytes", maxWhole)
	}
	return nil
}

// Sent implements [chat.Sink]: the number of pieces.
func (c *Completion) Sent() int { return c.pieces }

// Body is the whole answer.
func (c *Completion) Body() []byte {
	f := c.finish
	if f == nil {
		f = &chat.Finish{Reason: "stop"}
	}
	content, refusal := c.texts[chat.Content], c.texts[chat.Refusal]
	b := make([]byte, 0, c.size+1<<10)
	b = rawjson.AppendString(append(b, `{"id":`...), c.id)
	b = strconv.AppendInt(append(b, `,"object":"chat.completion","created":`...), c.created, 10)
	b = rawjson.AppendString(append(b, `,"model":`...), c.model)
	b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	if len(content) > 0 || len(c.calls) == 0 && len(refusal) == 0 {
		b = rawjson.AppendString(b, content)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"refusal":`...)
	if len(refusal) > 0 {
		b = rawjson.AppendString(b, refusal)
	} else {
		b = append(b, "null"...)
	}
	b = c.appendExtra(b, f)
	b = c.appendCalls(b)
	b = append(append(b, `},"logprobs":`...), orJSON(c.logprobs.Append(nil), "null")...)
	b = rawjson.AppendString(append(b, `,"finish_reason":`...), f.Reason)
	b = appendFields(b, c.choice, "index", "finish_reason")
	b = appendUsage(append(b, `}],"usage":`...), f)
	b = append(append(b, `,"system_fingerprint":`...), orJSON(c.fields["system_fingerprint"], "null")...)
	b = appendFields(b, c.fields, "system_fingerprint")
	return append(b, '}')
}

// appendExtra appends the message's other members, in the order of their names.
func (c *Completion) appendExtra(b []byte, f *chat.Finish) []byte {
	extra := jsonbody.Object{"annotations": json.RawMessage("[]")}
	for name, m := range c.extra {
		extra[name] = m.Append(nil)
	}
	if len(f.Citations) > 0 {
		var all response.Joined
		all.Add("", extra["annotations"])
		all.Add("", appendCitations(nil, f.Citations))
		extra["annotations"] = all.Append(nil)
	}
	if text := c.texts[chat.Reasoning]; len(text) > 0 {
		extra["reasoning_content"] = rawjson.AppendString(nil, text)
	}
	return appendFields(b, extra)
}

// appendCalls appends the tool calls, if there are any.
func (c *Completion) appendCalls(b []byte) []byte {
	if len(c.calls) == 0 {
		return b
	}
	b = append(b, `,"tool_calls":[`...)
	for i, k := range c.calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(append(b, `{"id":`...), k.id)
		b = rawjson.AppendString(append(b, `,"type":"function","function":{"name":`...), k.name)
		b = rawjson.AppendString(append(b, `,"arguments":`...), wholeArguments(k.arguments))
		function, others := response.CutFunction(k.extra)
		b = appendInside(append(appendInside(b, function), '}'), others)
		b = append(b, '}')
	}
	return append(b, ']')
}

// wholeArguments is what a call's arguments are where the provider sent none.
func wholeArguments(b []byte) []byte {
	if len(bytes.TrimSpace(b)) == 0 {
		return []byte("{}")
	}
	return b
}

// appendFields appends the fields of o but for those called without, each after
// a comma.
func appendFields(b []byte, o jsonbody.Object, without ...string) []byte {
	for _, name := range jsonbody.SortedKeys(o) {
		if !slices.Contains(without, name) {
			b = append(rawjson.AppendString(append(b, ','), name), ':')
			b = append(b, o[name]...)
		}
	}
	return b
}

func orJSON(v json.RawMessage, otherwise string) json.RawMessage {
	if rawjson.IsAbsent(v) {
		return json.RawMessage(otherwise)
	}
	return v
}
