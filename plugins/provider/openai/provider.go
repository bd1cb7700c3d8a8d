package main

import (
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
	body := o.Body(r.Chat)
	if base == "" {
		base = defaultBase
		// The padding of each event against guesses by length doubles the
		// bytes; between host and provider TLS is all there is to guess from.
		options := rawjson.EditOf(body.Get("stream_options"))
		options.Set("include_obfuscation", rawjson.Value("false"))
		body.Set("stream_options", options.Value())
	}
	openai.FamilyOf(body.Get("model").String()).Fit(&body)
	h := o.Request(base, r.Settings, body)
	if r.Settings.OrgID != "" {
		h.Headers = append(h.Headers, provider.Header{Name: "OpenAI-Organization", Value: r.Settings.OrgID})
	}
	if r.Settings.ProjectID != "" {
		h.Headers = append(h.Headers, provider.Header{Name: "OpenAI-Project", Value: r.Settings.ProjectID})
	}
	return h, nil
}

func (*openAI) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }
