package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
	"github.com/parley-search/parley/sdk/rawjson"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&ollama{}), "testdata") }

func TestBadStreams(t *testing.T) {
	plugintest.RunBad(t, plugintest.New(&ollama{}), "testdata", map[string]abi.Event{
		"wrong types of its own": {Data: []byte(`{"message":{"content":5,"thinking":[],"tool_calls":{"a":1}},"done":"yes","prompt_eval_count":"x"}`)},
		"calls without anything": {Data: []byte(`{"message":{"tool_calls":[{},{"function":{}},{"function":{"name":"f","arguments":7}}]},"done":false}`)},
		"the same call again":    {Data: []byte(`{"message":{"tool_calls":[{"id":"c","function":{"name":"f"}},{"id":"c","function":{"name":"f"}}]},"done":false}`)},
		"a finish":               {Data: []byte(`{"message":{"content":""},"done":true,"done_reason":"unload"}`)},
	})
}

func TestRecordings(t *testing.T) { plugintest.RunCorpus(t, plugintest.New(&ollama{}), "ollama") }

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&ollama{}), "ollama") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&ollama{}), "ollama") }

func TestEncode(t *testing.T) {
	for _, tt := range []struct{ name, base, options, chat, url, body string }{
		{
			"plain", "http://h:1/", `{}`, `{"model":"m","messages":[{"role":"developer","content":"d"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"user":"u","n":1,"stream_options":{}}`,
			"http://h:1/api/chat", `{"model":"m","stream":true,"messages":[{"role":"system","content":"d"},{"role":"user","content":"ab"}]}`,
		},
		{
			"options", "http://h/x/v1", `{"numCtx":4096,"keepAlive":"-1","think":"high"}`,
			`{"model":"m","messages":[],"temperature":0.5,"max_tokens":1,"max_completion_tokens":2,"stop":"a","top_p":null,"options":{"mirostat_tau":1,"temperature":1}}`,
			"http://h/x/api/chat", `{"model":"m","stream":true,"messages":[],"options":{"mirostat_tau":1,"temperature":0.5,"num_ctx":4096,"num_predict":2,"stop":["a"]},"think":true,"keep_alive":"-1"}`,
		},
		{
			"the request's own words", "http://h/api", `{"numCtx":4096,"keepAlive":"5m","think":"true"}`,
			`{"model":"gpt-oss:20b","messages":[],"reasoning_effort":"low","options":{"num_ctx":1},"keep_alive":7,"stop":["a","b"],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}},"tool_choice":"none","tools":[{"type":"function"}]}`,
			"http://h/api/chat", `{"model":"gpt-oss:20b","stream":true,"messages":[],"options":{"num_ctx":1,"stop":["a","b"]},"think":"low","format":{"type":"object"},"keep_alive":7}`,
		},
		{
			"no thinking, any JSON", "http://h", `{"think":"true"}`, `{"model":"m","messages":[],"reasoning_effort":"none","response_format":{"type":"json_object"},"tools":[{"type":"function"}]}`,
			"http://h/api/chat", `{"model":"m","stream":true,"messages":[],"tools":[{"type":"function"}],"think":false,"format":"json"}`,
		},
		{
			"calls", "http://h", `{}`, `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}},{"id":"c2","function":{"name":"g","arguments":"cut{"}}]},{"role":"tool","tool_call_id":"c2","content":"r"},{"role":"tool","tool_call_id":"none","content":""}]}`,
			"http://h/api/chat", `{"stream":true,"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"index":0,"name":"f","arguments":{"q": 1}}},{"id":"c2","function":{"index":1,"name":"g","arguments":{}}}]},{"role":"tool","content":"r","tool_name":"g","tool_call_id":"c2"},{"role":"tool","content":"","tool_call_id":"none"}]}`,
		},
	} {
		in := abi.EncodeRequest{Settings: abi.Settings{BaseURL: tt.base}, Chat: abi.RawJSON(tt.chat), Options: plugintest.Options(tt.options)}
		r, err := plugintest.New(&ollama{}).Encode(in)
		if want := tt.body; err != nil || r.URL != tt.url || string(r.Body) != want || r.Headers["Authorization"] != "" {
			t.Errorf("%s: %s %s, %v; want %s %s", tt.name, r.URL, r.Body, err, tt.url, want)
		}
	}
	if _, err := plugintest.New(&ollama{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(`{}`)}); err == nil || !strings.Contains(err.Error(), "baseUrl") {
		t.Errorf("without a server: %v", err)
	}
	_, err := plugintest.New(&ollama{}).Encode(abi.EncodeRequest{Settings: abi.Settings{BaseURL: "http://h"}, Chat: abi.RawJSON(`{"messages":[{"role":"function","content":"x"}]}`)})
	if err == nil || !strings.Contains(err.Error(), "messages[0].role") {
		t.Errorf("an unknown role: %v", err)
	}
}

// TestPullAdvice names the model in a command that can be copied, and nothing else.
func TestPullAdvice(t *testing.T) {
	for message, want := range map[string]string{
		"model 'llama3.2:1b' not found":            "`ollama pull llama3.2:1b`",
		`model "a/b" not found, try pulling first`: "`ollama pull a/b`",
		"model 'a; rm -rf b' not found":            "`ollama pull NAME`",
		"model 'a":                                 "`ollama pull a`",
		"model not found":                          "`ollama pull NAME`",
		"model ":                                   "`ollama pull NAME`",
		"404 page not found":                       "",
	} {
		if got := pullAdvice(message); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("of %q: %q, want %q", message, got, want)
		}
	}
}

func TestOverflow(t *testing.T) {
	for _, tt := range []struct {
		bytes  int
		numCtx string
		want   string
	}{
		{3 * 4096, "4096", ""},
		{3*4096 + 3, "4096", "a conversation of about 4097 tokens exceeds numCtx, which is 4096: Ollama drops its beginning"},
		{1 << 20, "", ""}, // the server's own default, which nobody knows
		{1 << 20, "0", ""},
	} {
		if got := overflow(tt.bytes, rawjson.Value(tt.numCtx)); got != tt.want {
			t.Errorf("%d bytes for %s tokens: %q, want %q", tt.bytes, tt.numCtx, got, tt.want)
		}
	}
}
