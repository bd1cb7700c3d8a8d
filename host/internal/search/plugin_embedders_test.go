package search_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// embedSources are plugins in Go that make vectors: of the two sources that
// Meilisearch has, and one, acme, that has options and takes three texts.
func embedSources() chattest.Sources {
	source := func(name, key string, describe func(*abi.EncodeRequest) (any, string)) *chattest.Source {
		return &chattest.Source{
			Is: abi.Manifest{
				ABI: 2, Name: name, Version: "1.0.0", Source: name, Does: []string{abi.OpChat, abi.OpEmbed},
				Grants: abi.Grants{HTTP: []string{abi.GrantBaseURL}, Secrets: []string{"apiKey"}},
				Auth:   []abi.Auth{{Name: abi.AuthPlaceholder, Scheme: abi.AuthPlaceholder}},
			},
			Describe: func(in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
				body, answer := describe(in)
				b, err := json.Marshal(body)
				out := &abi.EncodeResponse{URL: in.Settings.BaseURL, Body: b, Answer: abi.RawJSON(answer), Headers: map[string]string{}}
				if in.Settings.APIKey != "" {
					out.Headers[key] = "Bearer " + in.Settings.APIKey
				}
				return out, err
			},
		}
	}
	openAI := source("openAi", "Authorization", func(in *abi.EncodeRequest) (any, string) {
		body := map[string]any{"model": in.Model, "input": in.Texts}
		if in.Dimensions != 0 {
			body["dimensions"] = in.Dimensions
		}
		return body, `{"data":[{"embedding":"{{embedding}}"},"{{..}}"]}`
	})
	ollama := source("ollama", "Authorization", func(in *abi.EncodeRequest) (any, string) {
		if strings.HasSuffix(in.Settings.BaseURL, "/api/embeddings") {
			return map[string]any{"model": in.Model, "prompt": in.Texts[0]}, `{"embedding":"{{embedding}}"}`
		}
		return map[string]any{"model": in.Model, "input": in.Texts}, `{"embeddings":["{{embedding}}","{{..}}"]}`
	})
	acme := source("acme", "Authorization", func(in *abi.EncodeRequest) (any, string) {
		body := map[string]any{"model": in.Model, "input": in.Texts, "as": in.InputType}
		for name, v := range in.Options {
			body[name] = v
		}
		return body, `{"data":[{"embedding":"{{embedding}}"},"{{..}}"]}`
	})
	describe := acme.Describe
	acme.Describe = func(in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
		if len(in.Texts) > 1 && strings.HasPrefix(in.Texts[0], "long") {
			return nil, &provider.CallError{Kind: provider.TooLarge, Message: "the input is too large"}
		}
		if in.Texts[0] == "refused" {
			return nil, &provider.CallError{Kind: provider.Declared, Code: abi.CodeRefused, Message: "`model` is none"}
		}
		return describe(in)
	}
	acme.Is.Embed = abi.Embed{MaxTexts: 3, Models: []string{"acme-1"}}
	acme.Is.Auth = nil // options, which ABI 1 has not
	acme.Is.Options = map[string]abi.Option{
		"region": {Type: abi.OptionString, Pattern: "[a-z]{2}", Required: true}, "token": {Type: abi.OptionString, Secret: true},
		"depth": {Type: abi.OptionInteger},
	}
	chats := &chattest.Source{Is: abi.Manifest{Name: "chatter", Version: "1.0.0", Source: "chatter"}}
	return chattest.Sources{"openAi": openAI, "ollama": ollama, "acme": acme, "chatter": chats}
}

// TestPluginEmbedder has a plugin of no name of Meilisearch's make vectors: in
// batches of its own, of documents and of a query, with its options.
func TestPluginEmbedder(t *testing.T) {
	api, one := newKnownAPI(t), 1.0
	api.refused = true
	r := newRig(t)
	r.settings("a", `{"embedders":{"e":{"source":"acme","url":"`+api.url+`/v1/embeddings","options":{"region":"eu","token":"a-long-secret-token","depth":2},"documentTemplate":"{{doc.t}}"}}}`)
	r.add("a", `[{"id":1,"t":"sea sea"},{"id":2,"t":"land"},{"id":3,"t":"air"},{"id":4,"t":"sea"}]`)
	request := func(input, as string) string {
		return `/v1/embeddings  {"as":"` + as + `","depth":2,"input":[` + input + `],"model":"acme-1","region":"eu","token":true}`
	}
	if got, want := api.requests(), request(`"sea sea","land","air"`, "document")+"\n"+request(`"sea"`, "document"); got != want {
		t.Errorf("documents made the requests\n%s\nwant\n%s", got, want)
	}
	r.reopen()
	shown := `{"e":{"documentTemplate":"{{doc.t}}","documentTemplateMaxBytes":400,"options":{"depth":2,"region":"eu","token":"a-XXXX..."},"source":"acme","url":"` + api.url + `/v1/embeddings"}}`
	if got := r.setting("a", "embedders"); got != shown {
		t.Errorf("embedders %s\nwant %s", got, shown)
	}
	if got := r.ids("a", search.Query{Q: "sea", Hybrid: &settings.Hybrid{Embedder: "e", SemanticRatio: &one}, Limit: new(2)}); len(strings.Fields(got)) != 2 {
		t.Errorf("found %q, want two documents", got)
	}
	if got, want := api.requests(), request(`"sea"`, "query"); got != want {
		t.Errorf("a query made the request\n%s\nwant\n%s", got, want)
	}
	// Settings as they are shown change nothing, least of all the secret.
	r.settings("a", `{"embedders":`+r.setting("a", "embedders")+`}`)
	r.settings("a", `{"embedders":{"e":{"options":{"token":"another-secret-token"}}}}`)
	if got := api.requests(); got != "" {
		t.Errorf("the same settings, and another secret, made the requests\n%s", got)
	}
	// An option that says what is asked for makes other vectors.
	r.settings("a", `{"embedders":{"e":{"options":{"depth":3}}}}`)
	if got := api.requests(); strings.Count(got, `"depth":3`) != 2 || !strings.Contains(got, `"token":true`) {
		t.Errorf("another option made the requests\n%s", got)
	}
	// Another host does not get the secret.
	r.settings("b", `{"embedders":{"e":{"source":"acme","options":{"region":"eu","token":"a-long-secret-token"}}}}`)
	r.settings("b", `{"embedders":{"e":{"url":"https://elsewhere.example.com/v1"}}}`)
	if got := r.setting("b", "embedders"); strings.Contains(got, "token") || !strings.Contains(got, `"region":"eu"`) {
		t.Errorf("for another host the embedders are %s", got)
	}
}

// Texts that are too much at once for the plugin go one by one.
func TestPluginEmbedderHalves(t *testing.T) {
	api := newKnownAPI(t)
	api.refused = true
	r := newRig(t)
	r.settings("a", `{"embedders":{"e":{"source":"acme","url":"`+api.url+`/v1/embeddings","options":{"region":"eu"},"documentTemplate":"{{doc.t}}"}}}`)
	r.add("a", `[{"id":1,"t":"long sea"},{"id":2,"t":"long"},{"id":3,"t":"land"},{"id":4,"t":"air"}]`)
	var inputs []string
	for line := range strings.Lines(api.requests()) {
		_, rest, _ := strings.Cut(line, `"input":`)
		input, _, _ := strings.Cut(rest, `,"model"`)
		inputs = append(inputs, input)
	}
	if got, want := strings.Join(inputs, " "), `["long sea"] ["long"] ["land","air"]`; got != want {
		t.Errorf("requests for %s, want %s", got, want)
	}
	got := r.run(write.AddDocuments("a", "", false, []byte(`[{"id":5,"t":"refused"}]`)))
	if got.Status != task.Failed || !strings.Contains(got.Error.Message, "Embedder `e`: The plugin acme 1.0.0 says: `model` is none.") {
		t.Errorf("what the plugin refuses: %s, %+v", got.Status, got.Error)
	}
	if got := api.requests(); got != "" {
		t.Errorf("what the plugin refuses made the requests\n%s", got)
	}
}

func TestPluginEmbedderRefused(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct{ embedder, says string }{
		{`{"source":"acne"}`, "Did you mean \"acme\"?"},
		{`{"source":"chatter"}`, `no loaded plugin makes vectors for: it may be "acme", "composite", "ollama", "openAi", "rest", "userProvided"`},
		{`{"source":"a b"}`, "must be"},
		{`{"source":"acme","request":"{{text}}"}`, "`embedders.e.request` is not for the source \"acme\""},
		{`{"source":"acme","options":{"regoin":"eu"}}`, "Did you mean `region`?"},
		{`{"source":"acme","options":{"region":"europe"}}`, "`embedders.e.options.region` must match the pattern"},
		{`{"source":"acme","options":{"region":{}}}`, "must be a string, a number"},
		{`{"source":"acme","options":{"token":7}}`, "`embedders.e.options.token` must be a string"},
		{`{"source":"acme","options":{"token":"XXX..."}}`, "is a secret as it is shown"},
		{`{"source":"rest","options":{"a":1},"url":"http://x/","request":"{{text}}","response":"{{embedding}}"}`, "`embedders.e.options` is not for the source \"rest\""},
	} {
		n, err := r.svc.UpdateSettings("a", []byte(`{"embedders":{"e":`+tt.embedder+`}}`))
		if err == nil { // what one patch does not show is told at its turn
			err = &apierr.Error{Code: indexerr.InvalidSettingsEmbedders, Message: r.run(n, nil).Error.Message}
		}
		if !apierr.Is(err, indexerr.InvalidSettingsEmbedders) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v; want it to say %s", tt.embedder, err, tt.says)
		}
	}
	// What is missing is told when vectors are wanted.
	r.settings("b", `{"embedders":{"e":{"source":"acme","url":"http://127.0.0.1:1/"}}}`)
	got := r.run(write.AddDocuments("b", "", false, []byte(`[{"id":1,"t":"x"}]`)))
	if got.Status != task.Failed || !strings.Contains(got.Error.Message, "needs `options.region`") {
		t.Errorf("documents without a needed option: %s, %+v", got.Status, got.Error)
	}
}
