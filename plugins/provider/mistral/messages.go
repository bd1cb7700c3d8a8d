package main

import (
	"errors"
	"slices"
	"strconv"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// What stands in for a message that Mistral's order of roles needs and the
// client did not send.
const (
	bridge   = `"OK."`                               // of the assistant, between a tool's answer and the user
	noAnswer = `"No answer."`                        // of a tool that was called and said nothing
	opening  = `{"role":"user","content":"Go on."},` // before an assistant that is alone
)

// A conversation writes messages as Mistral takes them: instructions in front;
// after tools only the assistant; an answer for each call, and a call for each
// answer; the user or a tool last, or an assistant that is to be continued. Its
// memory is used again for the next request.
type conversation struct {
	ids
	out  []byte // the messages so far, an array without its end
	last string // the role of the last one; "": there is none yet
	at   int    // where in out that one begins
	open []call // of the last assistant message, and not answered yet

	calls    []byte       // of one message, an array
	function rawjson.Edit // of one call
}

// A call is a tool call under the client's id and under ours.
type call struct{ id, given, name string }

// rewrite returns messages as Mistral takes them, good until it is asked again.
func (c *conversation) rewrite(messages rawjson.Value) (rawjson.Value, error) {
	err := c.addAll(messages)
	if err == errScattered {
		err = c.addAll(openai.SystemFirst(messages))
	}
	if err != nil {
		return nil, err
	}
	return c.end()
}

// errScattered is what add says of instructions that do not all stand in one
// text in front.
var errScattered = errors.New("the instructions are scattered")

func (c *conversation) addAll(messages rawjson.Value) error {
	c.ids = ids{messages: messages}
	c.out, c.last, c.open = append(c.out[:0], '['), "", c.open[:0]
	for it := messages.Items(); it.Next(); {
		if err := c.add(it.Value); err != nil {
			return err
		}
	}
	return nil
}

// end returns what was written.
func (c *conversation) end() (rawjson.Value, error) {
	c.settle()
	switch c.last {
	case "":
		return nil, provider.Refuse("`messages` has no text: send at least one message of the user")
	case "assistant":
		c.set("prefix", rawjson.Value("true"))
		if c.at == 1 { // it is alone
			c.out = slices.Insert(c.out, 1, []byte(opening)...)
		}
	}
	c.out = append(c.out, ']')
	return c.out, nil
}

// add takes the next message.
func (c *conversation) add(m rawjson.Value) error {
	var members [5]rawjson.Value
	m.Pick(members[:], "role", "content", "refusal", "tool_calls", "tool_call_id")
	role, _ := members[0].Text()
	switch string(role) {
	case "system":
		if text := members[1]; c.last == "" && text.Kind() == rawjson.String && len(text) > 2 {
			c.write("system", text)
			return nil
		}
		return errScattered
	case "developer":
		return errScattered
	}
	content, err := contentOf(members[1])
	if err != nil {
		return err
	}
	if string(role) == "tool" {
		return c.answer(members[4].String(), content)
	}
	c.settle()
	switch string(role) {
	case "user":
		if c.last == "tool" {
			c.write("assistant", rawjson.Value(bridge))
		}
		c.write("user", content)
	case "assistant":
		if refusal := members[2]; len(content) == 2 && refusal.Kind() == rawjson.String {
			content = refusal
		}
		calls := c.ask(members[3])
		if len(c.open) == 0 && len(content) == 2 {
			return nil // neither text nor calls: it is refused, and says nothing
		}
		c.write("assistant", content)
		if len(c.open) > 0 {
			c.set("tool_calls", calls)
		}
	default:
		return provider.Refuse("`messages` has a message whose role is none of system, developer, user, assistant and tool")
	}
	return nil
}

// write writes a message. It is not inlined: in a guest the functions that call
// it would cost several times as much.
//
//go:noinline
func (c *conversation) write(role string, content rawjson.Value) {
	b := c.out
	if c.last != "" {
		b = append(b, ',')
	}
	c.last, c.at = role, len(b)
	b = append(append(append(b, `{"role":"`...), role...), `","content":`...)
	c.out = append(append(b, content...), '}')
}

// set gives the last message one more member.
func (c *conversation) set(key string, v rawjson.Value) {
	end := len(c.out) - 1
	c.out = append(append(append(c.out[:end], `,"`...), key...), `":`...)
	c.out = append(append(c.out, v...), '}')
}

// ask rewrites an assistant's tool calls, and keeps them as open.
func (c *conversation) ask(calls rawjson.Value) rawjson.Value {
	c.calls = append(c.calls[:0], '[')
	for it := calls.Items(); it.Next(); {
		if len(c.open) > 0 {
			c.calls = append(c.calls, ',')
		}
		var members [2]rawjson.Value
		it.Value.Pick(members[:], "id", "function")
		f := keepOnly(rawjson.AppendMembers(c.function[:0], members[1]), "name", "arguments")
		arguments := f.Get("arguments")
		if text, ok := arguments.Text(); ok || len(arguments) == 0 {
			if _, ok := rawjson.Parse(text); !ok {
				f.Set("arguments", rawjson.Value(`"{}"`)) // cut off, or empty: it has to be JSON
			}
		}
		id := members[0].String()
		open := call{id, c.give(id), f.Get("name").String()}
		c.open, c.function = append(c.open, open), f
		c.calls = append(append(append(c.calls, `{"id":"`...), open.given...), `","type":"function","function":`...)
		c.calls = append(f.Append(c.calls), '}')
	}
	c.calls = append(c.calls, ']')
	return c.calls
}

// answer adds a tool's answer to the first open call of that id; calls of one
// message may share an id, and a lone answer may lack one.
func (c *conversation) answer(id string, content rawjson.Value) error {
	for i, open := range c.open {
		if open.id != id && id != "" {
			continue
		}
		c.open = append(c.open[:i], c.open[i+1:]...)
		c.write("tool", content)
		c.set("tool_call_id", rawjson.Quote(open.given))
		if open.name != "" {
			c.set("name", rawjson.Quote(open.name))
		}
		return nil
	}
	return provider.Refuse("`messages` has an answer to the tool call " + strconv.Quote(id[:min(len(id), 64)]) +
		", which the assistant message before it did not make: send the tool messages right after the assistant's, one for each of its `tool_calls`")
}

// settle answers the calls that the client left without.
func (c *conversation) settle() {
	for len(c.open) > 0 {
		_ = c.answer(c.open[0].id, rawjson.Value(noAnswer))
	}
}

// contentOf returns a message's content: a string, or a list that is not
// empty.
func contentOf(v rawjson.Value) (rawjson.Value, error) {
	if v.Kind() == rawjson.String {
		return v, nil
	}
	var parts []rawjson.Value
	for it := v.Items(); it.Next(); {
		p, err := encodePart(it.Value)
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
	return joinArray(parts), nil
}

// encodePart returns a part of content, and nothing for one that is empty.
func encodePart(v rawjson.Value) (rawjson.Value, error) {
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
		e = keepOnly(rawjson.EditOf(v), "image_url")
		if image := e.Get("image_url"); image.Kind() == rawjson.Object {
			e.Set("image_url", keepOnly(rawjson.EditOf(image), "url", "detail").Value())
		}
	case "input_audio": // OpenAI says the format beside the data
		e = keepOnly(rawjson.EditOf(v), "input_audio")
		if data := v.Path("input_audio", "data"); len(data) > 0 {
			e.Set("input_audio", data)
		}
	case "file":
		file := v.Get("file")
		if data := file.Get("file_data"); len(data) > 0 {
			e, kind = rawjson.Edit{{Key: "document_url", Value: data}}, "document_url"
			break
		}
		e = append(keepOnly(rawjson.EditOf(v), "file_id"), keepOnly(rawjson.EditOf(file), "file_id")...)
	case "document_url":
		e = keepOnly(rawjson.EditOf(v), "document_url", "document_name")
	case "thinking", "reference": // of an answer of Mistral's own
		e = keepOnly(rawjson.EditOf(v), "thinking", "reference_ids")
	default:
		return nil, provider.Refuse("a message in `messages` has a part of `content` whose `type` Mistral does not know: it takes text, image_url, input_audio, file and document_url")
	}
	e.Set("type", rawjson.Quote(kind))
	return e.Value(), nil
}
