package main

import (
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
)

const (
	defaultBase = "https://api.anthropic.com"
	apiVersion  = "2023-06-01"
)

// An anthropic is the provider. It holds scratch memory, and what came of the
// last settings: most requests have the same.
type anthropic struct {
	scratch []byte // unescaped text
	memo    []byte
	typ     eventType // of the event at hand
	reading pattern.Reading
	kept    pattern.Kept
	encoder encoder

	base, key, url string
	headers        []provider.Header
}

func (p *anthropic) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	body, err := p.encoder.encode(r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	if s := &r.Settings; p.headers == nil || s.BaseURL != p.base || s.APIKey != p.key {
		p.base, p.key = s.BaseURL, s.APIKey
		p.url, p.headers = messagesURL(s.BaseURL), authHeaders(s.APIKey)
	}
	h := provider.HTTPRequest{URL: p.url, Headers: p.headers, Body: body, Framing: abi.FramingAuto}
	if p.encoder.talk.files {
		h.Headers = append(slices.Clip(h.Headers), provider.Header{Name: "anthropic-beta", Value: "files-api-2025-04-14"})
	}
	return h, nil
}

func authHeaders(key string) []provider.Header {
	all := []provider.Header{
		{Name: "Accept", Value: "text/event-stream"},
		{Name: "Content-Type", Value: "application/json"},
		{Name: "anthropic-version", Value: apiVersion},
	}
	if key != "" {
		all = append(all, provider.Header{Name: "x-api-key", Value: key})
	}
	return all
}

// Models implements [provider.ModelLister].
func (*anthropic) Models(r *provider.Request) (provider.HTTPRequest, error) {
	h := provider.HTTPRequest{
		Method: "GET", URL: strings.TrimSuffix(messagesURL(r.Settings.BaseURL), "/messages") + "/models?limit=1000",
		Answer: `{"data":[{"id":"{{model}}"},"{{..}}"]}`,
	}
	for _, header := range authHeaders(r.Settings.APIKey) {
		switch header.Name {
		case "Accept", "Content-Type":
		default:
			h.Headers = append(h.Headers, header)
		}
	}
	return h, nil
}

// messagesURL returns where messages live under a base URL, which may end with
// the version or with the whole path.
func messagesURL(base string) string {
	if base == "" {
		base = defaultBase
	}
	base = strings.TrimRight(base, "/")
	switch {
	case strings.HasSuffix(base, "/v1/messages"):
		return base
	case strings.HasSuffix(base, "/v1"):
		return base + "/messages"
	}
	return base + "/v1/messages"
}
