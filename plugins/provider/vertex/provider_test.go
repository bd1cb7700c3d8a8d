package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&vertex{}), "testdata") }

func TestBadStreams(t *testing.T) {
	plugintest.RunBad(t, plugintest.New(&vertex{}), "testdata", map[string]abi.Event{
		"usage without counts": {Data: []byte(`{"usageMetadata":{"trafficType":"ON_DEMAND"}}`)},
		"an error of Google":   {Data: []byte(`{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`)},
	})
}

func TestRecordings(t *testing.T) { plugintest.RunCorpus(t, plugintest.New(&vertex{}), "vertex") }

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&vertex{}), "vertex") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&vertex{}), "vertex") }

func TestEncode(t *testing.T) {
	const end = ":streamGenerateContent?alt=sse"
	set := func(location string) string {
		return `{"project":"p-1","location":"` + location + `","serviceAccount":true}`
	}
	for _, tt := range []struct{ base, options, model, want string }{
		{"", set("global"), "gemini-2.5-flash", "https://aiplatform.googleapis.com/v1/projects/p-1/locations/global/publishers/google/models/gemini-2.5-flash" + end},
		{"", set("europe-west1"), "models/gemini-3", "https://europe-west1-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west1/publishers/google/models/gemini-3" + end},
		{"", set("eu"), "gemini-3", "https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu/publishers/google/models/gemini-3" + end},
		{"https://own.example/", set("global"), "projects/1/locations/us-east1/endpoints/2", "https://own.example/v1/projects/1/locations/us-east1/endpoints/2" + end},
		{"", set("global"), "endpoints/2", "https://aiplatform.googleapis.com/v1/projects/p-1/locations/global/endpoints/2" + end},
		{"", set("global"), "other/x", "! `model` is not a model"},
		{"", set("global"), "../x", "! `model` is not a model"},
		{"", set("global"), "a?b", "! `model` is not a model"},
		{"", set("global"), "", "! `model` is not set"},
		{"", `{"project":"p-1"}`, "m", "! `options.serviceAccount` is not set"},
		{"", `{"serviceAccount":true}`, "m", "! `options.project` is not set"},
	} {
		r, err := plugintest.New(&vertex{}).Encode(abi.EncodeRequest{
			Settings: abi.Settings{BaseURL: tt.base}, Options: plugintest.Options(tt.options),
			Chat: abi.RawJSON(`{"model":"` + tt.model + `","messages":[{"role":"user","content":"u"}]}`),
		})
		if refusal, ok := strings.CutPrefix(tt.want, "! "); ok {
			if err == nil || !strings.Contains(err.Error(), refusal) {
				t.Errorf("%q with %s: %v, want %q", tt.model, tt.options, err, refusal)
			}
			continue
		}
		if err != nil || r.URL != tt.want || len(r.Headers) != 1 || string(r.Body) != `{"contents":[{"role":"user","parts":[{"text":"u"}]}]}` {
			t.Errorf("%q with %s: %+v %s, %v; want %s", tt.model, tt.options, r, r.Body, err, tt.want)
		}
	}
}
