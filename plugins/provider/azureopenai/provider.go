package main

import (
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// The dates since which versions of the API know a thing. An older one refuses
// what it does not know.
const (
	sinceUsage     = "2024-09-01" // stream_options and max_completion_tokens
	sinceDeveloper = "2024-12-01" // the role developer
)

type azure struct {
	openai.Encoder
	openai.Decoder
	target target // of the last request; most have the same
}

func (a *azure) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	t := &a.target
	if t.url == "" || r.Settings != t.settings {
		var err error
		if *t, err = targetOf(r.Settings); err != nil {
			return provider.HTTPRequest{}, err
		}
	}
	body := a.Body(r)
	f := t.family
	if !f.Known() { // the deployment decides what runs, whatever the request says
		f = openai.FamilyOf(body.Get("model").String())
	}
	f.Fit(&body)
	if t.olderThan(sinceUsage) || t.form == formModels {
		body.Drop("stream_options")
	}
	if t.olderThan(sinceUsage) && !f.Reasons() {
		body.Rename("max_completion_tokens", "max_tokens")
	}
	if f.SystemRole() == "developer" && t.olderThan(sinceDeveloper) {
		body.Set("messages", openai.SystemAs("system", body.Get("messages")))
	}
	if t.form != formDeployment {
		body.Set("model", rawjson.Quote(t.deployment))
	}
	h := a.Request("", provider.Settings{}, body)
	h.URL, h.Headers = t.url, t.headers
	return h, nil
}

func (*azure) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }

// Pattern implements [provider.Patterned].
func (a *azure) Pattern(s *openai.State, out *provider.Out) { a.TellPattern(s, out) }
