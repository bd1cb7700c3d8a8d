package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestBadStreams(t *testing.T) { plugintest.RunBad(t, plugintest.New(&openAI{}), "testdata", nil) }

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&openAI{}), "openAi") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&openAI{}), "openAi") }

func TestCases(t *testing.T) {
	plugintest.RunCases(t, plugintest.New(&openAI{}), "testdata")
}

func TestRecordings(t *testing.T) {
	for _, source := range []string{"openAi", "other"} {
		t.Run(source, func(t *testing.T) {
			plugintest.RunCorpus(t, plugintest.New(&openAI{}), source)
		})
	}
}

// encode returns the request for a chat.
func encode(t *testing.T, s abi.Settings, chat string) (abi.EncodeResponse, map[string]any) {
	t.Helper()
	r, err := plugintest.New(&openAI{}).Encode(abi.EncodeRequest{Settings: s, Chat: abi.RawJSON(chat)})
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
	all := abi.Settings{APIKey: abi.PlaceholderAPIKey, OrgID: "org-1", ProjectID: "proj_1"}
	own := abi.Settings{BaseURL: "http://localhost:1234/v1/"}
	tests := []struct {
		name     string
		settings abi.Settings
		url      string
		headers  map[string]string
		options  map[string]any
	}{
		{
			"default", all, "https://api.openai.com/v1/chat/completions",
			map[string]string{
				"Authorization": "Bearer ${apiKey}", "OpenAI-Organization": "org-1", "OpenAI-Project": "proj_1",
				"Content-Type": "application/json", "Accept": "text/event-stream",
			},
			map[string]any{"include_usage": true, "include_obfuscation": false},
		},
		{
			"another server, without a key", own, "http://localhost:1234/v1/chat/completions",
			map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream"},
			map[string]any{"include_usage": true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, body := encode(t, tt.settings, `{"model":"gpt-4o","messages":[]}`)
			if r.URL != tt.url || r.Method != "POST" {
				t.Errorf("%s %s, want POST %s", r.Method, r.URL, tt.url)
			}
			if !reflect.DeepEqual(r.Headers, tt.headers) {
				t.Errorf("headers = %v, want %v", r.Headers, tt.headers)
			}
			if !reflect.DeepEqual(body["stream_options"], any(tt.options)) {
				t.Errorf("stream_options = %v, want %v", body["stream_options"], tt.options)
			}
		})
	}
}

func TestEncodeModels(t *testing.T) {
	tests := []struct {
		model, role, limit string
		effort             any // with tools
	}{
		{"gpt-3.5-turbo", "system", "max_tokens", "high"},
		{"gpt-4o-mini-2024-07-18", "system", "max_tokens", "high"},
		{"gpt-4.1", "system", "max_tokens", "high"},
		{"ft:gpt-4o-2024-08-06:acme::abc", "system", "max_tokens", "high"},
		{"chatgpt-4o-latest", "system", "max_tokens", "high"},
		{"llama3", "system", "max_tokens", "high"},
		{"olmo-2", "system", "max_tokens", "high"},
		{"o1-preview", "user", "max_completion_tokens", "high"},
		{"o1-mini-2024-09-12", "user", "max_completion_tokens", "high"},
		{"o1", "developer", "max_completion_tokens", "high"},
		{"o3-mini", "developer", "max_completion_tokens", "high"},
		{"o4-mini-2025-04-16", "developer", "max_completion_tokens", "high"},
		{"gpt-5", "developer", "max_completion_tokens", "high"},
		{"gpt-5-nano", "developer", "max_completion_tokens", "high"},
		{"gpt-5-chat-latest", "developer", "max_tokens", "high"},
		{"gpt-5.1", "developer", "max_completion_tokens", "high"},
		{"gpt-5.3-codex", "developer", "max_completion_tokens", "high"},
		{"gpt-5.4", "developer", "max_completion_tokens", "none"},
		{"openai/gpt-5.4-mini", "developer", "max_completion_tokens", "none"},
		{"gpt-5.6-2026-09-01", "developer", "max_completion_tokens", "none"},
		{"gpt-5.10", "developer", "max_completion_tokens", "none"},
		{"gpt-6", "developer", "max_completion_tokens", "none"},
	}
	for _, tt := range tests {
		t.Run(tt.model, func(t *testing.T) {
			model, _ := json.Marshal(tt.model)
			chat := `{"model":` + string(model) + `,"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"max_tokens":5,"reasoning_effort":"high"`
			_, body := encode(t, abi.Settings{}, chat+`}`)
			if got := body["messages"].([]any)[0].(map[string]any)["role"]; got != tt.role {
				t.Errorf("role = %v, want %v", got, tt.role)
			}
			for _, name := range []string{"max_tokens", "max_completion_tokens"} {
				if _, got := body[name]; got != (name == tt.limit) {
					t.Errorf("%s is there: %v, want %v", name, got, name == tt.limit)
				}
			}
			if got := body["reasoning_effort"]; got != "high" {
				t.Errorf("reasoning_effort without tools = %v, want it untouched", got)
			}
			_, body = encode(t, abi.Settings{}, chat+`,"tools":[{"type":"function","function":{"name":"f"}}]}`)
			if got := body["reasoning_effort"]; got != tt.effort {
				t.Errorf("reasoning_effort with tools = %v, want %v", got, tt.effort)
			}
		})
	}
}

func TestEncodeEffortIsNoneByItself(t *testing.T) {
	_, body := encode(t, abi.Settings{}, `{"model":"gpt-5.6","messages":[],"tools":[{"type":"function","function":{"name":"f"}}]}`)
	if got := body["reasoning_effort"]; got != "none" {
		t.Errorf("reasoning_effort = %v, want none: this family reasons by default and then refuses tools", got)
	}
}

func TestEncodeKeepsBothLimits(t *testing.T) {
	_, body := encode(t, abi.Settings{}, `{"model":"o3","messages":[],"max_tokens":5,"max_completion_tokens":7}`)
	if body["max_completion_tokens"] != 7.0 || body["max_tokens"] != nil {
		t.Errorf("limits = %v and %v, want 7 and none", body["max_completion_tokens"], body["max_tokens"])
	}
}
