package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// TestChatTrial tests a workspace whose provider answers in each way.
func TestChatTrial(t *testing.T) {
	t.Parallel()
	refusal := func(status int, kind, message string) chattest.Script {
		return chattest.Script{Status: status, Head: http.Header{"X-Kind": {kind}}, Body: message}
	}
	hello := chattest.Script{Batches: [][]string{{"text:Hel"}, {"text:lo"}, {"finish:stop"}}}
	tests := []struct {
		name, path, body string
		script           chattest.Script
		want             []string
	}{
		{"works", "demo", `{"model":"m"}`, hello, []string{`{"ok":true,"message":"The provider answered.","problem":null,"code":null,"link":null,"source":"test","model":"m","answer":"Hel",`}},
		{"only thinks", "demo", `{"model":"m"}`, chattest.Script{Batches: [][]string{{"finish:length"}}}, []string{`{"ok":true,`, `"answer":"",`}},
		{"no model", "demo", "", hello, []string{`{"ok":false,"message":"`, `"problem":"model","code":"bad_request"`, "defaultModel", `"answer":null`, `"model":null`}},
		{"wrong key", "demo", `{"model":"m"}`, refusal(401, "auth", "Incorrect API key provided: "+demoKey), []string{`"problem":"apiKey","code":"llm_provider_unauthorized"`, "did not accept the workspace's apiKey, or the secrets in its options", "status 401: Incorrect API key", "#error-llm_provider_unauthorized"}},
		{"unknown model", "demo", `{"model":"m"}`, refusal(404, "not_found", "The model `m` does not exist"), []string{`"problem":"model","code":"llm_provider_rejected_request"`, "Name one that the provider has"}},
		{"unknown model, 400", "demo", `{"model":"m"}`, refusal(400, "invalid_request", "Invalid model: m"), []string{`"problem":"model"`}},
		{"wrong path", "demo", `{"model":"m"}`, refusal(404, "not_found", "404 page not found"), []string{`"problem":"baseUrl"`, "PATCH /chats/demo/settings"}},
		{"dead base URL", "own", `{"model":"m"}`, chattest.Script{Err: &outbound.Error{Kind: outbound.Connect, Message: "nobody listens at 127.0.0.1:1"}}, []string{`"problem":"baseUrl","code":"llm_provider_error"`, "nobody listens", "`baseUrl` is right. PATCH /chats/own/settings sets it."}},
		{"unreachable provider", "demo", `{"model":"m"}`, chattest.Script{Err: &outbound.Error{Kind: outbound.Connect, Message: "api.example was not reached"}}, []string{`"problem":"baseUrl"`, "api.example was not reached", "The workspace has no `baseUrl`"}},
		{"too often", "demo", `{"model":"m"}`, refusal(429, "rate_limit", "slow down"), []string{`"problem":"limit","code":"llm_provider_rate_limited"`}},
		{"broken", "demo", `{"model":"m"}`, refusal(500, "upstream", "oops"), []string{`"problem":"provider","code":"llm_provider_error"`}},
		{"breaks off", "demo", `{"model":"m"}`, chattest.Script{Batches: [][]string{{"usage:1,2"}}}, []string{`"ok":false`, `"problem":"plugin"`}},
		{"no plugin", "orphan", "", hello, []string{`"problem":"plugin","code":"chat_provider_unavailable"`, "parley plugin install", `"source":"removed"`}},
		{"silent", "demo", `{"model":"m"}`, chattest.Script{Hang: true}, []string{`"problem":"timeout","code":"llm_provider_timeout"`, "said nothing for 50ms"}},
		{"no key", "bare", `{"model":"m"}`, hello, []string{`"problem":"apiKey","code":"missing_chat_completion_api_key"`}},
		{"model that is not allowed", "strict", `{"model":"m"}`, hello, []string{`"problem":"model","code":"invalid_chat_model"`}},
		{"default model", "strict", "", hello, []string{`"ok":true`, `"model":"only"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			up := &chattest.Upstream{Scripts: []chattest.Script{tt.script}}
			limits := httpapi.Limits{}
			if tt.script.Hang {
				limits.Trial = 50 * time.Millisecond
			}
			r := newRig(t, wish{upstream: up, limits: limits})
			r.do("PATCH", "/chats/own/settings", `{"source":"test","apiKey":"`+demoKey+`","baseUrl":"https://own.example"}`)
			r.do("PATCH", "/chats/bare/settings", `{"source":"test"}`)
			r.do("PATCH", "/chats/strict/settings", `{"source":"test","apiKey":"`+demoKey+`","models":["only"],"defaultModel":"only"}`)
			header := []string{}
			if tt.body == "" {
				header = []string{"Content-Type", ""}
			}
			a := r.do("POST", "/chats/"+tt.path+"/test", tt.body, header...)
			if a.status != 200 {
				t.Fatalf("status %d %s, want 200", a.status, a.body)
			}
			for _, want := range tt.want {
				if !strings.Contains(a.body, want) {
					t.Errorf("body %s, want %q in it", a.body, want)
				}
			}
			if strings.Contains(a.body, demoKey) {
				t.Errorf("body %s holds the key", a.body)
			}
			for _, sent := range up.Sent() {
				if body := string(sent.Encoded.Body); !strings.Contains(body, `"max_tokens":16`) || strings.Contains(body, `"tools"`) {
					t.Errorf("sent %s, want few tokens and no tools", body)
				}
			}
			if n := up.Open(); n != 0 {
				t.Errorf("%d requests to the provider are left open", n)
			}
		})
	}
}

// A model that takes the limit of an answer under its other name alone is asked by
// that name, as a conversation would be.
func TestTrialOtherLimit(t *testing.T) {
	refusal := chattest.Script{Status: 400, Head: chattest.Head("x-kind", "invalid_request"), Body: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}
	r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{refusal, {Batches: [][]string{{"text:ok", "finish:stop"}}}}}})
	if a := r.do("POST", "/chats/demo/test", `{"model":"m"}`); !strings.Contains(a.body, `"ok":true`) {
		t.Errorf("test of a workspace whose model takes the other name: %s", a.body)
	}
	r = newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{{Status: 400, Head: chattest.Head("x-kind", "invalid_request"), Body: "Unsupported parameter: 'x' is not supported with this model."}}}})
	if a := r.do("POST", "/chats/demo/test", `{"model":"m"}`); strings.Contains(a.body, "Name one that the provider has") {
		t.Errorf("a refusal that names a parameter: %s", a.body)
	}
}

// What a plugin refuses of a conversation that the host made is a matter of settings.
func TestTrialRefusedByPlugin(t *testing.T) {
	r := newRig(t, wish{})
	r.source.EncodeErr = &provider.CallError{Kind: provider.Declared, Code: abi.CodeRefused, Message: "`options.project` is not set"}
	a := r.do("POST", "/chats/demo/test", `{"model":"m"}`)
	if !strings.Contains(a.body, `"problem":"settings","code":"llm_provider_rejected_request"`) || !strings.Contains(a.body, "`options.project` is not set") {
		t.Errorf("test of a workspace that lacks an option: %s", a.body)
	}
}

// TestChatTrialRefusals are requests for a trial that never begins.
func TestChatTrialRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	chats := "Bearer " + r.key([]string{"chatCompletions", "search"}, []string{"*"})
	r.play(t, []scenario{
		{name: "no workspace", method: "POST", path: "/chats/nope/test", status: 404, code: "chat_not_found"},
		{name: "bad uid", method: "POST", path: "/chats/a.b/test", status: 400, code: "invalid_chat_workspace_uid"},
		{name: "a front end's key", method: "POST", path: "/chats/demo/test", header: []string{"Authorization", chats}, status: 403, code: "invalid_api_key", contains: []string{"chatsSettings.update"}},
		{name: "unknown field", method: "POST", path: "/chats/demo/test", body: `{"modle":"m"}`, status: 400, code: "bad_request", contains: []string{"did you mean `model`"}},
	})
}
