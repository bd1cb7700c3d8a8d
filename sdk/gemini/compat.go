package gemini

import (
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Google's OpenAI-compatible form is what sdk/openai has, but for thought
// signatures, which stand in extra_content of tool calls and must come back.

func (g *Provider) encodeCompat(r *provider.Request, base string) provider.HTTPRequest {
	body := g.compat.Body(r)
	signed := modelGeneration(body.Get("model").String()) >= 3
	var messages []byte
	for it := openai.SystemFirst(body.Get("messages")).Items(); it.Next(); {
		m := rawjson.EditOf(it.Value)
		if calls := m.Get("tool_calls"); signed && !calls.Empty() {
			m.Set("tool_calls", signCalls(calls))
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

// signCalls gives the first of calls Google's word for no signature where it has
// none.
func signCalls(calls rawjson.Value) rawjson.Value {
	var joined []byte
	for it, first := calls.Items(), true; it.Next(); first = false {
		c := rawjson.EditOf(it.Value)
		if first && len(c.Get("extra_content")) == 0 {
			c.Set("extra_content", extraContent(rawjson.Quote(skipValidator)))
		}
		joined = appendItem(joined, c.Value())
	}
	return wrapArray(joined)
}
