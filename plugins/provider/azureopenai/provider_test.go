package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) {
	plugintest.RunCases(t, plugintest.New(&azure{}), "testdata")
}

func TestBadStreams(t *testing.T) { plugintest.RunBad(t, plugintest.New(&azure{}), "testdata", nil) }

func TestRecordings(t *testing.T) {
	for _, source := range []string{"azureOpenAi", "openAi"} {
		t.Run(source, func(t *testing.T) {
			plugintest.RunCorpus(t, plugintest.New(&azure{}), source)
		})
	}
}

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&azure{}), "azureOpenAi") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&azure{}), "azureOpenAi") }

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"text", "filter-late", "tools-parallel"} {
		b.Run(name, func(b *testing.B) {
			c, err := response.ReadCase("testdata/" + name + ".case")
			if err != nil {
				b.Fatal(err)
			}
			plugintest.Bench(b, plugintest.New(&azure{}), c.Body)
		})
	}
}

// settings are those of a workspace, as far as they matter here.
func settings(base, version, deployment string) abi.Settings {
	return abi.Settings{OrgID: "org", ProjectID: "p", BaseURL: base, APIVersion: version, DeploymentID: deployment}
}

func encode(t *testing.T, s abi.Settings, chat string) (abi.EncodeResponse, map[string]any) {
	t.Helper()
	r, err := plugintest.New(&azure{}).Encode(abi.EncodeRequest{Settings: s, Chat: abi.RawJSON(chat)})
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	return r, body
}

func TestEncodeAddress(t *testing.T) {
	const host = "https://res.openai.azure.com"
	tests := []struct{ base, version, deployment, url, model string }{
		{host, "2024-10-21", "dep", host + "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{host + "/", "2024-10-21", "dep", host + "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{host + "//", "2024-10-21", "dep", host + "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{"https://res.cognitiveservices.azure.com", "2025-04-01-preview", "gpt-5.2_2025-12-11", "https://res.cognitiveservices.azure.com/openai/deployments/gpt-5.2_2025-12-11/chat/completions?api-version=2025-04-01-preview", "m"},
		{host + "/openai", "2024-10-21", "dep", host + "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{host + "/openai/deployments/", "2024-10-21", "dep", host + "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{host + "/openai/deployments/dep", "2024-10-21", "dep", host + "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{host + "/openai/deployments/other", "2024-10-21", "dep", host + "/openai/deployments/other/chat/completions?api-version=2024-10-21", "m"},
		{host + "/openai/deployments/dep/chat/completions", "2024-10-21", "dep", host + "/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{host + "/openai/deployments/models", "2024-10-21", "dep", host + "/openai/deployments/models/chat/completions?api-version=2024-10-21", "m"},
		{"https://gateway.example/team", "2024-10-21", "dep", "https://gateway.example/team/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
		{host, "2024-10-21&x=1", "a b/ü", host + "/openai/deployments/a%20b%2F%C3%BC/chat/completions?api-version=2024-10-21%26x%3D1", "m"},

		{host, "v1", "dep", host + "/openai/v1/chat/completions", "dep"},
		{host, " V1 ", "dep", host + "/openai/v1/chat/completions", "dep"},
		{host, "preview", "dep", host + "/openai/v1/chat/completions?api-version=preview", "dep"},
		{host + "/openai", "v1", "dep", host + "/openai/v1/chat/completions", "dep"},
		{host + "/openai/v1", "v1", "dep", host + "/openai/v1/chat/completions", "dep"},
		{host + "/openai/v1/", "preview", "dep", host + "/openai/v1/chat/completions?api-version=preview", "dep"},
		{host + "/openai/v1", "2024-10-21", "dep", host + "/openai/v1/chat/completions", "dep"},
		{host + "/openai/v1/chat/completions", "2024-10-21", "dep", host + "/openai/v1/chat/completions", "dep"},
		{host + "/openai/deployments/other", "v1", "dep", host + "/openai/v1/chat/completions", "other"},
		{"https://res.services.ai.azure.com/api/projects/p", "v1", "dep", "https://res.services.ai.azure.com/api/projects/p/openai/v1/chat/completions", "dep"},
		{"https://res.services.ai.azure.com/models", "v1", "dep", "https://res.services.ai.azure.com/openai/v1/chat/completions", "dep"},

		{"https://res.services.ai.azure.com", "2024-05-01-preview", "DeepSeek-R1", "https://res.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview", "DeepSeek-R1"},
		{"https://res.services.ai.azure.com/models", "2024-05-01-preview", "DeepSeek-R1", "https://res.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview", "DeepSeek-R1"},
		{"https://res.services.ai.azure.com/models/chat/completions/", "2024-05-01-preview", "DeepSeek-R1", "https://res.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview", "DeepSeek-R1"},
		{"https://res.services.ai.azure.com/openai", "2024-10-21", "dep", "https://res.services.ai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21", "m"},
	}
	for _, tt := range tests {
		t.Run(tt.base+" "+tt.version, func(t *testing.T) {
			r, body := encode(t, settings(tt.base, tt.version, tt.deployment), `{"model":"m","messages":[]}`)
			if r.URL != tt.url || r.Method != "POST" {
				t.Errorf("%s %s, want POST %s", r.Method, r.URL, tt.url)
			}
			if body["model"] != tt.model {
				t.Errorf("model = %v, want %s", body["model"], tt.model)
			}
			want := map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream"}
			if strings.Contains(tt.url, ".com/models/") {
				want["extra-parameters"] = "pass-through"
			}
			if !reflect.DeepEqual(r.Headers, want) {
				t.Errorf("headers = %v, want %v", r.Headers, want)
			}
		})
	}
}

func TestEncodeWithoutSettings(t *testing.T) {
	tests := []struct{ base, version, deployment, want string }{
		{"", "v1", "dep", "`baseUrl`"},
		{"https://h", "2024-10-21", "", "`deploymentId`"},
		{"https://h", "", "dep", "`apiVersion`"},
	}
	for _, tt := range tests {
		_, err := plugintest.New(&azure{}).Encode(abi.EncodeRequest{Settings: settings(tt.base, tt.version, tt.deployment), Chat: abi.RawJSON(`{"messages":[]}`)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Encode(%q, %q, %q): error %v, want one that names %s", tt.base, tt.version, tt.deployment, err, tt.want)
		}
	}
}

func TestEncodeVersions(t *testing.T) {
	const instructions = `"messages":[{"role":"developer","content":"s"}]`
	tests := []struct {
		version, deployment, chat string
		role                      string
		limit                     string // "": none
		usage                     bool
	}{
		{"2023-07-01-preview", "gpt-4", `"max_completion_tokens":9`, "system", "max_tokens", false},
		{"2024-06-01", "gpt-4o", `"max_tokens":9`, "system", "max_tokens", false},
		{"2024-08-01-preview", "o1", `"max_tokens":9`, "system", "max_completion_tokens", false},
		{"2024-09-01-preview", "o1", `"max_tokens":9`, "system", "max_completion_tokens", true},
		{"2024-10-21", "gpt-4o", `"max_completion_tokens":9`, "system", "max_completion_tokens", true},
		{"2024-12-01-preview", "o3-mini", `"max_tokens":9`, "developer", "max_completion_tokens", true},
		{"2025-01-01-preview", "o1-mini", `"max_tokens":9`, "user", "max_completion_tokens", true},
		{"v1", "prod-gpt-5.6-eu", `"max_tokens":9`, "developer", "max_completion_tokens", true},
		{"preview", "gpt-35-turbo", `"max_tokens":9`, "system", "max_tokens", true},
		{"v1", "mine", `"model":"gpt-5","max_tokens":9`, "developer", "max_completion_tokens", true},
		{"v1", "gpt-4o", `"model":"gpt-5","max_tokens":9`, "system", "max_tokens", true},
		{"v1", "DeepSeek-R1", `"model":"x"`, "system", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.version+" "+tt.deployment, func(t *testing.T) {
			_, body := encode(t, settings("https://h", tt.version, tt.deployment), `{`+instructions+`,`+tt.chat+`}`)
			if got := body["messages"].([]any)[0].(map[string]any)["role"]; got != tt.role {
				t.Errorf("role = %v, want %s", got, tt.role)
			}
			for _, name := range []string{"max_tokens", "max_completion_tokens"} {
				if _, got := body[name]; got != (name == tt.limit) {
					t.Errorf("%s is there: %v, want %v", name, got, name == tt.limit)
				}
			}
			if _, got := body["stream_options"]; got != tt.usage {
				t.Errorf("stream_options is there: %v, want %v", got, tt.usage)
			}
		})
	}
	_, body := encode(t, settings("https://h/models", "2025-04-01", "x"), `{"messages":[]}`)
	if body["stream_options"] != nil {
		t.Error("stream_options goes to /models, which has none")
	}
}

func TestEncodeEffort(t *testing.T) {
	const chat = `{"model":"m","messages":[],"reasoning_effort":"high","tools":[{"type":"function","function":{"name":"f"}}]}`
	for deployment, want := range map[string]string{
		"gpt-5.6": "none", "team_gpt-5.4-mini": "none", "gpt54": "none", "gpt-5.2": "high", "gpt-5": "high", "gpt-4.1": "high", "mine": "high",
	} {
		_, body := encode(t, settings("https://h", "v1", deployment), chat)
		if body["reasoning_effort"] != want {
			t.Errorf("%s: reasoning_effort = %v with tools, want %s", deployment, body["reasoning_effort"], want)
		}
	}
}
