package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// helloV1 asks the workspace demo, whose model it names.
const helloV1 = `{"model":"demo/m","messages":[{"role":"user","content":"words of a user"}]}`

// v1 has a field more in helloV1.
func v1(more string) string { return strings.TrimSuffix(helloV1, "}") + "," + more + "}" }

// checkGuardV1 checks what a route of /v1 answers without a good key.
func checkGuardV1(t *testing.T, a answer, header, nothing string) {
	t.Helper()
	switch header {
	case "":
		checkErrorV1(t, a, 401, "invalid_request_error", "", "")
	case nothing:
		checkErrorV1(t, a, 403, "invalid_request_error", "insufficient_permissions", "")
	default:
		checkErrorV1(t, a, 401, "invalid_request_error", "invalid_api_key", "")
	}
}

// checkErrorV1 checks the shape of an error: exactly four members, of which code
// and param may be null.
func checkErrorV1(t *testing.T, a answer, status int, typ, code, param string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status = %d, want %d: %s", a.status, status, a.body)
	}
	var e struct{ Error map[string]any }
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || len(e.Error) != 4 {
		t.Fatalf("error body %s: %v, want message, type, param and code", a.body, err)
	}
	for name, want := range map[string]string{"type": typ, "code": code, "param": param} {
		if got, _ := e.Error[name].(string); got != want || want == "" && e.Error[name] != nil {
			t.Errorf("error %s: %s = %v, want %q", a.body, name, e.Error[name], want)
		}
	}
	if m, _ := e.Error["message"].(string); m == "" {
		t.Errorf("error %s has no message", a.body)
	}
	for _, name := range []string{"X-Request-Id", "Openai-Processing-Ms"} {
		if a.header.Get(name) == "" {
			t.Errorf("no header %s", name)
		}
	}
}

func TestV1Models(t *testing.T) {
	r := newRig(t, wish{})
	for path, body := range map[string]string{
		"/chats/b/settings": `{"source":"test","defaultModel":"m"}`,
		"/chats/c/settings": `{"source":"test","models":["x/y","gpt-*"]}`,
	} {
		if a := r.do("PATCH", path, body); a.status != 200 {
			t.Fatalf("PATCH %s = %d %s", path, a.status, a.body)
		}
	}
	bound, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"chatCompletions"}, Indexes: []string{"*"}, Workspaces: []string{"b*"}})
	check(t, err)
	none, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"chatCompletions"}, Indexes: []string{"*"}, Workspaces: []string{}})
	check(t, err)
	b := "Bearer " + r.keys.Value(&bound)
	r.play(t, []scenario{
		{name: "list", method: "GET", path: "/v1/models?unknown=1", status: 200, contains: []string{`{"object":"list","data":[{"id":"b","object":"model","created":1`, `{"id":"c/x/y",`, `"owned_by":"parley","name":"b","type":"model","display_name":"b","created_at":"20`, `"has_more":false,"first_id":"b","last_id":"c/x/y"`}, excludes: []string{"demo", "orphan", "gpt"}},
		{name: "list of a key for some", method: "GET", path: "/v1/models", header: []string{"Authorization", b}, status: 200, contains: []string{`"id":"b"`}, excludes: []string{`"c/`}},
		{name: "list of a key for none", method: "GET", path: "/v1/models", header: []string{"Authorization", "Bearer " + r.keys.Value(&none)}, status: 200, contains: []string{`{"object":"list","data":[],"has_more":false,"first_id":null,"last_id":null}`}},
		{name: "key in another header", method: "GET", path: "/v1/models", header: []string{"Authorization", "", "Api-Key", r.keys.Value(&bound)}, status: 200, contains: []string{`"id":"b"`}},
		{name: "and in a third", method: "GET", path: "/v1/models", header: []string{"Authorization", "", "X-Api-Key", r.keys.Value(&bound)}, status: 200, contains: []string{`"id":"b"`}},
		{name: "get", method: "GET", path: "/v1/models/b", status: 200, contains: []string{`{"id":"b","object":"model","created":1`}},
		{name: "get, with slashes", method: "GET", path: "/v1/models/c/x/y", status: 200, contains: []string{`"id":"c/x/y"`}},
		{name: "get, escaped", method: "GET", path: "/v1/models/c%2Fx%2Fy", status: 200, contains: []string{`"id":"c/x/y"`}},
		{name: "get, by a pattern", method: "GET", path: "/v1/models/c/gpt-4", status: 200, contains: []string{`{"id":"c/gpt-4","object":"model","created":1`}},
		{name: "base URL with a slash at its end", method: "GET", path: "/v1//models/b", status: 200, contains: []string{`"id":"b"`}},
		{name: "base URL without /v1, and two slashes", method: "GET", path: "//v1/models/b", status: 200, contains: []string{`"id":"b"`}},
		{name: "base URL with /v1 of a client that adds it", method: "GET", path: "/v1/v1/models/b", status: 200, contains: []string{`"id":"b"`}},
		{name: "a name that is missing", method: "DELETE", path: "/indexes//documents", status: 404, code: "not_found"},
		{name: "chats of the key", method: "GET", path: "/chats/c", header: []string{"Authorization", b}, status: 403},
	})
	checkErrorV1(t, r.do("GET", "/v1/models/bb", ""), 404, "invalid_request_error", "model_not_found", "model")
	checkErrorV1(t, r.do("GET", "/v1/models/c/x/y", "", "Authorization", b), 404, "invalid_request_error", "model_not_found", "model")
}

// A key that is bound to workspaces sees no other one, on any route.
func TestKeysOfWorkspaces(t *testing.T) {
	r := newRig(t, wish{})
	k, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"*"}, Indexes: []string{"*"}, Workspaces: []string{"o*"}})
	check(t, err)
	header := []string{"Authorization", "Bearer " + r.keys.Value(&k)}
	r.play(t, []scenario{
		{name: "list", method: "GET", path: "/chats", header: header, status: 200, contains: []string{`{"results":[{"uid":"orphan"}],"offset":0,"limit":20,"total":1}`}},
		{name: "list, further on", method: "GET", path: "/chats?offset=5", header: header, status: 200, contains: []string{`{"results":[],"offset":5,"limit":20,"total":1}`}},
		{name: "get", method: "GET", path: "/chats/demo", header: header, status: 404, code: "chat_not_found"},
		{name: "settings", method: "GET", path: "/chats/demo/settings", header: header, status: 404, code: "chat_not_found"},
		{name: "patch", method: "PATCH", path: "/chats/demo/settings", body: `{}`, header: header, status: 404, code: "chat_not_found"},
		{name: "reset", method: "DELETE", path: "/chats/demo/settings", header: header, status: 404, code: "chat_not_found"},
		{name: "delete", method: "DELETE", path: "/chats/demo", header: header, status: 404, code: "chat_not_found"},
		{name: "ask", method: "POST", path: completions, body: hello, header: header, status: 404, code: "chat_not_found"},
		{name: "its own", method: "GET", path: "/chats/orphan", header: header, status: 200},
		{name: "a key without the bound", method: "POST", path: "/keys", body: `{"actions":["*"],"indexes":["*"],"expiresAt":null}`, header: header, status: 403, code: "invalid_api_key"},
		{name: "figures of others", method: "GET", path: "/metrics", header: header, status: 403, code: "invalid_api_key"},
		{name: "plugins of others", method: "GET", path: "/plugins", header: header, status: 403, code: "invalid_api_key"},
		{name: "the log", method: "POST", path: "/logs/stream", body: `{"target":"info"}`, header: header, status: 403, code: "invalid_api_key"},
		{name: "key shows them", method: "GET", path: "/keys/" + k.UID, status: 200, contains: []string{`"workspaces":["o*"]`}},
	})
	checkErrorV1(t, r.do("POST", "/v1/chat/completions", helloV1, header...), 404, "invalid_request_error", "model_not_found", "model")
}

// Asking needs both actions, on both routes.
func TestAskingNeedsBothActions(t *testing.T) {
	r := newRig(t, wish{})
	for has, lacks := range map[string]string{"chatCompletions": "`search`", "search": "`chatCompletions`"} {
		header := []string{"Authorization", "Bearer " + r.key([]string{has}, []string{"*"})}
		r.play(t, []scenario{{name: has, method: "POST", path: completions, body: hello, header: header, status: 403, code: "invalid_api_key", contains: []string{lacks}}})
		a := r.do("POST", "/v1/chat/completions", helloV1, header...)
		checkErrorV1(t, a, 403, "invalid_request_error", "insufficient_permissions", "")
		if !strings.Contains(a.body, lacks) {
			t.Errorf("a key with %s alone: %s does not name %s", has, a.body, lacks)
		}
	}
}

func TestV1Errors(t *testing.T) {
	r := newRig(t, wish{})
	for path, body := range map[string]string{
		"/chats/keyless/settings": `{"source":"test","defaultModel":"m"}`,
		"/chats/strict/settings":  `{"source":"test","apiKey":"k","models":["gpt-*"]}`,
	} {
		if a := r.do("PATCH", path, body); a.status != 200 {
			t.Fatalf("PATCH %s = %d %s", path, a.status, a.body)
		}
	}
	const messages = `"messages":[{"role":"user","content":"x"}]`
	tests := []struct {
		name, method, path, body string
		status                   int
		typ, code, param, says   string
	}{
		{"conversations", "POST", "/v1/conversations", "{}", 404, "invalid_request_error", "unknown_url", "", "previous_response_id"},
		{"unknown route", "GET", "/v1/nope", "", 404, "invalid_request_error", "unknown_url", "", "/v1/nope"},
		{"wrong method", "GET", completionsV1, "", 405, "invalid_request_error", "method_not_allowed", "", "POST"},
		{"not JSON", "POST", completionsV1, "{", 400, "invalid_request_error", "malformed_payload", "", "line 1"},
		{"no object", "POST", completionsV1, "[]", 400, "invalid_request_error", "invalid_type", "", "object"},
		{"no model", "POST", completionsV1, "{" + messages + "}", 400, "invalid_request_error", "missing_required_parameter", "model", "GET /v1/models"},
		{"model's type", "POST", completionsV1, `{"model":1,` + messages + "}", 400, "invalid_request_error", "invalid_type", "model", "a number"},
		{"no messages", "POST", completionsV1, `{"model":"demo/m"}`, 400, "invalid_request_error", "missing_required_parameter", "messages", "messages"},
		{"messages' type", "POST", completionsV1, `{"model":"demo/m","messages":"x"}`, 400, "invalid_request_error", "invalid_type", "messages", "a string"},
		{"no content", "POST", completionsV1, `{"model":"demo/m","messages":[{"role":"user"}]}`, 400, "invalid_request_error", "missing_required_parameter", "messages[0].content", "content"},
		{"content's type", "POST", completionsV1, `{"model":"demo/m","messages":[{"role":"user","content":3}]}`, 400, "invalid_request_error", "invalid_type", "messages[0].content", "a number"},
		{"tools' type", "POST", completionsV1, v1(`"tools":"x"`), 400, "invalid_request_error", "invalid_type", "tools", "a string"},
		{"no model that answers", "GET", "/v1/models/demo", "", 404, "invalid_request_error", "model_not_found", "model", "`demo/MODEL`"},
		{"stream's type", "POST", completionsV1, v1(`"stream":"yes"`), 400, "invalid_request_error", "invalid_type", "stream", "a string"},
		{"several choices", "POST", completionsV1, v1(`"n":2`), 400, "invalid_request_error", "unsupported_value", "n", "one choice"},
		{"old functions", "POST", completionsV1, v1(`"functions":[]`), 400, "invalid_request_error", "unsupported_parameter", "functions", "`tools`"},
		{"picture", "POST", completionsV1, `{"model":"demo/m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}]}`, 400, "invalid_request_error", "unsupported_content_part", "messages[0].content[1]", "image_url"},
		{"role", "POST", completionsV1, `{"model":"demo/m","messages":[{"role":"robot","content":"x"}]}`, 400, "invalid_request_error", "invalid_value", "messages[0].role", "robot"},
		{"unknown workspace", "POST", completionsV1, strings.Replace(helloV1, "demo/m", "demp/m", 1), 404, "invalid_request_error", "model_not_found", "model", "The model `demp/m` does not exist or you do not have access to it."},
		{"near a known one", "POST", completionsV1, strings.Replace(helloV1, "demo/m", "keyles", 1), 404, "invalid_request_error", "model_not_found", "model", "`keyless`"},
		{"no model of the provider", "POST", completionsV1, strings.Replace(helloV1, "demo/m", "demo", 1), 400, "invalid_request_error", "model_required", "model", "`demo/MODEL`"},
		{"model that is not allowed", "POST", completionsV1, strings.Replace(helloV1, "demo/m", "strict/m", 1), 404, "invalid_request_error", "model_not_found", "model", "strict/m"},
		{"no key of the provider", "POST", completionsV1, strings.Replace(helloV1, "demo/m", "keyless", 1), 400, "api_error", "missing_chat_completion_api_key", "", "apiKey"},
		{"no plugin", "POST", completionsV1, strings.Replace(helloV1, "demo/m", "orphan/m", 1), 503, "api_error", "chat_provider_unavailable", "", "removed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := r.do(tt.method, tt.path, tt.body)
			checkErrorV1(t, a, tt.status, tt.typ, tt.code, tt.param)
			if !strings.Contains(a.body, tt.says) {
				t.Errorf("%s does not say %q", a.body, tt.says)
			}
			if tt.status == 503 && a.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
		})
	}
	if a := r.do("PATCH", "/experimental-features", `{"chatCompletions":false}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	a := r.do("GET", "/v1/models", "")
	checkErrorV1(t, a, 404, "invalid_request_error", "feature_not_enabled", "")
	if !strings.Contains(a.body, "chatCompletions") {
		t.Errorf("%s does not name the switch", a.body)
	}
}

const completionsV1 = "/v1/chat/completions"

// What the provider refuses has a status that SDKs know what to do with, in
// whole answers and in streams that have not begun.
func TestV1ProviderErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script chattest.Script
		status int
		typ    string
		code   string
		header []string
	}{
		{"rate limit", chattest.Script{Status: 429, Head: chattest.Head("x-kind", "rate_limit", "Retry-After", "7"), Body: "slow down"}, 429, "rate_limit_error", "rate_limit_exceeded", []string{"Retry-After", "7", "Retry-After-Ms", "7000"}},
		{"context", chattest.Script{Status: 400, Head: chattest.Head("x-kind", "context_length"), Body: "too long"}, 400, "invalid_request_error", "context_length_exceeded", nil},
		{"filter", chattest.Script{Status: 400, Head: chattest.Head("x-kind", "content_filter"), Body: "no"}, 400, "invalid_request_error", "content_filter", nil},
		{"unknown model", chattest.Script{Status: 404, Head: chattest.Head("x-kind", "not_found"), Body: "no such model"}, 400, "invalid_request_error", "llm_provider_rejected_request", nil},
		{"no money", chattest.Script{Status: 429, Head: chattest.Head("x-kind", "quota", "retry-after", "7"), Body: "pay"}, 429, "insufficient_quota", "insufficient_quota", []string{"X-Should-Retry", "false", "Retry-After", ""}},
		{"bad key", chattest.Script{Status: 401, Head: chattest.Head("x-kind", "auth"), Body: "wrong key"}, 502, "api_error", "llm_provider_unauthorized", []string{"X-Should-Retry", "false"}},
		{"broken", chattest.Script{Status: 500, Body: "oops"}, 502, "api_error", "llm_provider_error", []string{"X-Should-Retry", ""}},
		{"no answer", chattest.Script{Err: &outbound.Error{Kind: outbound.Timeout, Message: "no answer within 60s"}}, 504, "api_error", "llm_provider_timeout", nil},
	}
	for _, tt := range tests {
		for _, body := range []string{helloV1, v1(`"stream":true`)} {
			t.Run(tt.name, func(t *testing.T) {
				r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{tt.script}}})
				a := r.do("POST", completionsV1, body)
				checkErrorV1(t, a, tt.status, tt.typ, tt.code, "")
				for i := 0; i+1 < len(tt.header); i += 2 {
					if got := a.header.Get(tt.header[i]); got != tt.header[i+1] {
						t.Errorf("header %s = %q, want %q", tt.header[i], got, tt.header[i+1])
					}
				}
			})
		}
	}
}

// A whole answer has every member that typed clients want.
func TestV1Whole(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{{Batches: [][]string{{"model:theirs-2026\nreasoning:Hm.", "text:Hello"}, {"text: you\nusage:3,4,1,2", "finish:stop"}}}}}
	r := newRig(t, wish{upstream: up})
	a := r.do("POST", completionsV1, v1(`"store":true,"metadata":{},"verbosity":"low","stream":null`))
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json; charset=utf-8" || a.header.Get("Content-Length") == "" || a.header.Get("Openai-Processing-Ms") == "" {
		t.Fatalf("answer = %d %v %s", a.status, a.header, a.body)
	}
	id, rest, _ := strings.Cut(strings.TrimPrefix(a.body, `{"id":"`), `"`)
	created, rest, _ := strings.Cut(strings.TrimPrefix(rest, `,"object":"chat.completion","created":`), ",")
	want := `"model":"demo/m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello you","refusal":null,"annotations":[],"reasoning_content":"Hm."},"logprobs":null,"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":1,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":2,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},` +
		`"system_fingerprint":null}`
	if rest != want || !strings.HasPrefix(id, "chatcmpl-") || len(created) != 10 {
		t.Errorf("answer = %s\nwant the end %s", a.body, want)
	}
}

// The usage of a provider that counts nothing is estimated, and a call's
// arguments are valid JSON.
func TestV1WholeCalls(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{{Batches: [][]string{{"tool:0:c1:weather\ntool:1:c2:now", "args:0:{\"a\"", "args:0::1}", "finish:stop"}}}}}
	r := newRig(t, wish{upstream: up})
	a := r.do("POST", completionsV1, v1(`"tools":[{"type":"function","function":{"name":"weather"}},{"type":"function","function":{"name":"now"}}]`))
	for _, want := range []string{
		`"content":null`, `"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"now","arguments":"{}"}}]`,
		`"finish_reason":"tool_calls"`, `"estimated":true`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("answer %s lacks %s", a.body, want)
		}
	}
}

func TestV1Stream(t *testing.T) {
	r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{
		{Batches: [][]string{{"model:theirs\ntext:Hello", "usage:1,1\nfinish:stop"}}},
		{Batches: [][]string{{"text:Hello", `error:{"kind":"rate_limit","message":"enough"}`}}},
	}}})
	a := r.do("POST", completionsV1, v1(`"stream":true`))
	if a.status != 200 || !strings.HasSuffix(a.body, "data: [DONE]\n\n") || !strings.Contains(a.body, `"model":"demo/m"`) || strings.Contains(a.body, "theirs") || strings.Contains(a.body, "usage") {
		t.Errorf("stream = %d %s", a.status, a.body)
	}
	if a.header.Get("Openai-Processing-Ms") == "" {
		t.Error("a stream's head lacks openai-processing-ms")
	}
	a = r.do("POST", completionsV1, v1(`"stream":true`))
	if !strings.HasSuffix(a.body, `data: {"error":{"message":"The provider limits how often it is asked; it answered: enough","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`+"\n\ndata: [DONE]\n\n") {
		t.Errorf("a stream that failed ends in %s", a.body)
	}
}

// A client of a whole answer that leaves ends the provider's request.
func TestV1WholeLeave(t *testing.T) {
	t.Parallel()
	p := newProvider()
	r := newRig(t, wish{upstream: p})
	k := r.sendTo(t, completionsV1, helloV1)
	waitFor(t, p.asked, "request")
	p.events <- "text:Hello"
	check(t, k.conn.Close())
	if err := waitFor(t, p.ended, "end of the provider's request"); err == nil {
		t.Error("the provider's request ended without a cause")
	}
}

// Documents come back as citations, of which a workspace may have none.
//
//parley:option public-url
func TestV1Citations(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{
		script("tool:0:c1:searchInIndex", `args:0:{"q":"Alien"}`, "finish:tool_calls"), script("text:Alien [movies/1]", "finish:stop"),
		script("tool:0:c1:searchInIndex", `args:0:{"q":"Alien"}`, "finish:tool_calls"), script("text:Alien [movies/1]", "finish:stop"),
		script("tool:0:c1:searchInIndex", `args:0:{"q":"Alien"}`, "finish:tool_calls"), script("text:Alien [movies/1]", "finish:stop"),
	}}
	r := newRig(t, wish{upstream: up, publicURL: "https://a.example", indexes: []chat.Index{{UID: "movies"}}, documents: map[string][]chat.Hit{
		"movies": {{ID: "1", Text: "Alien", Score: 0.5, Document: json.RawMessage(`{"id":1,"title":"Alien"}`)}},
	}})
	const nested = `"url_citation":{"url":"https://a.example/indexes/movies/documents/1","title":"Alien","number":1,"start_index":6,"end_index":16}`
	if a := r.do("POST", completionsV1, helloV1); !strings.Contains(a.body, `"annotations":[{"type":"url_citation",`+nested+`}]`) {
		t.Errorf("whole answer %s lacks %s", a.body, nested)
	}
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":"A","stream":true,"include":["file_search_call.results"]}`)
	for _, want := range []string{
		"event: response.file_search_call.searching\n", "event: response.output_text.annotation.added\n",
		`"annotation":{"end_index":16,"number":1,"start_index":6,"title":"Alien","type":"url_citation","url":"https://a.example/indexes/movies/documents/1"}`,
		`"results":[{"attributes":{"id":1,"title":"Alien"},"file_id":"movies/1","filename":"Alien","number":1,"score":0.5,"text":"Alien"}]`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("response %s lacks %s", a.body, want)
		}
	}
	if a := r.do("PATCH", "/chats/demo/settings", `{"citations":false}`); a.status != 200 || !strings.Contains(a.body, `"citations":false`) {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	if a := r.do("POST", completionsV1, v1(`"stream":true`)); strings.Contains(a.body, "annotations") || !strings.Contains(a.body, "[movies/1]") {
		t.Errorf("an answer without citations: %s", a.body)
	}
}
