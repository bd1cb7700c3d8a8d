package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/auth/authtest"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// say makes a response of single events.
func say(events ...string) chattest.Script {
	var s chattest.Script
	for _, e := range events {
		s.Batches = append(s.Batches, []string{e})
	}
	return s
}

// search makes events of a call of the host's function.
func search(index int, id, arguments string) string {
	return fmt.Sprintf("tool:%d:%s:searchInIndex\nargs:%d:%s\nargs:%d:%s", index, id, index, arguments[:5], index, arguments[5:])
}

const alien = `{"indexUid":"movies","q":"Alien","filter":""}`

// sent returns the chat of a round as it went to the plugin.
func sent(t *testing.T, f *fixture, round int) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(f.source.Requests()[round].Chat, &m); err != nil {
		t.Fatalf("the chat of round %d: %v: %s", round, err, f.source.Requests()[round].Chat)
	}
	return m
}

func TestAnswerText(t *testing.T) {
	f := newFixture(t, chattest.Script{Batches: [][]string{
		{"model:their-model", "reasoning:hm"},
		{"text:Hel\"lo\u2028\x00\xff", "extra:{\"a\":[1,\r2]}", "text:", "extra:{}"},
		{"refusal:no", "unknown:x", "text: and", "extra: {\"b\" : 2} "},
		{"count:", "finish:length", "usage:3,4,1,2", "[DONE]"},
	}})
	tr := f.ask(t, hello)
	if got, want := tr.field("content"), "Hel\"lo\u2028\x00\ufffd andn=11"; got != want {
		t.Errorf("content = %q, want %q", got, want)
	}
	if got := tr.field("reasoning_content") + "|" + tr.field("refusal"); got != "hm|no" {
		t.Errorf("reasoning|refusal = %q", got)
	}
	raw := tr.raw.String()
	for _, want := range []string{`"content":"Hel\"lo` + "\u2028" + `\u0000` + "\ufffd" + `","a":[1, 2]`, `"content":" and","b" : 2}`} {
		if !strings.Contains(raw, want) {
			t.Errorf("no chunk with %s in\n%s", want, raw)
		}
	}
	if tr.finish() != "length" || tr.chunks[0].Model != "their-model" {
		t.Errorf("finish %q, model %q", tr.finish(), tr.chunks[0].Model)
	}
	if strings.Contains(raw, "usage") {
		t.Error("a usage chunk that nobody asked for")
	}
	o := tr.outcome
	if o.Rounds != 1 || o.Finish != "length" || o.Usage != (abi.Usage{Prompt: 3, Completion: 4, Total: 7, Cached: 1, Reasoning: 2}) || o.Plugin != "test" || o.Workspace != "demo" || o.Err != nil || o.Cancelled {
		t.Errorf("outcome = %+v", o)
	}
}

// TestAnswerPattern: events of the plugin's pattern become text without a call of
// decode, until the next call; and the rounds behind have patterns of their own.
func TestAnswerPattern(t *testing.T) {
	const pattern, report = `pattern:{"a":"|"}`, `report:{"a":"|"}`
	f := newFixture(t, chattest.Script{Batches: [][]string{
		{"text:0", pattern, "text:1"}, // the batch is one call
		{`{"a":" two"}`, `{"a":""}`, `{"a":"\n"}`},
		{`{"a":"three"}`},
		{`{"a":"four"}`, "text:,five,", `text:{"a"}`},
		{"text:six", report, "count:"},
		{`{"a":"seven"}`, `{"a":"é"}`, search(0, "c", alien)},
		{"finish:tool_calls", "[DONE]"},
	}}, chattest.Script{Batches: [][]string{{"text: eight", "finish:stop", "[DONE]"}}})
	tr := f.ask(t, hello)
	if got, want := tr.field("content"), "01 two\nthreefour,five,{\"a\"}sixn=8sevenématched=2,7 eight"; got != want {
		t.Errorf("content %q, want %q", got, want)
	}
	if tr.finish() != "stop" || tr.outcome.Rounds != 2 {
		t.Errorf("finish %q, %d rounds", tr.finish(), tr.outcome.Rounds)
	}
}

// TestAnswerPatternInBatch: a plugin gets few of the events that come together before
// it has told of a pattern, and few at a time once it tells of some.
func TestAnswerPatternInBatch(t *testing.T) {
	const one, other = `pattern:{"a":"|"}`, `pattern:{"b":"|"}`
	f := newFixture(t, chattest.Script{Batches: [][]string{
		{"text:0", "text:1", "text:2", one, `{"a":"3"}`, `{"a":"4"}`, "text:5", "text:6", "text:7", other, `{"b":"8"}`},
		{"text:9", "text:10", "text:11", "text:12", "text:13", "count:", "finish:stop", "[DONE]"},
	}})
	tr := f.ask(t, hello)
	if got, want := tr.field("content"), "012345678910111213n=14"; got != want {
		t.Errorf("content %q, want %q", got, want)
	}
}

// TestAnswerPatternBad: a pattern that is none is the plugin's fault, as any other
// record is.
func TestAnswerPatternBad(t *testing.T) {
	tr := newFixture(t, say("text:a", "pattern:no quotes|", "text:b", "finish:stop")).ask(t, hello)
	if got := tr.field("content"); got != "a" || tr.outcome.Err == nil {
		t.Errorf("content %q, error %v; want a, and that the plugin failed", got, tr.outcome.Err)
	}
}

func TestAnswerWithoutAWord(t *testing.T) {
	for _, script := range []chattest.Script{say("finish:stop"), {Batches: [][]string{{"finish:stop"}}}} {
		tr := newFixture(t, script).ask(t, hello)
		if tr.finish() != "stop" || tr.chunks[0].Model != "m" {
			t.Errorf("finish %q, model %q; want stop and the model asked for", tr.finish(), tr.chunks[0].Model)
		}
	}
}

// TestRequest holds what the plugin is given against what the client sent.
func TestRequest(t *testing.T) {
	f := newFixture(t, say("text:x", "finish:stop"))
	f.patch(t, "demo", `{"parameters":{"temperature":0.10,"reasoning_effort":"none","top_k":5}}`)
	f.ask(t, `{"model":"m","messages":[{"role":"developer","content":[{"type":"text","text":"a<b>&"}]},{"role":"user","content":"q","name":"n"},
		{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"c","content":"r"}],
		"n":1,"stream":true,"temperature":1.50,"seed":12345678901234567890,"x_unknown":{"a" : [1.0,null,"é\u00e9"]},"tools":[{"type":"function","function":{"name":"mine","strict":null}}],"tool_choice":"auto","stream_options":null}`)
	got := sent(t, f, 0)
	for name, want := range map[string]string{
		"model": `"m"`, "n": "1", "stream": "true", "temperature": "1.50", "reasoning_effort": `"none"`, "top_k": "5",
		"seed": "12345678901234567890", "x_unknown": `{"a":[1.0,null,"é\u00e9"]}`, "tool_choice": `"auto"`, "stream_options": "null",
	} {
		if string(got[name]) != want {
			t.Errorf("%s = %s, want %s", name, got[name], want)
		}
	}
	messages := string(got["messages"])
	if !strings.HasPrefix(messages, `[{"content":"Be brief.","role":"system"},{"content":"a<b>&","role":"developer"},`) || strings.Contains(messages, "tool_calls") {
		t.Errorf("messages = %s", messages)
	}
	if !strings.HasPrefix(string(got["tools"]), `[{"type":"function","function":{"name":"mine","strict":null}},{"type":"function","function":{"name":"searchInIndex"`) {
		t.Errorf("tools = %s", got["tools"])
	}
	r := f.source.Requests()[0]
	if r.Settings.APIKey != abi.PlaceholderAPIKey || r.Round != 0 || r.Attempt != 0 || r.Carry != nil {
		t.Errorf("request = %+v", r)
	}
	out := f.upstream.Sent()[0]
	if out.Secrets["apiKey"] != demoKey || out.Grants.HTTP[0] != "https://llm.example.com" || strings.Contains(fmt.Sprint(r, string(out.Encoded.Body)), demoKey) {
		t.Error("the key belongs into the secrets of the outbound request, and nowhere else")
	}
}

func TestBaseURLForPlugin(t *testing.T) {
	f := newFixture(t, say("finish:stop"))
	f.patch(t, "demo", `{"baseUrl":"https://llm.example.com/v1//","apiKey":"sk-1"}`)
	f.ask(t, hello)
	if got := f.upstream.Sent()[0].Encoded.URL; got != "https://llm.example.com/v1/chat" {
		t.Errorf("URL = %s, want one slash", got)
	}
}

func TestSearchFunction(t *testing.T) {
	f := newFixture(t, say("finish:stop"))
	f.patch(t, "demo", `{"prompts":{"searchDescription":"D","searchQParam":"Q","searchFilterParam":"F","searchIndexUidParam":"I"}}`)
	f.ask(t, hello)
	var tools []struct {
		Function struct {
			Name, Description string
			Parameters        struct {
				Properties map[string]struct {
					Type, Description string
					Enum              []string
				}
				Required             []string
				AdditionalProperties *bool
			}
		}
	}
	if err := json.Unmarshal(sent(t, f, 0)["tools"], &tools); err != nil || len(tools) != 1 {
		t.Fatalf("tools = %s, %v", sent(t, f, 0)["tools"], err)
	}
	fn := tools[0].Function
	p := fn.Parameters
	if fn.Name != "searchInIndex" || fmt.Sprint(p.Required) != "[indexUid q]" || p.AdditionalProperties == nil || *p.AdditionalProperties {
		t.Errorf("function = %+v", fn)
	}
	if got, want := fn.Description, "D\n\nIndexes:\n- books: Novels.\n- movies"; got != want {
		t.Errorf("description = %q, want %q", got, want)
	}
	if x := p.Properties["indexUid"]; fmt.Sprint(x.Enum) != "[books movies]" || x.Description != "I" || x.Type != "string" {
		t.Errorf("indexUid = %+v", x)
	}
	if got := p.Properties["q"].Description; got != "Q" {
		t.Errorf("description of q = %q", got)
	}
	if got := p.Properties["filter"].Description; !strings.HasPrefix(got, "F\n") || !strings.Contains(got, "- genre (such as \"drama\", \"a \\\"b\\\"\")") || !strings.Contains(got, "Index books: no attribute") {
		t.Errorf("description of filter = %q", got)
	}
}

// TestIndexesThatAreNotSearched: a request that names an index which its answer cannot rest on is refused, and what
// the caller may not search does not exist.
func TestIndexesThatAreNotSearched(t *testing.T) {
	f := newFixture(t)
	f.patch(t, "demo", `{"indexUids":["movies"]}`)
	keys, err := auth.Open(t.Context(), &authtest.Memory{}, auth.Options{MasterKey: "a master key of sixteen"})
	if err != nil {
		t.Fatal(err)
	}
	k, err := keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"*"}, Indexes: []string{"movies"}})
	if err != nil {
		t.Fatal(err)
	}
	moviesAlone, err := keys.Of(k.UID)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		caller *auth.Caller
		index  string
		want   apierr.Code
		says   string
	}{
		{"not of the workspace", auth.Everyone(), "books", chaterr.InvalidChatIndexUIDs, "The workspace `demo` does not search the index `books`"},
		{"not of the caller", moviesAlone, "books", indexerr.IndexNotFound, "Index `books` not found"},
		{"not there", auth.Everyone(), "nope", indexerr.IndexNotFound, "Index `nope` not found"},
	} {
		q, err := chat.ParseRequest([]byte(hello))
		if err != nil {
			t.Fatal(err)
		}
		q.UID, q.Caller, q.Indexes = "demo", tt.caller, []string{"movies", tt.index}
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err = f.Service.Start(ctx, cancel, q)
		if !apierr.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %s with %q", tt.name, err, tt.want, tt.says)
		}
		cancel(nil)
	}
}

// TestSearchFunctionIsNotOffered where nothing can be searched: then nothing
// is said of tools at all.
func TestSearchFunctionIsNotOffered(t *testing.T) {
	reports := `{"model":"m","messages":[{"role":"user","content":"q"}],"parallel_tool_calls":false,"tool_choice":"auto","tools":[{"type":"function","function":{"name":"searchSources"}}]}`
	for name, prepare := range map[string]func(*fixture) *auth.Caller{
		"no index":  func(f *fixture) *auth.Caller { f.searcher.Indexes = nil; return auth.Everyone() },
		"workspace": func(f *fixture) *auth.Caller { f.patch(t, "demo", `{"indexUids":[]}`); return auth.Everyone() },
		"no action": func(*fixture) *auth.Caller { return &auth.Caller{} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, say("finish:stop"))
			a, err := f.Start(t.Context(), prepare(f), "demo", []byte(reports))
			if err != nil {
				t.Fatal(err)
			}
			a.Close()
			for _, field := range []string{"tools", "tool_choice", "parallel_tool_calls"} {
				if v, ok := sent(t, f, 0)[field]; ok {
					t.Errorf("%s = %s, want it left out", field, v)
				}
			}
		})
	}
	f := newFixture(t, say("finish:stop"))
	f.patch(t, "demo", `{"indexUids":["movies","nope"]}`)
	f.ask(t, hello)
	if got := string(sent(t, f, 0)["tools"]); !strings.Contains(got, `"enum":["movies"]`) {
		t.Errorf("tools = %s, want the workspace's index alone", got)
	}
}
