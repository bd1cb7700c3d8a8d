package anthropic_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/anthropic"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// TestBody: what a client says in Anthropic's form is said in the chat's.
func TestBody(t *testing.T) {
	const head = `{"model":"demo","max_tokens":100,`
	for _, tt := range []struct {
		name, request string
		want          []string // in the chat's request
		not           string
	}{
		{
			"a tool's call and its result",
			head + `"messages":[{"role":"user","content":"q"},
				{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},{"type":"text","text":"And?"}]}]}`,
			[]string{`[{"content":"q","role":"user"},{"content":"I look.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"f"},"id":"t1","type":"function"}]},` +
				`{"content":"one\ntwo","role":"tool","tool_call_id":"t1"},{"content":"And?","role":"user"}]`, `"max_completion_tokens":100`},
			"hm",
		},
		{
			"a call alone",
			head + `"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]}`,
			[]string{`{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"}`, `{"content":"","role":"tool","tool_call_id":"t1"}]`},
			"",
		},
		{
			"tools",
			head + `"messages":[{"role":"user","content":"q"}],"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"any","disable_parallel_tool_use":true}}`,
			[]string{`"tools":[{"function":{"description":"d","name":"f","parameters":{"type":"object"}},"type":"function"}]`, `"tool_choice":"required"`, `"parallel_tool_calls":false`},
			"web_search",
		},
		{
			"a tool by name",
			head + `"messages":[{"role":"user","content":"q"}],"tools":[{"type":"custom","name":"f","input_schema":{}}],"tool_choice":{"type":"tool","name":"f"}}`,
			[]string{`"tool_choice":{"function":{"name":"f"},"type":"function"}`},
			"",
		},
		{
			"a system message in between", head + `"system":"Be brief.","messages":[{"role":"user","content":"q"},{"role":"system","content":[{"type":"text","text":"It is noon."}]}]}`,
			[]string{`[{"content":"Be brief.","role":"system"},{"content":"q","role":"user"},{"content":"It is noon.","role":"system"}]`},
			"",
		},
		{"no tools, and a choice", head + `"messages":[{"role":"user","content":"q"}],"tools":[],"tool_choice":{"type":"auto"}}`, []string{`"messages"`}, "tool"},
		{
			"parameters",
			head + `"messages":[{"role":"user","content":"q"}],"temperature":0.5,"top_p":0.9,"top_k":4,"stop_sequences":["END"],"thinking":{"type":"enabled","budget_tokens":1024},"metadata":{"user_id":"u"},"service_tier":"auto"}`,
			[]string{`"temperature":0.5`, `"top_p":0.9`, `"stop":["END"]`},
			"user_id",
		},
		{"an empty list of ends", head + `"messages":[{"role":"user","content":"q"}],"stop_sequences":[]}`, []string{`"messages"`}, "stop"},
		{
			"images and documents",
			head + `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Text."}},{"type":"text","text":"q"}]}]}`,
			[]string{`{"content":[{"image_url":{"url":"data:image/png;base64,QUJD"},"type":"image_url"},{"text":"Text.","type":"text"},{"text":"q","type":"text"}],"role":"user"}`},
			"",
		},
		{
			"an answer by a schema",
			head + `"messages":[{"role":"user","content":"q"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`,
			[]string{`"response_format":{"json_schema":{"name":"answer","schema":{"type":"object"},"strict":true},"type":"json_schema"}`},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := anthropic.Parse([]byte(tt.request))
			if err != nil {
				t.Fatal(err)
			}
			b := chattest.Completion(r.Chat)
			for _, want := range tt.want {
				if !strings.Contains(b, want) {
					t.Errorf("body %s\nwant in it %s", b, want)
				}
			}
			if !json.Valid([]byte(b)) || tt.not != "" && strings.Contains(b, tt.not) {
				t.Errorf("body %s\nwant JSON without %q", b, tt.not)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	const head = `{"model":"demo","max_tokens":100,"messages":[{"role":"user","content":"q"}]`
	for request, names := range map[string]string{
		`{"model":1}`: "`model`", `{"model":""}`: "`model`",
		`{"model":"demo","max_tokens":0,"messages":[{"role":"user","content":"q"}]}`:                                                       "`max_tokens`",
		`{"model":"demo","max_tokens":"1","messages":[{"role":"user","content":"q"}]}`:                                                     "`max_tokens`",
		`{"model":"demo","max_tokens":1,"messages":[]}`:                                                                                    "`messages`",
		`{"model":"demo","max_tokens":1,"messages":{}}`:                                                                                    "`messages`",
		`{"model":"demo","max_tokens":1,"messages":[1]}`:                                                                                   "`messages[0]`",
		`{"model":"demo","max_tokens":1,"messages":[{"role":"tool","content":"q"}]}`:                                                       "`messages[0].role`",
		`{"model":"demo","max_tokens":1,"messages":[{"role":"user"}]}`:                                                                     "`messages[0].content`",
		`{"model":"demo","max_tokens":1,"messages":[{"role":"user","content":[{}]}]}`:                                                      "`messages[0].content[0].type`",
		`{"model":"demo","max_tokens":1,"messages":[{"role":"user","content":[]}]}`:                                                        "`messages[0].content`",
		`{"model":"demo","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"x"}}]}]}`: "`messages[0].content[0].source`",
		head + `,"stream":"yes"}`: "`stream`", head + `,"system":1}`: "`system`", head + `,"tools":1}`: "`tools`", head + `,"tools":[{}]}`: "`tools[0].name`",
	} {
		if _, err := anthropic.Parse([]byte(request)); !apierr.Is(err, apierr.BadRequest) || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %v, want an error that names %s", request, err, names)
		}
	}
	_, err := anthropic.Parse([]byte(head + `,"tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"tool","name":"web_search"}}`))
	if err == nil || !strings.Contains(err.Error(), "`tool_choice.name`") {
		t.Errorf("a tool that is forced and cannot be offered: %v, want an error that names it", err)
	}
}

// written is what was written of an event stream.
type written []byte

func (w *written) WriteFrames(frames []byte, _ bool) error { *w = append(*w, frames...); return nil }

// A message is what an accumulator of Anthropic's SDKs makes of the events.
type message struct {
	Content    []map[string]any
	StopReason string
}

// accumulate reads events as clients do: blocks come one after the other.
func accumulate(t *testing.T, events string) (m message) {
	t.Helper()
	open, inputs := -1, map[int]string{}
	var order []string
	for frame := range strings.SplitSeq(strings.TrimSuffix(events, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(frame, "\ndata: ")
		var e struct {
			Type  string
			Index int
			Block map[string]any `json:"content_block"`
			Delta map[string]any
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || !ok || name != "event: "+e.Type {
			t.Fatalf("frame %q: %v", frame, err)
		}
		order = append(order, e.Type)
		switch e.Type {
		case "content_block_start":
			if open != -1 || e.Index != len(m.Content) {
				t.Fatalf("block %d starts while block %d is open, behind %d blocks", e.Index, open, len(m.Content))
			}
			open = e.Index
			m.Content = append(m.Content, e.Block)
		case "content_block_delta":
			if e.Index != open {
				t.Fatalf("a delta of block %d, while %d is open", e.Index, open)
			}
			b := m.Content[open]
			for _, field := range []string{"text", "thinking"} {
				if s, ok := e.Delta[field].(string); ok {
					b[field] = b[field].(string) + s
				}
			}
			if s, ok := e.Delta["partial_json"].(string); ok {
				inputs[open] += s
			}
		case "content_block_stop":
			if e.Index != open {
				t.Fatalf("block %d stops, while %d is open", e.Index, open)
			}
			if s := inputs[open]; s != "" {
				var v any
				if err := json.Unmarshal([]byte(s), &v); err != nil {
					t.Fatalf("input %q: %v", s, err)
				}
				m.Content[open]["input"] = v
			}
			open = -1
		case "message_delta":
			m.StopReason, _ = e.Delta["stop_reason"].(string)
		}
	}
	if order[0] != "message_start" || order[len(order)-1] != "message_stop" || open != -1 {
		t.Fatalf("events in the order %v", order)
	}
	return m
}

// TestMessages: for random answers, however they come in pieces and with calls side
// by side, the events make the whole message.
func TestMessages(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 1))
	for range 500 {
		var events []byte
		streamed, whole := anthropic.NewMessages("demo"), anthropic.NewMessages("demo")
		streamed.Events = (*written)(&events)
		both := func(f func(chat.Sink)) {
			f(streamed)
			f(whole)
			if rng.IntN(3) == 0 {
				if err := streamed.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		both(func(s chat.Sink) { s.Begin(chat.Head{Model: "m"}) })
		both(func(s chat.Sink) { s.Responding([]byte("theirs")) })
		for range rng.IntN(6) {
			kind := []chat.Kind{chat.Content, chat.Reasoning, chat.Content}[rng.IntN(3)]
			both(func(s chat.Sink) { s.Text(kind, []byte("wörd \"n\" "), nil) })
		}
		calls := rng.IntN(4)
		rest := make([]string, calls)
		for i := range calls {
			both(func(s chat.Sink) { s.ToolStart("t"+string(rune('0'+i)), "f", nil) })
			rest[i] = `{"a":"` + strings.Repeat("é", i) + `","b":[1,2]}`
			if i > 0 && rng.IntN(2) == 0 { // the call before goes on
				j := rng.IntN(i + 1)
				n := rng.IntN(len(rest[j]) + 1)
				piece := rest[j][:n]
				rest[j] = rest[j][n:]
				both(func(s chat.Sink) { s.ToolArguments(j, []byte(piece)) })
			}
		}
		for _, i := range rng.Perm(calls) {
			both(func(s chat.Sink) { s.ToolArguments(i, []byte(rest[i])) })
		}
		reason := "stop"
		if calls > 0 {
			reason = "tool_calls"
		}
		both(func(s chat.Sink) { s.Finish(&chat.Finish{Reason: reason}) })
		if err := streamed.Flush(); err != nil {
			t.Fatal(err)
		}
		got := accumulate(t, string(events))
		var want struct {
			Content    []map[string]any
			StopReason string `json:"stop_reason"`
		}
		if err := json.Unmarshal(whole.Body(), &want); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got.Content)
		b, _ := json.Marshal(want.Content)
		if string(a) != string(b) && len(want.Content) > 0 || got.StopReason != want.StopReason {
			t.Fatalf("events\n%s\nmake %s, %s\nwant %s, %s", events, a, got.StopReason, b, want.StopReason)
		}
	}
}

// TestSealed: what the provider wants back goes to the client as a block, and comes
// back with it.
func TestSealed(t *testing.T) {
	w := anthropic.NewMessages("demo")
	w.Sealed = func(*chat.Carry) string { return "parley.sealed" }
	w.ToolStart("t1", "f", nil)
	w.EndRound(&chat.Carry{})
	w.Finish(&chat.Finish{Reason: "tool_calls"})
	var m struct{ Content json.RawMessage }
	if err := json.Unmarshal(w.Body(), &m); err != nil || !strings.Contains(string(m.Content), `{"type":"redacted_thinking","data":"parley.sealed"}`) {
		t.Fatalf("message %s: %v", w.Body(), err)
	}
	r, err := anthropic.Parse([]byte(`{"model":"demo","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":` + string(m.Content) + `}]}`))
	if err != nil || !slices.Equal(r.States, []string{"parley.sealed"}) {
		t.Errorf("states = %v, %v", r, err)
	}
}
