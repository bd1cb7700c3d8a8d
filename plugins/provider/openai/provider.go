package main

import (
	"cmp"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

const defaultBase = "https://api.openai.com/v1"

type openAI struct {
	openai.Encoder
	openai.Decoder
}

func (o *openAI) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	base := r.Settings.BaseURL
	body := o.Body(r)
	if base == "" {
		base = defaultBase
	}
	if base == defaultBase {
		leaveOutPadding(&body)
	}
	openai.FamilyOf(body.Get("model").String()).Fit(&body)
	h := o.Request(base, r.Settings, body)
	h.Headers = appendAccount(h.Headers, &r.Settings)
	return h, nil
}

// leaveOutPadding asks for events without padding against guesses by length, which
// doubles the bytes: between host and provider TLS is all there is to guess from.
func leaveOutPadding(body *rawjson.Edit) {
	if options := rawjson.EditOf(body.Get("stream_options")); len(options) > 0 {
		options.Set("include_obfuscation", rawjson.Value("false"))
		body.Set("stream_options", options.Value())
	}
}

// appendAccount appends the headers that say who pays.
func appendAccount(headers []provider.Header, s *provider.Settings) []provider.Header {
	if s.OrgID != "" {
		headers = append(headers, provider.Header{Name: "OpenAI-Organization", Value: s.OrgID})
	}
	if s.ProjectID != "" {
		headers = append(headers, provider.Header{Name: "OpenAI-Project", Value: s.ProjectID})
	}
	return headers
}

// Models implements [provider.ModelLister].
func (*openAI) Models(r *provider.Request) (provider.HTTPRequest, error) {
	h := openai.Models(cmp.Or(r.Settings.BaseURL, defaultBase), r.Settings)
	h.Headers = appendAccount(h.Headers, &r.Settings)
	return h, nil
}

// Embed implements [provider.Embedder]. The embedder's url is that of the route.
func (*openAI) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	dimensions := "dimensions"
	if r.Model == "text-embedding-ada-002" {
		dimensions = "" // which it refuses
	}
	return openai.Embeddings(cmp.Or(r.Settings.BaseURL, defaultBase+"/embeddings"), r, dimensions), nil
}

func (*openAI) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }

// Pattern implements [provider.Patterned].
func (o *openAI) Pattern(s *openai.State, out *provider.Out) { o.TellPattern(s, out) }
