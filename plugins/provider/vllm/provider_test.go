package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestBadStreams(t *testing.T) { plugintest.RunBad(t, plugintest.New(&vLLM{}), "testdata", nil) }

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&vLLM{}), "vLlm") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&vLLM{}), "vLlm") }

func TestCases(t *testing.T) {
	plugintest.RunCases(t, plugintest.New(&vLLM{}), "testdata")
}

func TestRecordings(t *testing.T) {
	for _, source := range []string{"vLlm", "other", "openAi"} {
		t.Run(source, func(t *testing.T) {
			plugintest.RunCorpus(t, plugintest.New(&vLLM{}), source)
		})
	}
}

func TestEncode(t *testing.T) {
	const chat = `{"model":"m","messages":[{"role":"user","content":"u"},{"role":"system","content":"a"},{"role":"developer","content":"b"}],"top_k":20,"max_completion_tokens":9}`
	tests := []struct {
		name, base, key, url string
	}{
		{"without a path", "http://localhost:8000", "", "http://localhost:8000/v1/chat/completions"},
		{"with a slash", "http://localhost:8000/", "", "http://localhost:8000/v1/chat/completions"},
		{"with a path", "http://localhost:8000/v1", "", "http://localhost:8000/v1/chat/completions"},
		{"with a path and a slash", "http://localhost:8000/v1/", "", "http://localhost:8000/v1/chat/completions"},
		{"behind a proxy", "https://gpu.example/team/llm", "${apiKey}", "https://gpu.example/team/llm/chat/completions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := plugintest.New(&vLLM{}).Encode(abi.EncodeRequest{Settings: abi.Settings{BaseURL: tt.base, APIKey: tt.key}, Chat: abi.RawJSON(chat)})
			if err != nil {
				t.Fatal(err)
			}
			if r.URL != tt.url {
				t.Errorf("URL = %s, want %s", r.URL, tt.url)
			}
			want := ""
			if tt.key != "" {
				want = "Bearer ${apiKey}"
			}
			if got, there := r.Headers["Authorization"]; got != want || there != (want != "") {
				t.Errorf("Authorization = %q (there: %v), want %q", got, there, want)
			}
			if got, want := string(r.Body), `{"model":"m","messages":[{"role":"system","content":"a\n\nb"},{"role":"user","content":"u"}],"top_k":20,"max_completion_tokens":9,"stream":true,"stream_options":{"include_usage":true}}`; got != want {
				t.Errorf("body = %s, want %s", got, want)
			}
			if !json.Valid(r.Body) {
				t.Error("the body is not JSON")
			}
		})
	}
}

func TestEncodeWithoutAddress(t *testing.T) {
	_, err := plugintest.New(&vLLM{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(`{"messages":[]}`)})
	if err == nil || !strings.Contains(err.Error(), "baseUrl") {
		t.Errorf("Encode without baseUrl: error %v, want one that names it", err)
	}
}
