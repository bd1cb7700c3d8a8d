package main

import (
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
)

type vLLM struct {
	openai.Encoder
	openai.Decoder
}

func (v *vLLM) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	base := r.Settings.BaseURL
	if base == "" {
		return provider.HTTPRequest{}, provider.Refuse("`baseUrl` is not set: PATCH the workspace's settings with the address of the server, for instance http://localhost:8000/v1")
	}
	if !openai.HasPath(base) {
		base = strings.TrimRight(base, "/") + "/v1"
	}
	body := v.Body(r.Chat)
	body.Set("messages", openai.SystemFirst(body.Get("messages")))
	return v.Request(base, r.Settings, body), nil
}

func (*vLLM) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }
