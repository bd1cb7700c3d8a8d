package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// plain keeps nothing between calls; what a stream needs is its state.
type plain struct{}

// A state is that of one stream, as it travels.
type state struct {
	Ended  bool
	Calls  uint8
	Argued uint32 // bit i for call i
}

func (*plain) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	base := strings.TrimSuffix(r.Settings.BaseURL, "/")
	if base == "" {
		return provider.HTTPRequest{}, provider.Refuse("`baseUrl` is not set: PATCH the workspace's settings with the address of the server, for instance http://localhost:8000/v1")
	}
	// Where the key goes says the manifest's auth: the host puts it in.
	headers := []provider.Header{{Name: "Content-Type", Value: "application/json"}}
	return provider.HTTPRequest{URL: base + "/chat/completions", Headers: headers, Framing: "sse", Body: r.Chat}, nil
}

func (*plain) Decode(s *state, e provider.Event, out *provider.Out) error {
	switch {
	case s.Ended:
		return nil
	case e.End:
		return provider.ProviderError{Kind: "upstream", Message: "the response ended early"}
	}
	v, ok := rawjson.Parse(e.Data)
	if !ok {
		return nil
	}
	if failure := v.Get("error"); !failure.IsNull() {
		return provider.ProviderError{Kind: "upstream", Message: messageOf(failure)}
	}
	choices := v.Get("choices").Items()
	choices.Next()
	delta := choices.Value.Get("delta")
	if text, ok := delta.Get("content").Text(); ok {
		out.Text(text)
	}
	for calls := delta.Get("tool_calls").Items(); calls.Next(); {
		s.tool(calls.Value, out)
	}
	if reason := choices.Value.Get("finish_reason"); reason.Kind() == rawjson.String {
		s.finish(reason.String(), out)
	}
	return nil
}

// tool takes a piece of a call. The first one names it.
func (s *state) tool(piece rawjson.Value, out *provider.Out) {
	f := piece.Get("function")
	n, _ := piece.Get("index").Int()
	i, id, name := int(n), piece.Get("id").String(), f.Get("name").String()
	if i == int(s.Calls) && i < 32 && id != "" && name != "" {
		out.ToolStart(i, id, name)
		s.Calls++
	}
	if arguments := f.Get("arguments").String(); 0 <= i && i < int(s.Calls) && arguments != "" {
		out.ToolArguments(i, []byte(arguments))
		s.Argued |= 1 << i
	}
}

func (s *state) finish(reason string, out *provider.Out) {
	for i := range int(s.Calls) {
		if s.Argued>>i&1 == 0 {
			out.ToolArguments(i, []byte("{}"))
		}
	}
	switch reason {
	case "length", "tool_calls", "content_filter":
	default:
		reason = "stop"
	}
	out.Finish(reason)
	s.Ended = true
}

func (*plain) Error(r *provider.Response) provider.ProviderError {
	e := provider.ProviderError{Kind: kindOf(r.Status)}
	if v, ok := rawjson.Parse(r.Body); ok { // it mostly holds JSON
		e.Message = messageOf(v.Get("error"))
	}
	if seconds, err := strconv.ParseUint(r.Header("retry-after"), 10, 32); err == nil {
		e.RetryAfterMS = int64(seconds) * 1000
	}
	return e
}

// messageOf is what an error says, an object or a text.
func messageOf(failure rawjson.Value) string {
	if message := failure.Get("message"); message.Kind() == rawjson.String {
		return message.String()
	}
	return failure.String()
}

func kindOf(status int) string {
	switch {
	case status == 401:
		return "auth"
	case status == 402:
		return "quota"
	case status == 403:
		return "permission"
	case status == 404:
		return "not_found"
	case status == 429:
		return "rate_limit"
	case status == 408 || status == 504:
		return "timeout"
	case status == 503 || status == 529:
		return "overloaded"
	case status >= 400 && status < 500:
		return "invalid_request"
	}
	return "upstream"
}
