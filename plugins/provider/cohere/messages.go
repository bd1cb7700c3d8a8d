package main

import (
	"bytes"
	"strconv"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A conversation is messages under way to Cohere's form. It holds scratch memory:
// what it returns is good until it is asked again.
type conversation struct {
	out []byte
}

// read writes the messages. The plans that the model made before its calls, and its
// thoughts, go back with them.
func (c *conversation) read(messages rawjson.Value, r *provider.Request) (rawjson.Value, error) {
	carried := r.MatchCarry(messages)
	b := append(c.out[:0], '[')
	said := false
	for it, i := messages.Items(), 0; it.Next(); i++ {
		m := it.Value
		text := openai.ContentText(m.Get("content"))
		switch role := m.Get("role").String(); role {
		case "system", "developer":
			if text == "" {
				continue
			}
			b = appendMessage(b, "system", text)
		case "user":
			b = appendMessage(b, "user", text)
			said = true
		case "assistant":
			plan := carried.Next(m)
			if m.Get("tool_calls").Len() > 0 {
				b = appendCalls(b, m, plan)
				break
			}
			if text += m.Get("refusal").String(); text == "" {
				continue
			}
			if bytes.IndexByte(plan, thoughtMark) >= 0 && isThought(m) {
				b = appendThinking(append(b, `{"role":"assistant"`...), m)
				break
			}
			b = appendMessage(b, "assistant", text)
		case "tool":
			b = append(append(b, `{"role":"tool","tool_call_id":`...), rawjson.Quote(m.Get("tool_call_id").String())...)
			b = rawjson.AppendString(append(b, `,"content":`...), text)
			said = true
		default:
			return nil, provider.Refuse("`messages[" + strconv.Itoa(i) + "].role` is none that Cohere can be given: use system, developer, user, assistant or tool")
		}
		b = append(b, "},"...)
	}
	if !said {
		return nil, provider.Refuse("`messages` has none of a user: Cohere wants one")
	}
	b[len(b)-1] = ']'
	c.out = b
	return b, nil
}

func appendMessage(b []byte, role, text string) []byte {
	b = append(append(append(b, `{"role":"`...), role...), `","content":`...)
	return rawjson.AppendString(b, text)
}

// appendCalls appends an assistant's message with calls. Content and plan are not
// both taken; what the model thought is content.
func appendCalls(b []byte, m rawjson.Value, plan []byte) []byte {
	b = append(b, `{"role":"assistant","tool_calls":[`...)
	for it, i := m.Get("tool_calls").Items(), 0; it.Next(); i++ {
		f := it.Value.Get("function")
		arguments := f.Get("arguments")
		if _, ok := rawjson.Parse([]byte(arguments.String())); !ok {
			arguments = rawjson.Value(`"{}"`)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"id":`...), rawjson.Quote(it.Value.Get("id").String())...)
		b = append(append(b, `,"type":"function","function":{"name":`...), rawjson.Quote(f.Get("name").String())...)
		b = append(append(append(b, `,"arguments":`...), arguments...), "}}"...)
	}
	b = append(b, ']')
	thought := bytes.IndexByte(plan, thoughtMark) >= 0
	plan = bytes.ReplaceAll(plan, []byte{thoughtMark}, nil)
	if thought && len(plan) == 0 && isThought(m) {
		return appendThinking(b, m)
	}
	if len(plan) == 0 {
		plan = []byte(openai.ContentText(m.Get("content")))
	}
	if len(plan) > 0 {
		b = rawjson.AppendString(append(b, `,"tool_plan":`...), plan)
	}
	return b
}

// isThought reports whether the client has sent back what the model thought.
func isThought(m rawjson.Value) bool {
	text := m.Get("reasoning_content")
	return text.Kind() == rawjson.String && len(text) > 2
}

// appendThinking appends content: what the model thought, and what it said.
func appendThinking(b []byte, m rawjson.Value) []byte {
	b = append(append(append(b, `,"content":[{"type":"thinking","thinking":`...), m.Get("reasoning_content")...), '}')
	if text := openai.ContentText(m.Get("content")); text != "" {
		b = append(rawjson.AppendString(append(b, `,{"type":"text","text":`...), text), '}')
	}
	return append(b, ']')
}
