package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// maxWhole bounds the text of an answer that is put together.
const maxWhole = 32 << 20

// A Completion puts a whole chat completion together from its chunks. It takes
// frames as package chat writes them. The zero value is ready.
type Completion struct {
	// Skip reports functions whose calls are reports of the host, and not for
	// the client to answer.
	Skip func(name string) bool

	fields  object // of the chunks, the last of each
	choice  object // of the choice
	content []byte
	refusal []byte
	extra   map[string]*merged
	calls   map[string]*call // by index
	order   []string
	size    int
}

// A call is a tool call under construction.
type call struct {
	id, name  string
	arguments []byte
	extra     object
	skip      bool
}

// WriteFrame takes frames. The error says that the answer is too long.
func (c *Completion) WriteFrame(frames []byte) error {
	if c.size += len(frames); c.size > maxWhole {
		return fmt.Errorf("the answer has more than %d bytes", maxWhole)
	}
	return eachChunk(bytes.Clone(frames), c.add)
}

// Flush does nothing.
func (c *Completion) Flush() error { return nil }

func (c *Completion) add(k *chunk) error {
	if c.fields == nil {
		c.fields, c.choice, c.extra, c.calls = object{}, object{}, map[string]*merged{}, map[string]*call{}
	}
	for name, v := range k.fields {
		if !rawjson.IsAbsent(v) {
			c.fields[name] = v
		}
	}
	for name, v := range k.choice {
		switch {
		case rawjson.IsAbsent(v):
		case name == "logprobs":
			c.choice[name] = joinLogprobs(c.choice[name], v)
		default:
			c.choice[name] = v
		}
	}
	for name, v := range k.delta {
		c.delta(name, v)
	}
	return nil
}

// delta takes a field of a delta.
func (c *Completion) delta(name string, v json.RawMessage) {
	switch name {
	case "role":
	case "content":
		if text, ok := rawjson.String(v); ok {
			c.content = append(c.content, text...)
		}
	case "refusal":
		text, _ := rawjson.String(v)
		c.refusal = append(c.refusal, text...)
	case "tool_calls":
		items, _ := rawjson.Items(v)
		for _, item := range items {
			c.call(item)
		}
	default:
		if rawjson.IsAbsent(v) {
			return
		}
		if c.extra[name] == nil {
			c.extra[name] = &merged{}
		}
		c.extra[name].add(v)
	}
}

func (c *Completion) call(v json.RawMessage) {
	o, _ := objectIn(v)
	index := string(o["index"])
	k := c.calls[index]
	if k == nil {
		k = &call{extra: object{}}
		c.calls[index] = k
		c.order = append(c.order, index)
	}
	f, _ := objectIn(o["function"])
	if id := o.text("id"); id != "" {
		k.id = id
	}
	if name := f.text("name"); name != "" {
		k.name, k.skip = name, c.Skip != nil && c.Skip(name)
	}
	k.arguments = append(k.arguments, f.text("arguments")...)
	for name, v := range o {
		if !slices.Contains([]string{"index", "id", "type", "function"}, name) {
			k.extra[name] = v
		}
	}
}

// Text is the text of the answer so far.
func (c *Completion) Text() string { return string(c.content) }

// Begun reports whether there is text of the answer.
func (c *Completion) Begun() bool { return len(c.content) > 0 }

// Body is the whole answer.
func (c *Completion) Body() []byte {
	calls := c.appendCalls(nil)
	b := append([]byte(nil), '{')
	b = append(append(b, `"id":`...), c.fields["id"]...)
	b = append(append(b, `,"object":"chat.completion","created":`...), c.fields["created"]...)
	b = append(append(b, `,"model":`...), c.fields["model"]...)
	b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	if len(c.content) > 0 || calls == nil && len(c.refusal) == 0 {
		b = rawjson.AppendString(b, c.content)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"refusal":`...)
	if len(c.refusal) > 0 {
		b = rawjson.AppendString(b, c.refusal)
	} else {
		b = append(b, "null"...)
	}
	extra := object{"annotations": json.RawMessage("[]")}
	for name, m := range c.extra {
		extra[name] = m.value()
	}
	b = appendFields(b, extra)
	if calls != nil {
		b = append(append(b, `,"tool_calls":`...), calls...)
	}
	b = append(append(b, `},"logprobs":`...), orJSON(c.choice["logprobs"], "null")...)
	b = append(append(b, `,"finish_reason":`...), orJSON(c.choice["finish_reason"], `"stop"`)...)
	b = appendFields(b, c.choice, "index", "logprobs", "finish_reason")
	b = append(append(b, `}],"usage":`...), fullUsage(c.fields["usage"])...)
	b = append(append(b, `,"service_tier":`...), orJSON(c.fields["service_tier"], `"default"`)...)
	b = append(append(b, `,"system_fingerprint":`...), orJSON(c.fields["system_fingerprint"], "null")...)
	b = appendFields(b, c.fields, "id", "object", "created", "model", "usage", "service_tier", "system_fingerprint")
	return append(b, '}')
}

// appendCalls appends the calls that are for the client, or nothing.
func (c *Completion) appendCalls(b []byte) []byte {
	for _, index := range c.order {
		k := c.calls[index]
		if k.skip {
			continue
		}
		sep := byte(',')
		if b == nil {
			sep = '['
		}
		b = append(b, sep)
		b = rawjson.AppendString(append(b, `{"id":`...), k.id)
		b = rawjson.AppendString(append(b, `,"type":"function","function":{"name":`...), k.name)
		b = rawjson.AppendString(append(b, `,"arguments":`...), wholeArguments(k.arguments))
		b = append(appendFields(append(b, '}'), k.extra), '}')
	}
	if b == nil {
		return nil
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
func appendFields(b []byte, o object, without ...string) []byte {
	for _, name := range o.names() {
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
