package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// The routes of workspaces, in the order of the contract, each error included.
func TestChats(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	long := strings.Repeat("u", 401)
	prompts := []string{`"system":"`, `"searchDescription":"`, `"searchQParam":"`, `"searchFilterParam":"`, `"searchIndexUidParam":"`}
	r.play(t, []scenario{
		{name: "list", method: "GET", path: "/chats", status: 200, contains: []string{`{"results":[{"uid":"demo"},{"uid":"orphan"}],"offset":0,"limit":20,"total":2}`}},
		{name: "list beyond", method: "GET", path: "/chats?offset=1&limit=0", status: 200, contains: []string{`{"results":[],"offset":1,"limit":0,"total":2}`}},
		{name: "list, bad offset", method: "GET", path: "/chats?offset=-1", status: 400, code: "invalid_chat_offset", contains: []string{"`offset` must be an integer, 0 or more"}},
		{name: "list, bad limit", method: "GET", path: "/chats?limit=many", status: 400, code: "invalid_chat_limit", contains: []string{"`limit`", `\"many\"`}},
		{name: "list, empty limit", method: "GET", path: "/chats?limit=", status: 400, code: "invalid_chat_limit"},
		{name: "list, huge limit", method: "GET", path: "/chats?limit=99999999999", status: 400, code: "invalid_chat_limit"},
		{name: "list, unknown parameter", method: "GET", path: "/chats?limt=1", status: 400, code: "bad_request", contains: []string{"query parameter `limt`: did you mean `limit`?"}},
		{name: "list, parameter twice", method: "GET", path: "/chats?limit=1&limit=2", status: 400, code: "bad_request", contains: []string{"`limit` comes twice"}},

		{name: "get", method: "GET", path: "/chats/demo", status: 200, contains: append(prompts, `"uid":"demo"`), excludes: []string{"null", `"source"`}},
		{name: "get, trailing slash", method: "GET", path: "/chats/demo/", status: 200, contains: []string{`"uid":"demo"`}},
		{name: "get, absent", method: "GET", path: "/chats/nope", status: 404, code: "chat_not_found", contains: []string{"PATCH /chats/nope/settings"}},
		{name: "get, bad uid", method: "GET", path: "/chats/a%20b", status: 400, code: "invalid_chat_workspace_uid", contains: []string{"a b", "A-Z a-z 0-9 - _"}},
		{name: "get, slash in uid", method: "GET", path: "/chats/a%2Fb", status: 400, code: "invalid_chat_workspace_uid"},
		{name: "get, long uid", method: "GET", path: "/chats/" + long, status: 400, code: "invalid_chat_workspace_uid"},
		{name: "get, a parameter that only lists know", method: "GET", path: "/chats/demo?limit=1", status: 400, code: "bad_request", contains: []string{"`limit`; there is none here"}},

		{name: "settings", method: "GET", path: "/chats/demo/settings", status: 200, contains: append(prompts, `"source":"test"`, `"apiKey":"sk-XXXXX..."`, `"orgId":null`, `"indexUids":null`, `"parameters":null`, `"pluginVersion":null`)},
		{name: "settings, absent", method: "GET", path: "/chats/nope/settings", status: 404, code: "chat_not_found"},
		{name: "settings, bad uid", method: "GET", path: "/chats/a.b/settings", status: 400, code: "invalid_chat_workspace_uid"},

		{name: "patch", method: "PATCH", path: "/chats/new/settings", body: `{"source":"vLlm","baseUrl":"http://127.0.0.1:1/v1"}`, status: 200, contains: []string{`"source":"vLlm"`, `"baseUrl":"http://127.0.0.1:1/v1"`}, excludes: []string{"apiKey"}},
		{name: "patch, created", method: "GET", path: "/chats", status: 200, contains: []string{`[{"uid":"demo"},{"uid":"new"},{"uid":"orphan"}]`}},
		{name: "patch, required", method: "PATCH", path: "/chats/x/settings", body: `{"source":"azureOpenAi"}`, status: 400, contains: []string{"orgId"}},
		{name: "patch, refused stores nothing", method: "GET", path: "/chats/x", status: 404, code: "chat_not_found"},
		{name: "patch, unknown source", method: "PATCH", path: "/chats/x/settings", body: `{"source":"openai"}`, status: 400, code: "invalid_chat_completion_source", contains: []string{"openAi", "azureOpenAi", "vLlm", "test"}},
		{name: "patch, wrong type", method: "PATCH", path: "/chats/x/settings", body: `{"prompts":{"system":1}}`, status: 400, code: "invalid_chat_completion_system_prompt", contains: []string{"prompts.system"}},
		{name: "patch, bad base URL", method: "PATCH", path: "/chats/x/settings", body: `{"source":"vLlm","baseUrl":"ftp://x"}`, status: 400, code: "invalid_chat_completion_base_api", contains: []string{"baseUrl"}},
		{name: "patch, unknown field", method: "PATCH", path: "/chats/x/settings", body: `{"sorce":"test"}`, status: 400, code: "bad_request", contains: []string{"`sorce`: did you mean `source`?"}},
		{name: "patch, unknown prompt", method: "PATCH", path: "/chats/x/settings", body: `{"prompts":{"sytem":"x"}}`, status: 400, code: "bad_request", contains: []string{"`prompts.sytem`: did you mean `system`?"}},
		{name: "patch, no content type", method: "PATCH", path: "/chats/x/settings", body: `{}`, header: []string{"Content-Type", ""}, status: 415, code: "missing_content_type", contains: []string{"application/json"}},
		{name: "patch, form", method: "PATCH", path: "/chats/x/settings", body: `a=b`, header: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415, code: "invalid_content_type", contains: []string{"application/x-www-form-urlencoded", "application/json"}},
		{name: "patch, multipart", method: "PATCH", path: "/chats/x/settings", body: `--a--`, header: []string{"Content-Type", "multipart/form-data; boundary=a"}, status: 415, code: "invalid_content_type"},
		{name: "patch, compressed", method: "PATCH", path: "/chats/x/settings", body: `{}`, header: []string{"Content-Encoding", "zstd"}, status: 415, code: "invalid_content_type", contains: []string{"Content-Encoding"}},
		{name: "patch, charset", method: "PATCH", path: "/chats/new/settings", body: `{}`, header: []string{"Content-Type", "application/json; charset=utf-8"}, status: 200},
		{name: "patch, empty", method: "PATCH", path: "/chats/x/settings", body: ``, status: 400, code: "missing_payload", contains: []string{"empty"}},
		{name: "patch, blank", method: "PATCH", path: "/chats/x/settings", body: " \n", status: 400, code: "missing_payload"},
		{name: "patch, no JSON", method: "PATCH", path: "/chats/x/settings", body: "{\n\"source\": nope}", status: 400, code: "malformed_payload", contains: []string{"line 2, column 12"}},
		{name: "patch, array", method: "PATCH", path: "/chats/x/settings", body: "[]", status: 400, code: "bad_request"},
		{name: "patch, bad uid", method: "PATCH", path: "/chats/a.b/settings", body: "{}", status: 400, code: "invalid_chat_workspace_uid"},
		{name: "patch, other source drops the key", method: "PATCH", path: "/chats/demo/settings", body: `{"source":"openAi"}`, status: 200, excludes: []string{"apiKey"}},
		{name: "patch, key gone", method: "GET", path: "/chats/demo/settings", status: 200, contains: []string{`"apiKey":null`}},

		{name: "reset", method: "DELETE", path: "/chats/new/settings", status: 200, contains: []string{`"source":"openAi"`, `"baseUrl":null`}},
		{name: "reset, absent", method: "DELETE", path: "/chats/nope/settings", status: 404, code: "chat_not_found"},
		{name: "reset, bad uid", method: "DELETE", path: "/chats/a.b/settings", status: 400, code: "invalid_chat_workspace_uid"},
		{name: "delete", method: "DELETE", path: "/chats/new", status: 204},
		{name: "delete, absent", method: "DELETE", path: "/chats/new", status: 404, code: "chat_not_found"},
		{name: "delete, bad uid", method: "DELETE", path: "/chats/" + long, status: 400, code: "invalid_chat_workspace_uid"},
	})

	_ = r.do("PATCH", "/chats/demo/settings", `{"apiKey":"other"}`)
	if a := r.do("PATCH", "/chats/demo/settings", `{"source":"test"}`); a.header.Get("Warning") == "" {
		t.Errorf("PATCH of the source alone: no header Warning, want one: %s", a.body)
	}
}

// What a completion is refused for before anything is streamed.
func TestCompletionRefused(t *testing.T) {
	r := newRig(t, wish{limits: httpapi.Limits{Body: 2000}})
	if a := r.do("PATCH", "/chats/keyless/settings", `{"source":"test"}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	search := "Bearer " + r.key([]string{"search"}, []string{"*"})
	const path = "/chats/demo/chat/completions"
	with := func(more string) string {
		return strings.TrimSuffix(hello, "}") + "," + more + "}"
	}
	r.play(t, []scenario{
		{name: "no key", method: "POST", path: path, body: "nonsense", header: []string{"Authorization", "", "Content-Type", ""}, status: 401, code: "missing_authorization_header", contains: []string{"Bearer <key>"}, responseHeader: []string{"WWW-Authenticate", "Bearer"}},
		{name: "unknown key", method: "POST", path: path, body: hello, header: []string{"Authorization", "Bearer nope"}, status: 403, code: "invalid_api_key"},
		{name: "search key", method: "POST", path: path, body: hello, header: []string{"Authorization", search}, status: 403, code: "invalid_api_key", contains: []string{"`chatCompletions`"}},
		{name: "no content type", method: "POST", path: path, body: hello, header: []string{"Content-Type", ""}, status: 415, code: "missing_content_type"},
		{name: "text", method: "POST", path: path, body: hello, header: []string{"Content-Type", "text/plain"}, status: 415, code: "invalid_content_type"},
		{name: "empty", method: "POST", path: path, status: 400, code: "missing_payload"},
		{name: "not JSON", method: "POST", path: path, body: `{"model":}`, status: 400, code: "malformed_payload", contains: []string{"line 1, column 10"}},
		{name: "too large", method: "POST", path: path, body: with(`"user":"` + strings.Repeat("x", 2000) + `"`), status: 413, code: "payload_too_large", contains: []string{"2000 bytes", "--http-payload-size-limit"}},
		{name: "no model", method: "POST", path: path, body: `{"messages":[{"role":"user","content":"x"}]}`, status: 400, code: "bad_request", contains: []string{"`model`"}},
		{name: "no messages", method: "POST", path: path, body: `{"model":"m"}`, status: 400, code: "bad_request", contains: []string{"`messages`"}},
		{name: "empty messages", method: "POST", path: path, body: `{"model":"m","messages":[]}`, status: 400, code: "bad_request", contains: []string{"`messages`"}},
		{name: "bad role", method: "POST", path: path, body: `{"model":"m","messages":[{"role":"robot","content":"x"}]}`, status: 400, code: "bad_request", contains: []string{"role"}},
		{name: "not streamed", method: "POST", path: path, body: with(`"stream":false`), status: 501, code: "unimplemented_non_streaming_chat_completions", contains: []string{"`stream`"}},
		{name: "several choices", method: "POST", path: path, body: with(`"n":2`), status: 501, code: "unimplemented_multi_choice_chat_completions", contains: []string{"`n`"}},
		{name: "the workspace comes before what is in the body", method: "POST", path: "/chats/nope/chat/completions", body: with(`"stream":false`), status: 404, code: "chat_not_found"},
		{name: "reserved function", method: "POST", path: path, body: with(`"tools":[{"type":"function","function":{"name":"searchInIndex"}}]`), status: 400, code: "bad_request", contains: []string{"searchInIndex"}},
		{name: "absent workspace", method: "POST", path: "/chats/nope/chat/completions", body: hello, status: 404, code: "chat_not_found", contains: []string{"PATCH /chats/nope/settings"}},
		{name: "bad uid", method: "POST", path: "/chats/a.b/chat/completions", body: hello, status: 400, code: "invalid_chat_workspace_uid"},
		{name: "no provider key", method: "POST", path: "/chats/keyless/chat/completions", body: hello, status: 400, code: "missing_chat_completion_api_key", contains: []string{"apiKey", "PATCH"}},
		{name: "no plugin", method: "POST", path: "/chats/orphan/chat/completions", body: hello, status: 503, code: "chat_provider_unavailable", contains: []string{"removed", "PATCH"}},
		{name: "query parameter", method: "POST", path: path + "?model=m", body: hello, status: 400, contains: []string{"`model`"}},
		{name: "wrong method", method: "GET", path: path, status: 405, contains: []string{"POST"}},
	})
}

// What the provider says before its first event has a status of its own.
func TestCompletionProviderErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		script     chattest.Script
		status     int
		code       string
		retryAfter string
	}{
		{"rate limit", chattest.Script{Status: 429, Head: chattest.Head("x-kind", "rate_limit", "Retry-After", "7"), Body: "slow down"}, 429, "llm_provider_rate_limited", "7"},
		{"bad request", chattest.Script{Status: 400, Head: chattest.Head("x-kind", "invalid_request"), Body: "no such model"}, 400, "llm_provider_rejected_request", ""},
		{"unknown model", chattest.Script{Status: 404, Head: chattest.Head("x-kind", "not_found"), Body: "no such model"}, 400, "llm_provider_rejected_request", ""},
		{"unprocessable", chattest.Script{Status: 422, Body: "no"}, 400, "llm_provider_rejected_request", ""},
		{"bad key", chattest.Script{Status: 401, Head: chattest.Head("x-kind", "auth"), Body: "wrong key " + demoKey}, 502, "llm_provider_unauthorized", ""},
		{"forbidden", chattest.Script{Status: 403, Body: "no"}, 502, "llm_provider_unauthorized", ""},
		{"broken", chattest.Script{Status: 500, Body: "oops"}, 502, "llm_provider_error", ""},
		{"no answer", chattest.Script{Err: &outbound.Error{Kind: outbound.Timeout, Message: "no answer within 60s"}}, 504, "llm_provider_timeout", ""},
		{"no connection", chattest.Script{Err: &outbound.Error{Kind: outbound.Connect, Message: "refused", Retryable: true}}, 502, "llm_provider_error", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{tt.script}}})
			a := r.do("POST", "/chats/demo/chat/completions", hello)
			if a.status != tt.status || a.header.Get("Retry-After") != tt.retryAfter {
				t.Errorf("completion = %d, Retry-After %q, want %d, %q", a.status, a.header.Get("Retry-After"), tt.status, tt.retryAfter)
			}
			checkError(t, a, tt.code)
			if body := tt.script.Body; body != "" && !strings.Contains(body, demoKey) && !strings.Contains(a.body, body) {
				t.Errorf("body %s, want the provider's %q in it", a.body, body)
			}
			if strings.Contains(a.body, demoKey) {
				t.Errorf("body %s holds the key", a.body)
			}
		})
	}
}

// A client without a key of ours uses the host as it is.
func TestOpenHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{open: true})
	r.play(t, []scenario{
		{name: "chats", method: "GET", path: "/chats", header: []string{"Authorization", ""}, status: http.StatusOK},
		{name: "any key", method: "GET", path: "/chats", header: []string{"Authorization", "Bearer sk-whatever"}, status: http.StatusOK},
		{name: "completion", method: "POST", path: "/chats/demo/chat/completions", body: hello, header: []string{"Authorization", ""}, status: http.StatusOK, contains: []string{"Hello", "data: [DONE]\n\n"}},
		{name: "keys", method: "GET", path: "/keys", status: http.StatusUnauthorized, code: "missing_master_key", contains: []string{"--master-key"}},
		{name: "new key", method: "POST", path: "/keys", body: "{}", status: http.StatusUnauthorized, code: "missing_master_key"},
	})
}

// TestFailureIsLogged: what ends a chat before its first event is in the log, as
// what ends it later, with whose failure it was.
func TestFailureIsLogged(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]chattest.Script{
		"before": {Status: 503, Body: "loading words", Head: chattest.Head("x-kind", "overloaded")},
		"after":  {Batches: [][]string{{"model:m", "text:a"}, {`error:{"kind":"overloaded","message":"loading words"}`}}},
	} {
		r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{script}}})
		_ = r.do("PATCH", "/chats/demo/settings", `{"source":"openAi","apiKey":"`+demoKey+`"}`)
		a := r.do("POST", completions, hello, "X-Request-Id", "the-id-"+name)
		log := r.log.String()
		lines := 0
		for line := range strings.Lines(log) {
			if strings.Contains(line, "met errors") {
				lines++
				for _, part := range []string{`"request_id":"the-id-` + name, `"source":"openAi"`, `"plugin":"`, `"version":"1.0.0"`, `"kind":"overloaded"`, `"level":"warn"`} {
					if !strings.Contains(line, part) {
						t.Errorf("%s: %s lacks %s", name, line, part)
					}
				}
			}
		}
		if lines != 1 || strings.Contains(log, "loading words") {
			t.Errorf("%s, %d %.200s: %d lines in\n%s\nwant one, without the provider's words", name, a.status, a.body, lines, log)
		}
	}
}
