package main

import (
	"cmp"
	"slices"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

const defaultBase = "https://api.mistral.ai/v1"

type mistral struct {
	openai.Encoder
	openai.Decoder
	conversation conversation
	tools        toolList
}

func (m *mistral) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	body := keepTaken(m.Body(r))
	body.Rename("max_completion_tokens", "max_tokens")
	body.Rename("seed", "random_seed")
	messages, err := m.conversation.rewrite(body.Get("messages"))
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	body.Set("messages", messages)
	if len(body.Get("tools")) > 0 {
		if err := m.tools.set(&body); err != nil {
			return provider.HTTPRequest{}, err
		}
	}
	return m.Request(cmp.Or(r.Settings.BaseURL, defaultBase), r.Settings, body), nil
}

// Models implements [provider.ModelLister].
func (*mistral) Models(r *provider.Request) (provider.HTTPRequest, error) {
	return openai.Models(cmp.Or(r.Settings.BaseURL, defaultBase), r.Settings), nil
}

// Embed implements [provider.Embedder]. The embedder's url is that of the route.
func (*mistral) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	return openai.Embeddings(cmp.Or(r.Settings.BaseURL, defaultBase+"/embeddings"), r, "output_dimension"), nil
}

func (*mistral) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }

// Mistral refuses a request for one member that it does not know, at the top
// or inside a message. So each object is cut down to those it is known to take.
//
// As in rawjson, what loops is not inlined: in a guest a loop costs by the
// function that it stands in.

// keepTaken leaves of a body's members those that Mistral takes and that are not
// null.
//
//go:noinline
func keepTaken(body rawjson.Edit) rawjson.Edit {
	kept := body[:0]
	for i := range body {
		if isTaken(body[i].Key) && !body[i].Value.IsNull() {
			kept = append(kept, body[i])
		}
	}
	return kept
}

// isTaken reports whether Mistral takes a member at the top, under this name or
// one that it gets.
//
//go:noinline
func isTaken(key string) bool {
	switch key {
	case "model", "messages", "stream", "temperature", "top_p", "max_tokens", "max_completion_tokens", "stop",
		"random_seed", "seed", "n", "presence_penalty", "frequency_penalty", "response_format", "prediction",
		"tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "prompt_mode", "safe_prompt",
		"guardrails", "metadata", "prompt_cache_key":
		return true
	}
	return false
}

// keepOnly leaves of an object's members those called keys that are not null.
//
//go:noinline
func keepOnly(e rawjson.Edit, keys ...string) rawjson.Edit {
	kept := e[:0]
	for i := range e {
		if slices.Contains(keys, e[i].Key) && !e[i].Value.IsNull() {
			kept = append(kept, e[i])
		}
	}
	return kept
}

// joinArray returns the values as a JSON array.
func joinArray(values []rawjson.Value) rawjson.Value {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}

// Pattern implements [provider.Patterned].
func (m *mistral) Pattern(s *openai.State, out *provider.Out) { m.TellPattern(s, out) }
