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
	base, err := root(r.Settings.BaseURL)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	body := v.Body(r)
	body.Set("messages", openai.InTurns(body.Get("messages")))
	return v.Request(base, r.Settings, body), nil
}

// root is where the API begins.
func root(base string) (string, error) {
	switch {
	case base == "":
		return "", provider.Refuse("`baseUrl` is not set: PATCH the workspace's settings with the address of the server, for instance http://localhost:8000/v1")
	case !openai.HasPath(base):
		base = strings.TrimRight(base, "/") + "/v1"
	}
	return base, nil
}

// Models implements [provider.ModelLister].
func (*vLLM) Models(r *provider.Request) (provider.HTTPRequest, error) {
	base, err := root(r.Settings.BaseURL)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	return openai.Models(base, r.Settings), nil
}

// Embed implements [provider.Embedder].
func (*vLLM) Embed(r *provider.Request) (provider.HTTPRequest, error) {
	base, err := root(r.Settings.BaseURL)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	return openai.Embeddings(base, r, "dimensions"), nil
}

func (*vLLM) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }

// Pattern implements [provider.Patterned].
func (v *vLLM) Pattern(s *openai.State, out *provider.Out) { v.TellPattern(s, out) }
