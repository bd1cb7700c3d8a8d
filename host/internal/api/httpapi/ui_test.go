package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// What useChat sends, and the UI message stream that it reads.
func TestUIStream(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{script("reasoning:Hm.", "text:Hel", "text:lo", "tool:0:c1:weather", `args:0:{"city":`, `args:0:"Rome"}`, "finish:tool_calls")}}
	r := newRig(t, wish{upstream: up, indexes: []chat.Index{{UID: "movies"}}})
	const path = "/chats/demo/ui"
	r.do("PATCH", "/chats/demo/settings", `{"defaultModel":"m"}`)
	a := r.do("POST", path, `{"id":"1","trigger":"submit-message","messages":[
		{"id":"a","role":"user","parts":[{"type":"text","text":"Where?"}],"metadata":{}},
		{"id":"b","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"x"},{"type":"text","text":"I look."},
			{"type":"tool-weather","toolCallId":"c0","state":"output-available","input":{"city":"Oslo"},"output":{"sun":true}},
			{"type":"tool-weather","toolCallId":"c9","state":"input-available","input":{}},
			{"type":"dynamic-tool","toolName":"f","toolCallId":"c8","state":"output-error","errorText":"no"},
			{"type":"text","text":"Sunny."},{"type":"source-url","url":"x"}]},
		{"id":"c","role":"user","parts":[{"type":"text","text":"And Rome?"}]}],
		"tools":[{"type":"function","function":{"name":"weather"}}]}`)
	if a.status != 200 || a.header.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" {
		t.Fatalf("answer = %d %v %s", a.status, a.header, a.body)
	}
	events := strings.Split(strings.TrimSuffix(a.body, "\n\n"), "\n\n")
	want := []string{
		`data: {"type":"start-step"}`,
		`data: {"id":"1","type":"reasoning-start"}`, `data: {"delta":"Hm.","id":"1","type":"reasoning-delta"}`, `data: {"id":"1","type":"reasoning-end"}`,
		`data: {"id":"2","type":"text-start"}`, `data: {"delta":"Hel","id":"2","type":"text-delta"}`, `data: {"delta":"lo","id":"2","type":"text-delta"}`, `data: {"id":"2","type":"text-end"}`,
		`data: {"toolCallId":"c1","toolName":"weather","type":"tool-input-start"}`,
		`data: {"inputTextDelta":"{\"city\":","toolCallId":"c1","type":"tool-input-delta"}`, `data: {"inputTextDelta":"\"Rome\"}","toolCallId":"c1","type":"tool-input-delta"}`,
		`data: {"input":{"city":"Rome"},"toolCallId":"c1","toolName":"weather","type":"tool-input-available"}`,
		`data: {"type":"finish-step"}`, `data: {"finishReason":"tool-calls","type":"finish"}`, `data: [DONE]`,
	}
	if got := strings.Join(events[1:], "\n"); !strings.HasPrefix(events[0], `data: {"messageId":"msg_`) || got != strings.Join(want, "\n") {
		t.Errorf("events =\n%s\n%s\nwant\n%s", events[0], got, strings.Join(want, "\n"))
	}
	sent := `{"content":"Where?","role":"user"},{"content":"I look.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"Oslo\"}","name":"weather"},"id":"c0","type":"function"},` +
		`{"function":{"arguments":"{}","name":"f"},"id":"c8","type":"function"}]},{"content":"{\"sun\":true}","role":"tool","tool_call_id":"c0"},{"content":"no","role":"tool","tool_call_id":"c8"},` +
		`{"content":"Sunny.","role":"assistant"},{"content":"And Rome?","role":"user"}`
	if body := string(up.Sent()[0].Encoded.Body); !strings.Contains(body, sent) {
		t.Errorf("sent %s, want %s in it", body, sent)
	}
	for body, param := range map[string]string{
		`{}`: "messages", `{"messages":[]}`: "messages", `{"messages":[{"role":"user","content":"a"}]}`: "messages[0].parts", `{"messages":[{"role":"bot","parts":[]}]}`: "messages[0].role",
	} {
		if a := r.do("POST", path, body); a.status != 400 || !strings.Contains(a.body, "`"+param+"`") {
			t.Errorf("%s is answered %d %s, want %s refused", body, a.status, a.body, param)
		}
	}
	if a := r.do("POST", "/chats/nope/ui", `{"messages":[{"role":"user","parts":[]}]}`); a.status != 404 {
		t.Errorf("an unknown workspace is answered %d %s", a.status, a.body)
	}
}

// The documents that an answer rests on are sources, and a failure within it an error.
func TestUIStreamEnds(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{
		script("tool:0:c1:searchInIndex", `args:0:{"q":"cat"}`, "finish:tool_calls"), script("text:Jones", "finish:stop"), script("text:a", "error:broken"),
	}}
	r := newRig(t, wish{upstream: up, publicURL: "https://h", indexes: []chat.Index{{UID: "movies"}}, documents: map[string][]chat.Hit{"movies": {{ID: "1", Text: "cat Jones", Document: json.RawMessage(`{"id":1}`)}}}})
	r.do("PATCH", "/chats/demo/settings", `{"defaultModel":"m"}`)
	const ask = `{"messages":[{"role":"user","parts":[{"type":"text","text":"a"}]}]}`
	want := `data: {"sourceId":"source-1","title":"1","type":"source-url","url":"https://h/indexes/movies/documents/1"}` + "\n\n" + `data: {"type":"finish-step"}` + "\n\n" + `data: {"finishReason":"stop","type":"finish"}`
	if a := r.do("POST", "/chats/demo/ui", ask); !strings.Contains(a.body, want) {
		t.Errorf("answer = %d %s, want %s in it", a.status, a.body, want)
	}
	if a := r.do("POST", "/chats/demo/ui", ask); !strings.Contains(a.body, `,"type":"error"}`+"\n\ndata: [DONE]\n\n") || strings.Contains(a.body, `"finish"`) {
		t.Errorf("an answer that breaks = %d %s", a.status, a.body)
	}
}
