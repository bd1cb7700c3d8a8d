package main

import (
	"strconv"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// A conversation is messages under way to Ollama's form. It holds scratch memory:
// what it returns is good until it is asked again.
type conversation struct {
	out   []byte
	names []called
}

// called is a tool call that an answer may be for: Ollama knows answers by the
// name of the tool.
type called struct{ id, name string }

func (c *conversation) read(messages rawjson.Value, r *provider.Request) (rawjson.Value, error) {
	c.names = c.names[:0]
	carried := r.MatchCarry(messages)
	b := append(c.out[:0], '[')
	var members [5]rawjson.Value
	for it, i := messages.Items(), 0; it.Next(); i++ {
		it.Value.Pick(members[:], "role", "content", "tool_calls", "tool_call_id", "reasoning_content")
		role, text := members[0].String(), openai.ContentText(members[1])
		switch role {
		case "system", "developer":
			b = beginMessage(b, "system", text)
		case "user":
			b = beginMessage(b, "user", text)
			var err error
			if b, err = appendImages(b, i, members[1]); err != nil {
				return nil, err
			}
		case "assistant":
			text += it.Value.Get("refusal").String()
			thinking := members[4]
			if string(carried.Next(it.Value)) == tagsMark && thinking.Kind() == rawjson.String {
				text, thinking = openai.Tagged(thinking.String(), text), nil
			}
			b = beginMessage(b, "assistant", text)
			if thinking.Kind() == rawjson.String {
				b = append(append(b, `,"thinking":`...), thinking...)
			}
			b = c.calls(b, members[2])
		case "tool":
			b = beginMessage(b, "tool", text)
			b = c.answer(b, members[3].String())
		default:
			return nil, provider.Refuse("`messages[" + strconv.Itoa(i) + "].role` is none that Ollama can be given: use system, developer, user, assistant or tool")
		}
		b = append(b, `},`...)
	}
	if len(b) > 1 {
		b = b[:len(b)-1]
	}
	c.out = append(b, ']')
	return c.out, nil
}

// appendImages appends the images of the message at index i, which are no parts here.
func appendImages(b []byte, i int, content rawjson.Value) ([]byte, error) {
	images := 0
	for it, j := content.Items(), 0; it.Next(); j++ {
		if it.Value.Get("text").Kind() == rawjson.String {
			continue
		}
		m, at := openai.MediaOf(it.Value), "`messages["+strconv.Itoa(i)+"].content["+strconv.Itoa(j)+"]."
		switch {
		case m.Type != "image_url":
			return nil, provider.Refuse(at + "type` is none that Ollama can be given: send text or image_url")
		case m.URL != "" || m.Data == "":
			return nil, provider.Refuse(at + "image_url.url` must hold the image itself, as data:image/png;base64,…: Ollama fetches none")
		}
		if images++; images == 1 {
			b = append(b, `,"images":[`...)
		} else {
			b = append(b, ',')
		}
		b = rawjson.AppendString(b, m.Data)
	}
	if images > 0 {
		b = append(b, ']')
	}
	return b, nil
}

// beginMessage appends a message but for its end.
func beginMessage(b []byte, role, text string) []byte {
	b = append(append(append(b, `{"role":"`...), role...), `","content":`...)
	return rawjson.AppendString(b, text)
}

// calls appends an assistant's calls, whose arguments are objects here.
func (c *conversation) calls(b []byte, calls rawjson.Value) []byte {
	if calls.Empty() {
		return b
	}
	b = append(b, `,"tool_calls":[`...)
	for it, i := calls.Items(), 0; it.Next(); i++ {
		f := it.Value.Get("function")
		name, id := f.Get("name").String(), it.Value.Get("id").String()
		c.names = append(c.names, called{id, name})
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if id != "" {
			b = append(rawjson.AppendString(append(b, `"id":`...), id), ',')
		}
		b = rawjson.AppendString(append(b, `"function":{"index":`+strconv.Itoa(i)+`,"name":`...), name)
		b = append(append(b, `,"arguments":`...), turns.Arguments(f.Get("arguments"))...)
		b = append(b, "}}"...)
	}
	return append(b, ']')
}

// answer appends whose answer a message is: older servers know the tool's name
// alone.
func (c *conversation) answer(b []byte, id string) []byte {
	for i := len(c.names) - 1; i >= 0; i-- {
		if c.names[i].id == id {
			b = rawjson.AppendString(append(b, `,"tool_name":`...), c.names[i].name)
			break
		}
	}
	return rawjson.AppendString(append(b, `,"tool_call_id":`...), id)
}
