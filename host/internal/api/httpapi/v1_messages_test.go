package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

const messagesV1 = "/v1/messages"

// checkGuardMessages checks what a route of /v1/messages answers without a good key.
func checkGuardMessages(t *testing.T, a answer, header, nothing string) {
	t.Helper()
	if header == nothing {
		checkErrorMessages(t, a, 403, "permission_error", "")
		return
	}
	checkErrorMessages(t, a, 401, "authentication_error", "")
}

// checkErrorMessages checks the shape of an error, and that its message names what
// is wrong.
func checkErrorMessages(t *testing.T, a answer, status int, typ, names string) {
	t.Helper()
	var e struct {
		Type      string                         `json:"type"`
		Error     struct{ Type, Message string } `json:"error"`
		RequestID string                         `json:"request_id"`
	}
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || a.status != status || e.Type != "error" || e.Error.Type != typ || !strings.Contains(e.Error.Message, names) || e.Error.Message == "" || e.RequestID == "" {
		t.Errorf("answer = %d %s (%v), want %d, an error of type %s that names %q, with a request_id", a.status, a.body, err, status, typ, names)
	}
	if a.header.Get("Request-Id") != e.RequestID {
		t.Errorf("header request-id = %q, want %q", a.header.Get("Request-Id"), e.RequestID)
	}
}

// A message is answered from the workspace, whole or as events, with the key in the
// header that Anthropic's clients have.
func TestV1Message(t *testing.T) {
	events := []string{"model:theirs\nreasoning:Hm.", "text:Hel", "text:lo", "usage:30,4,10,0\nfinish:stop"}
	up := &chattest.Upstream{Scripts: []chattest.Script{script(events...), script(events...)}}
	r := newRig(t, wish{upstream: up})
	key := r.key([]string{"chatCompletions", "search"}, []string{"*"})
	const body = `{"model":"demo/m","max_tokens":1000,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Hi"}]`
	whole := r.do("POST", messagesV1, body+`}`, "Authorization", "", "X-Api-Key", key, "Anthropic-Version", "2023-06-01")
	for _, want := range []string{
		`"type":"message","role":"assistant","model":"demo/m","content":[{"type":"thinking","thinking":"Hm.","signature":""},{"type":"text","text":"Hello"}],"stop_reason":"end_turn","stop_sequence":null`,
		`"usage":{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":10,"output_tokens":4}`,
	} {
		if whole.status != http.StatusOK || !strings.Contains(whole.body, want) {
			t.Errorf("message = %d %s\nwant in it %s", whole.status, whole.body, want)
		}
	}
	streamed := r.do("POST", messagesV1, body+`,"stream":true}`, "Authorization", "", "X-Api-Key", key)
	last := -1
	for _, want := range []string{
		"event: message_start\n", `"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":29,`, `"content_block":{"type":"thinking"`, `"delta":{"type":"thinking_delta","thinking":"Hm."}`, "event: content_block_stop\n",
		`"content_block":{"type":"text","text":""}`, `"delta":{"type":"text_delta","text":"Hel"}`, `"text":"lo"`, "event: content_block_stop\n",
		"event: message_delta\n", `"stop_reason":"end_turn"`, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		at := strings.Index(streamed.body[last+1:], want)
		if at < 0 {
			t.Fatalf("events\n%s\nwant %s behind the first %d bytes", streamed.body, want, last+1)
		}
		last += 1 + at
	}
	if strings.Contains(streamed.body, "[DONE]") {
		t.Errorf("events\n%s\nend as OpenAI's do", streamed.body)
	}
	if sent := string(up.Sent()[0].Encoded.Body); !strings.Contains(sent, `{"content":"Be brief.","role":"system"},{"content":"Hi","role":"user"}]`) || strings.Contains(sent, "cache_control") {
		t.Errorf("the provider is sent %s", sent)
	}
}

func TestV1MessageErrors(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{{Status: 429}}}
	r := newRig(t, wish{upstream: up})
	for _, tt := range []struct {
		body   string
		status int
		typ    string
		names  string
	}{
		{`{`, 400, "invalid_request_error", ""},
		{`[]`, 400, "invalid_request_error", ""},
		{`{"max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, 400, "invalid_request_error", "`model`"},
		{`{"model":"demo/m","messages":[{"role":"user","content":"x"}]}`, 400, "invalid_request_error", "`max_tokens`"},
		{`{"model":"demo/m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"video"}]}]}`, 400, "invalid_request_error", "`messages[0].content[0].type`"},
		{`{"model":"nobody","max_tokens":100,"messages":[{"role":"user","content":"x"}]}`, 404, "not_found_error", "nobody"},
		{`{"model":"demo/m","max_tokens":100,"messages":[{"role":"user","content":"x"}]}`, 429, "rate_limit_error", ""},
	} {
		checkErrorMessages(t, r.do("POST", messagesV1, tt.body), tt.status, tt.typ, tt.names)
	}
	checkErrorMessages(t, r.do("GET", messagesV1+"/nothing", ""), 404, "not_found_error", "/v1/messages/nothing")
}

func TestV1CountTokens(t *testing.T) {
	r := newRig(t, wish{})
	const path = messagesV1 + "/count_tokens"
	a := r.do("POST", path, `{"model":"demo/m","messages":[{"role":"user","content":"`+strings.Repeat("four", 100)+`"}]}`)
	var n struct {
		InputTokens int `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(a.body), &n); err != nil || a.status != 200 || n.InputTokens < 100 || n.InputTokens > 130 {
		t.Errorf("count = %d %s, want a little over 100 tokens", a.status, a.body)
	}
	checkErrorMessages(t, r.do("POST", path, `{"model":"demo/m"}`), 400, "invalid_request_error", "`messages`")
	checkErrorMessages(t, r.do("POST", path, `{"model":"nobody","messages":[{"role":"user","content":"x"}]}`), 404, "not_found_error", "nobody")
}

// TestV1MessageBreaks: a failure behind the first event is an event.
func TestV1MessageBreaks(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{script("text:Hel", `error:{"kind":"overloaded","message":"busy"}`)}}
	r := newRig(t, wish{upstream: up})
	a := r.do("POST", messagesV1, `{"model":"demo/m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
	if !strings.Contains(a.body, `"text":"Hel"`) || !strings.Contains(a.body, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"") || strings.Contains(a.body, "message_stop") {
		t.Errorf("events\n%s\nwant an error behind the text, and no end", a.body)
	}
}
