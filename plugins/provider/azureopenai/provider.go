package main

import (
	"strings"

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
}

func (a *azure) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	t, err := targetOf(&r.Settings)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	body := a.Body(r.Chat)
	f := family(t.deployment, body.Get("model").String())
	f.Fit(&body)
	if t.olderThan(sinceUsage) || t.form == formModels {
		body.Drop("stream_options")
	}
	if t.olderThan(sinceUsage) && !f.Reasons() {
		body.Rename("max_completion_tokens", "max_tokens")
	}
	if t.olderThan(sinceDeveloper) {
		body.Set("messages", openai.SystemAs("system", body.Get("messages")))
	}
	if t.form != formDeployment {
		body.Set("model", rawjson.Quote(t.deployment))
	}
	h := a.Request("", provider.Settings{}, body)
	h.URL = t.url()
	if r.Settings.APIKey != "" {
		h.Headers = append(h.Headers, provider.Header{Name: "api-key", Value: r.Settings.APIKey})
	}
	if t.form == formModels {
		// Without it Foundry refuses every member that not all models know.
		h.Headers = append(h.Headers, provider.Header{Name: "extra-parameters", Value: "pass-through"})
	}
	return h, nil
}

func (*azure) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }

// family tells the model by the deployment's name, "prod-gpt-5.6-eu" too, and
// by the request's model where that name says nothing: the deployment decides
// what runs, whatever the request says.
func family(deployment, model string) openai.Family {
	for rest := strings.ToLower(deployment); rest != ""; {
		if f := openai.FamilyOf(rest); f.Known() {
			return f
		}
		i := strings.IndexAny(rest, "-_.")
		rest = rest[i+1:]
		if i < 0 {
			break
		}
	}
	return openai.FamilyOf(model)
}
