package main

import (
	"cmp"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

const defaultBase = "https://api.mistral.ai/v1"

// Mistral refuses a request for one member that it does not know, at the top
// or inside a message. So each object is cut down to those it is known to take.
// These are the ones at the top.
var members = []string{
	"model", "messages", "stream", "temperature", "top_p", "max_tokens", "stop", "random_seed", "n",
	"presence_penalty", "frequency_penalty", "response_format", "prediction", "tools", "tool_choice",
	"parallel_tool_calls", "reasoning_effort", "prompt_mode", "safe_prompt", "guardrails", "metadata",
	"prompt_cache_key",
}

type mistral struct {
	openai.Encoder
	openai.Decoder
}

func (m *mistral) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	body := m.Body(dropNulls(rawjson.EditOf(r.Chat)).Value())
	body.Rename("max_completion_tokens", "max_tokens")
	body.Rename("seed", "random_seed")
	body.Keep(members...)
	messages, err := conversationOf(body.Get("messages"))
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	body.Set("messages", messages)
	if len(body.Get("tools")) > 0 {
		if err := setTools(&body); err != nil {
			return provider.HTTPRequest{}, err
		}
	}
	return m.Request(cmp.Or(r.Settings.BaseURL, defaultBase), r.Settings, body), nil
}

func (*mistral) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }

// only returns v with the members called keys, as far as they are there and
// not null.
func only(v rawjson.Value, keys ...string) rawjson.Edit {
	e := rawjson.EditOf(v)
	e.Keep(keys...)
	return dropNulls(e)
}

func dropNulls(e rawjson.Edit) rawjson.Edit {
	kept := e[:0]
	for _, m := range e {
		if !m.Value.IsNull() {
			kept = append(kept, m)
		}
	}
	return kept
}

// array returns the values as a JSON array.
func array(values []rawjson.Value) rawjson.Value {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}
