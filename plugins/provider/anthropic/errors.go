package main

import (
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

func (*anthropic) Error(r *provider.Response) provider.ProviderError { return explainError(r) }

// readFailure returns the error that an event says.
func readFailure(data []byte) error { return explainError(&provider.Response{Body: data}) }

// explainError says what an error means. Its form is one that OpenAI's servers have
// too, so that the sorting is theirs; what follows is this API's own.
func explainError(r *provider.Response) provider.ProviderError {
	e := openai.Error(r)
	v, _ := rawjson.Parse(r.Body)
	body := v.Get("error")
	switch body.Get("type").String() {
	case "billing_error":
		e.Kind = abi.ErrorQuota
	case "request_too_large":
		e.Kind = abi.ErrorContextLength // more bytes than it takes: shorten it
	case "timeout_error":
		e.Kind = abi.ErrorTimeout
	case "rate_limit_error":
		if code := body.Path("details", "error_code").String(); code == "enforced_spend_limit_reached" {
			e.Kind, e.ProviderCode = abi.ErrorQuota, code
		}
	case "invalid_request_error", "api_error":
		if kind := kindOfMessage(e.Message); kind != "" {
			e.Kind = kind
		}
	}
	return e
}

// kindOfMessage knows the failures for which the API has no type of their own.
func kindOfMessage(message string) string {
	for _, m := range [...]struct{ words, kind string }{
		{"prompt is too long", abi.ErrorContextLength},
		{"exceed context limit", abi.ErrorContextLength},
		{"credit balance is too low", abi.ErrorQuota},
		{"API usage limits", abi.ErrorQuota},
		{"content filtering policy", abi.ErrorContentFilter},
	} {
		if strings.Contains(message, m.words) {
			return m.kind
		}
	}
	return ""
}
