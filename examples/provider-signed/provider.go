package main

import (
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// signed speaks the API: POST /models/MODEL/answer, answered by lines of JSON such
// as {"text": "Hel"} and {"done": "stop", "tokens": [9, 4]}.
type signed struct{}

// state says whether the response has come to its end.
type state struct{ done bool }

// request is what all routes have in common.
func request(r *provider.Request, model, route string) (provider.HTTPRequest, error) {
	if !r.IsSet("accessKeyId") || !r.IsSet("secretAccessKey") {
		return provider.HTTPRequest{}, provider.Refuse("`options.accessKeyId` or `options.secretAccessKey` is not set: set both")
	}
	base := strings.TrimRight(r.Settings.BaseURL, "/")
	if base == "" {
		base = "https://api." + r.Option("region") + ".llm.example.com"
	}
	return provider.HTTPRequest{
		URL:     base + "/models/" + provider.EscapeURL(model) + route,
		Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}},
	}, nil
}

// Encode implements [provider.Provider].
func (signed) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	h, err := request(r, r.Chat.Get("model").String(), "/answer")
	if err != nil {
		return h, err
	}
	var body rawjson.Edit
	body.Set("messages", r.Chat.Get("messages"))
	if most := r.Chat.Get("max_tokens"); !most.IsNull() {
		body.Set("most", most)
	}
	h.Body, h.Framing = body.Value(), abi.FramingJSONLines
	return h, nil
}

// Embed implements [provider.Embedder].
func (signed) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	h, err := request(r, r.Model, "/vectors")
	if err != nil {
		return h, err
	}
	var body rawjson.Edit
	body.Set("texts", r.Texts)
	body.Set("as", rawjson.Quote(r.InputType))
	h.Body, h.Answer = body.Value(), `{"vectors":["{{embedding}}","{{..}}"]}`
	return h, nil
}

// Decode implements [provider.Provider].
func (signed) Decode(s *state, e provider.Event, out *provider.Out) error {
	if e.End {
		if !s.done && !e.Cancelled {
			return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the response ended early"}
		}
		return nil
	}
	if string(e.Type) == abi.EventText {
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "a line is not JSON"}
	}
	line := rawjson.Value(e.Data)
	if failure := line.Get("error"); failure.Kind() == rawjson.String {
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: failure.String()}
	}
	if text := line.Get("text"); text.Kind() == rawjson.String {
		out.Text([]byte(text.String()))
	}
	if done := line.Get("done"); done.Kind() == rawjson.String && !s.done {
		s.done = true
		if it := line.Get("tokens").Items(); it.Next() {
			prompt, _ := it.Value.Int()
			it.Next()
			completion, _ := it.Value.Int()
			out.Usage(provider.Usage{Prompt: uint64(prompt), Completion: uint64(completion), Total: uint64(prompt + completion)})
		}
		out.Finish("stop")
	}
	return nil
}

// Error implements [provider.Provider].
func (signed) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }
