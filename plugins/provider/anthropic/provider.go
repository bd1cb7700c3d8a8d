package main

import (
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

const (
	defaultBase = "https://api.anthropic.com"
	apiVersion  = "2023-06-01"
)

// An anthropic is the provider. Its fields are scratch memory of one call.
type anthropic struct {
	scratch []byte // unescaped text
	memo    []byte
}

func (*anthropic) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	body, err := bodyOf(r)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	h := provider.HTTPRequest{
		URL: messagesURL(r.Settings.BaseURL),
		Headers: []provider.Header{
			{Name: "Accept", Value: "text/event-stream"},
			{Name: "Content-Type", Value: "application/json"},
			{Name: "anthropic-version", Value: apiVersion},
		},
		Body:    body,
		Framing: abi.FramingAuto,
	}
	if r.Settings.APIKey != "" {
		h.Headers = append(h.Headers, provider.Header{Name: "x-api-key", Value: r.Settings.APIKey})
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
