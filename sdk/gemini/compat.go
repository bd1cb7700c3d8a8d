package gemini

import (
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Google's OpenAI-compatible form is what sdk/openai has, but for thought
// signatures, which stand in extra_content of tool calls and must come back.

func (g *Provider) encodeCompat(r *provider.Request, base string) provider.HTTPRequest {
	body := g.compat.Body(r.Chat)
	rounds := readCarry(r.Carry)
	signed := modelGeneration(body.Get("model").String()) >= 3
	var messages []byte
	for it := openai.SystemFirst(body.Get("messages")).Items(); it.Next(); {
		m := rawjson.EditOf(it.Value)
		if calls := m.Get("tool_calls"); !calls.Empty() {
			m.Set("tool_calls", signCalls(calls, rounds, signed))
		}
		messages = appendItem(messages, m.Value())
	}
	body.Set("messages", wrapArray(messages))
	return bearer(r, g.compat.Request(base, r.Settings, body))
}

// bearer has the host sign h in as that form wants it: by the entry bearer of the
// manifest's auth.
func bearer(r *provider.Request, h provider.HTTPRequest) provider.HTTPRequest {
	if r.IsSet("apiKey") {
		h.Auth = "bearer"
	}
	return h
}

// signCalls gives calls what an earlier round kept for them, and the first one
// Google's word for no signature where it needs one.
func signCalls(calls rawjson.Value, rounds [][]kept, signed bool) rawjson.Value {
	var joined []byte
	for it, first := calls.Items(), true; it.Next(); first = false {
		c := rawjson.EditOf(it.Value)
		id := c.Get("id").String()
		for _, parts := range rounds {
			for _, p := range parts {
				if p.id == id && len(c.Get("extra_content")) == 0 {
					c.Set("extra_content", p.part)
				}
			}
		}
		if first && signed && len(c.Get("extra_content")) == 0 {
			c.Set("extra_content", extraContent(rawjson.Quote(skipValidator)))
		}
		joined = appendItem(joined, c.Value())
	}
	return wrapArray(joined)
}

func (g *Provider) decodeCompat(s *state, e provider.Event, out *provider.Out) error {
	g.compat.Opened = func(id string, call rawjson.Value, out *provider.Out) {
		if content := call.Get("extra_content"); content.Kind() == rawjson.Object {
			out.Extra(callExtra(content))
			s.carry(id, 0, content, out)
		}
	}
	return g.compat.Decode(&s.OpenAI, e, out)
}
