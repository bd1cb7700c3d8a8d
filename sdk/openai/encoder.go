package openai

import (
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// An Encoder makes the requests of an API that is shaped as OpenAI's chat
// completions. The zero value is ready; it holds scratch memory, so keep one in
// the provider's value. What it returns is good until it is asked again.
type Encoder struct {
	members rawjson.Edit
	body    []byte

	// What the last request was sent to, and what came of that: most are sent
	// to the same place.
	base, key, url string
	headers        []provider.Header
}

// What buffers have room for from the start: see package provider on why an
// ordinary request should find enough.
const (
	roomForBody    = 16 << 10
	roomForMembers = 32
	roomForMemo    = 2 << 10
)

// Body returns the body of a chat completion as the host gave it, made fit for
// any server of this shape: streamed, with usage asked for unless stream_options is
// null, with the reasoning of earlier rounds under the server's own name, and
// without members about tools where there are none, which many servers refuse.
func (e *Encoder) Body(r *provider.Request) rawjson.Edit {
	body := rawjson.AppendMembers(slices.Grow(e.members[:0], roomForMembers), r.Chat)
	body.Set("stream", yes)
	switch given := body.Get("stream_options"); {
	case given.Kind() == rawjson.Null: // the server takes none
	case given.Empty():
		body.Set("stream_options", withUsage)
	default:
		options := rawjson.EditOf(given)
		options.Set("include_usage", yes)
		body.Set("stream_options", options.Value())
	}
	if namesIn(r.Carry) || namesIn(r.TextCarry) {
		body.Set("messages", renameReasoning(body.Get("messages"), r))
	}
	e.members = body
	if body.Get("tools").Empty() {
		body.Drop("tools", "tool_choice", "parallel_tool_calls")
	}
	return body
}

// dropNulls leaves out what is null: it says nothing, and some servers refuse it.
//
//go:noinline
func dropNulls(body rawjson.Edit) rawjson.Edit {
	kept := body[:0]
	for i := range body {
		if !body[i].Value.IsNull() {
			kept = append(kept, body[i])
		}
	}
	return kept
}

// What Body sets, made once.
var (
	yes       = rawjson.Value("true")
	withUsage = rawjson.Value(`{"include_usage":true}`)
)

// Request returns the HTTP request that sends body to the base URL, with the
// workspace's key as a bearer token where there is one.
func (e *Encoder) Request(base string, s provider.Settings, body rawjson.Edit) provider.HTTPRequest {
	if e.headers == nil || base != e.base || s.APIKey != e.key {
		e.base, e.key = base, s.APIKey
		e.url, e.headers = URL(base), authHeaders(s.APIKey)
	}
	body = dropNulls(body)
	e.body = body.Append(slices.Grow(e.body[:0], roomForBody))
	return provider.HTTPRequest{URL: e.url, Headers: e.headers, Body: e.body, Framing: abi.FramingAuto}
}

func authHeaders(key string) []provider.Header {
	accept := provider.Header{Name: "Accept", Value: "text/event-stream"}
	content := provider.Header{Name: "Content-Type", Value: "application/json"}
	if key == "" {
		return []provider.Header{accept, content}
	}
	return []provider.Header{accept, {Name: "Authorization", Value: "Bearer " + key}, content}
}
