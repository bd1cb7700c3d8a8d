package main

import (
	"strconv"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// What stands in for a message that Mistral's order of roles needs and the
// client did not send.
const (
	bridge   = "OK."        // of the assistant, between a tool's answer and the user
	noAnswer = "No answer." // of a tool that was called and said nothing
	opening  = "Go on."     // of the user, before an assistant that is alone
)

// A conversation is the messages as Mistral takes them: instructions in front;
// after tools only the assistant; an answer for each call, and a call for each
// answer; the user or a tool last, or an assistant that is to be continued.
type conversation struct {
	ids
	before []byte       // the messages before the last one, joined by commas
	last   rawjson.Edit // nil: there is none yet
	open   []call       // of the last assistant message, and not answered yet
}

// A call is a tool call under the client's id and under ours.
type call struct{ id, given, name string }

// conversationOf rewrites messages.
func conversationOf(messages rawjson.Value) (rawjson.Value, error) {
	c := conversation{ids: ids{used: map[string]bool{}, reserved: map[string]bool{}}}
	for m := messages.Items(); m.Next(); {
		for it := m.Value.Get("tool_calls").Items(); it.Next(); {
			if id := it.Value.Get("id").String(); fits(id) {
				c.reserved[id] = true
			}
		}
	}
	for it := openai.SystemFirst(messages).Items(); it.Next(); {
		if err := c.add(it.Value); err != nil {
			return nil, err
		}
	}
	c.settle()
	if c.last == nil {
		return nil, provider.Refuse("`messages` has no text: send at least one message of the user")
	}
	if c.role() == "assistant" {
		if len(c.before) == 0 {
			c.before = message("user", rawjson.Quote(opening)).Value()
		}
		c.last.Set("prefix", rawjson.Value("true"))
	}
	c.append(nil)
	return array([]rawjson.Value{c.before}), nil
}

// append makes m the last message.
func (c *conversation) append(m rawjson.Edit) {
	if c.last != nil {
		if len(c.before) > 0 {
			c.before = append(c.before, ',')
		}
		c.before = append(c.before, c.last.Value()...)
	}
	c.last = m
}

// add takes the next message.
func (c *conversation) add(m rawjson.Value) error {
	var members [5]rawjson.Value
	m.Pick(members[:], "role", "content", "refusal", "tool_calls", "tool_call_id")
	content, err := contentOf(members[1])
	if err != nil {
		return err
	}
	role := members[0].String()
	if role == "tool" {
		return c.answer(members[4].String(), content)
	}
	c.settle()
	out := message(role, content)
	switch role {
	case "system":
	case "user":
		if c.role() == "tool" {
			c.append(message("assistant", rawjson.Quote(bridge)))
		}
	case "assistant":
		if refusal := members[2]; len(content) == 2 && refusal.Kind() == rawjson.String {
			content = refusal
			out.Set("content", content)
		}
		if calls := c.calls(members[3]); len(c.open) > 0 {
			out.Set("tool_calls", calls)
		} else if len(content) == 2 {
			return nil // neither text nor calls: it is refused, and says nothing
		}
	default:
		return provider.Refuse("`messages` has a message whose role is none of system, developer, user, assistant and tool")
	}
	c.append(out)
	return nil
}

// calls rewrites an assistant's tool calls, and keeps them as open.
func (c *conversation) calls(v rawjson.Value) rawjson.Value {
	var calls []rawjson.Value
	for it := v.Items(); it.Next(); {
		f := only(it.Value.Get("function"), "name", "arguments")
		arguments := f.Get("arguments")
		if text, ok := arguments.Text(nil); ok || len(arguments) == 0 {
			if _, ok := rawjson.Parse(text); !ok {
				f.Set("arguments", rawjson.Value(`"{}"`)) // cut off, or empty: it has to be JSON
			}
		}
		id := it.Value.Get("id").String()
		open := call{id, c.give(id), f.Get("name").String()}
		c.open = append(c.open, open)
		calls = append(calls, rawjson.Edit{
			{Key: "id", Value: rawjson.Quote(open.given)},
			{Key: "type", Value: rawjson.Quote("function")},
			{Key: "function", Value: f.Value()},
		}.Value())
	}
	return array(calls)
}

// answer adds a tool's answer to the first open call of that id; calls of one
// message may share an id, and a lone answer may lack one.
func (c *conversation) answer(id string, content rawjson.Value) error {
	for i, open := range c.open {
		if open.id != id && id != "" {
			continue
		}
		c.open = append(c.open[:i:i], c.open[i+1:]...)
		out := message("tool", content)
		out.Set("tool_call_id", rawjson.Quote(open.given))
		if open.name != "" {
			out.Set("name", rawjson.Quote(open.name))
		}
		c.append(out)
		return nil
	}
	return provider.Refuse("`messages` has an answer to the tool call " + strconv.Quote(id[:min(len(id), 64)]) +
		", which the assistant message before it did not make: send the tool messages right after the assistant's, one for each of its `tool_calls`")
}

// settle answers the calls that the client left without.
func (c *conversation) settle() {
	for len(c.open) > 0 {
		_ = c.answer(c.open[0].id, rawjson.Quote(noAnswer))
	}
}

// role returns the role of the last message so far.
func (c *conversation) role() string { return c.last.Get("role").String() }

func message(role string, content rawjson.Value) rawjson.Edit {
	return rawjson.Edit{{Key: "role", Value: rawjson.Quote(role)}, {Key: "content", Value: content}}
}

// contentOf returns a message's content: a string, or a list that is not
// empty.
func contentOf(v rawjson.Value) (rawjson.Value, error) {
	if v.Kind() == rawjson.String {
		return v, nil
	}
	var parts []rawjson.Value
	for it := v.Items(); it.Next(); {
		p, err := part(it.Value)
		if err != nil {
			return nil, err
		}
		if len(p) > 0 {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return rawjson.Value(`""`), nil
	}
	return array(parts), nil
}

// part returns a part of content, and nothing for one that is empty.
func part(v rawjson.Value) (rawjson.Value, error) {
	kind := v.Get("type").String()
	e := rawjson.Edit(nil)
	switch kind {
	case "text", "refusal":
		text := v.Get(kind)
		if text.Kind() != rawjson.String || len(text) == 2 {
			return nil, nil
		}
		e, kind = rawjson.Edit{{Key: "text", Value: text}}, "text"
	case "image_url":
		e = only(v, "image_url")
		if image := e.Get("image_url"); image.Kind() == rawjson.Object {
			e.Set("image_url", only(image, "url", "detail").Value())
		}
	case "input_audio": // OpenAI says the format beside the data
		e = only(v, "input_audio")
		if data := v.Path("input_audio", "data"); len(data) > 0 {
			e.Set("input_audio", data)
		}
	case "file":
		file := v.Get("file")
		if data := file.Get("file_data"); len(data) > 0 {
			e, kind = rawjson.Edit{{Key: "document_url", Value: data}}, "document_url"
			break
		}
		e = append(only(v, "file_id"), only(file, "file_id")...)
	case "document_url":
		e = only(v, "document_url", "document_name")
	case "thinking", "reference": // of an answer of Mistral's own
		e = only(v, "thinking", "reference_ids")
	default:
		return nil, provider.Refuse("a message in `messages` has a part of `content` whose `type` Mistral does not know: it takes text, image_url, input_audio, file and document_url")
	}
	e.Set("type", rawjson.Quote(kind))
	return e.Value(), nil
}
