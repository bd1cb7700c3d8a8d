package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// encode returns the request for a chat, and its body.
func encode(t *testing.T, s abi.Settings, chat string) (abi.EncodeResponse, dict) {
	t.Helper()
	r, err := plugintest.New(&anthropic{}).Encode(abi.EncodeRequest{Settings: s, Chat: abi.RawJSON(chat)})
	if err != nil {
		t.Fatal(err)
	}
	var body dict
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	return r, body
}

func TestEncodeAddress(t *testing.T) {
	tests := []struct{ name, base, key, url string }{
		{"default", "", "${apiKey}", "https://api.anthropic.com/v1/messages"},
		{"host", "http://localhost:8000", "", "http://localhost:8000/v1/messages"},
		{"slash", "http://localhost:8000/", "", "http://localhost:8000/v1/messages"},
		{"version", "https://api.anthropic.com/v1", "${apiKey}", "https://api.anthropic.com/v1/messages"},
		{"version and slash", "https://gateway.example/team/v1/", "${apiKey}", "https://gateway.example/team/v1/messages"},
		{"path", "https://gateway.example/anthropic", "${apiKey}", "https://gateway.example/anthropic/v1/messages"},
		{"all of it", "https://gateway.example/v1/messages", "${apiKey}", "https://gateway.example/v1/messages"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := encode(t, abi.Settings{BaseURL: tt.base, APIKey: tt.key}, `{"model":"claude-sonnet-4-6","messages":[]}`)
			if r.URL != tt.url || r.Method != "POST" {
				t.Errorf("%s %s, want POST %s", r.Method, r.URL, tt.url)
			}
			want := map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream", "anthropic-version": "2023-06-01"}
			if tt.key != "" {
				want["x-api-key"] = tt.key
			}
			if !reflect.DeepEqual(r.Headers, want) {
				t.Errorf("headers = %v, want %v", r.Headers, want)
			}
		})
	}
}

// TestEncode shows bodies whole.
func TestEncode(t *testing.T) {
	const head = `{"model":"claude-sonnet-4-5","max_tokens":32000,`
	tests := []struct{ name, chat, want string }{
		{
			"plain",
			`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true},"n":1,"seed":1,"user":"u"}`,
			head + `"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"stream":true}`,
		},
		{
			"instructions anywhere, roles in turn",
			`{"model":"claude-sonnet-4-5","messages":[{"role":"system","content":"a"},{"role":"user","content":"b"},{"role":"developer","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"d"},{"role":"assistant","content":"e"},{"role":"assistant","content":null,"refusal":"f"}]}`,
			head + `"system":[{"type":"text","text":"a"},{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"d"}]},{"role":"assistant","content":[{"type":"text","text":"e"},{"type":"text","text":"f"}]},{"role":"user","content":[{"type":"text","text":"Continue."}]}],"stream":true}`,
		},
		{
			"nothing but instructions",
			`{"model":"claude-sonnet-4-5","messages":[{"role":"system","content":"a"},{"role":"user","content":" "}]}`,
			head + `"system":[{"type":"text","text":"a"}],"messages":[{"role":"user","content":[{"type":"text","text":"Begin."}]}],"stream":true}`,
		},
		{
			"calls and answers",
			`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"oh"}}]},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"r2"}]},{"role":"user","content":"and?"},{"role":"tool","tool_call_id":"c1","content":""}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"properties":{}},"strict":true}}]}`,
			head + `"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a": 1}},{"type":"tool_use","id":"c2","name":"f","input":{"arguments":"oh"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"r2"},{"type":"tool_result","tool_use_id":"c1"},{"type":"text","text":"and?"}]}],"tools":[{"name":"f","description":"d","input_schema":{"properties":{},"type":"object"},"strict":true}],"stream":true}`,
		},
		{
			"calls without tools, twice the same id, one not answered",
			`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"c 1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c 1","content":"r"},{"role":"assistant","tool_calls":[{"id":"c 1","function":{"name":"f","arguments":"{}"}}]}]}`,
			head + `"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c_1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1","content":"r"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c_1_","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1_","content":"This call was not answered.","is_error":true}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"},"stream":true}`,
		},
		{
			"members of the API's own",
			`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"q"}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}],"top_k":5,"stop_sequences":["x"],"stop":"y","service_tier":"standard_only","metadata":{"user_id":"u","other":1},"cache_control":{"type":"ephemeral"},"output_config":{"effort":"low"},"thinking":{"type":"disabled"},"max_tokens":7}`,
			`{"model":"claude-sonnet-4-5","max_tokens":7,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}],"thinking":{"type":"disabled"},"output_config":{"effort":"low"},"stop_sequences":["y","x"],"top_k":5,"cache_control":{"type":"ephemeral"},"service_tier":"standard_only","metadata":{"user_id":"u"},"stream":true}`,
		},
		{
			"a schema for the answer",
			`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"q"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}}`,
			head + `"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}},"stream":true}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := encode(t, abi.Settings{}, tt.chat)
			if string(r.Body) != tt.want {
				t.Errorf("body = %s\nwant   %s", r.Body, tt.want)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ chat, names string }{
		"an answer to no call": {`{"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c","content":"r"}]}`, "messages[1].tool_call_id"},
		"an unknown role":      {`{"messages":[{"role":"critic","content":"a"}]}`, "messages[0].role"},
		"a tool of no kind":    {`{"messages":[],"tools":[{"type":"custom","custom":{"name":"f"}}]}`, "tools[0].type"},
	} {
		_, err := plugintest.New(&anthropic{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(tt.chat)})
		if err == nil || !strings.Contains(err.Error(), "`"+tt.names+"`") {
			t.Errorf("%s: error %v, want one that names %s", name, err, tt.names)
		}
	}
}

func TestEncodeToolChoice(t *testing.T) {
	tests := []struct{ choice, parallel, want string }{
		{`null`, `null`, `null`},
		{`null`, `true`, `null`},
		{`null`, `false`, `{"type":"auto","disable_parallel_tool_use":true}`},
		{`"auto"`, `true`, `{"type":"auto"}`},
		{`"none"`, `false`, `{"type":"none"}`},
		{`"required"`, `false`, `{"type":"any","disable_parallel_tool_use":true}`},
		{`{"type":"function","function":{"name":"f"}}`, `true`, `{"type":"tool","name":"f"}`},
		{`{"type":"tool","name":"g","disable_parallel_tool_use":true}`, `true`, `{"type":"tool","name":"g","disable_parallel_tool_use":true}`},
		{`{"type":"any"}`, `true`, `{"type":"any"}`},
		{`{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}`, `true`, `{"type":"any"}`},
	}
	for _, tt := range tests {
		_, body := encode(t, abi.Settings{}, `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}],"tool_choice":`+tt.choice+`,"parallel_tool_calls":`+tt.parallel+`}`)
		var want any
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(body["tool_choice"], want) {
			t.Errorf("tool_choice %s, parallel %s = %v, want %v", tt.choice, tt.parallel, body["tool_choice"], want)
		}
		narrowed := strings.Contains(tt.choice, "allowed_tools")
		if got := len(array(body["tools"])); got != 2 && !narrowed || got != 1 && narrowed {
			t.Errorf("tool_choice %s: %d tools", tt.choice, got)
		}
	}
}

// TestEncodeModels says what becomes of an effort, a temperature and the limit.
func TestEncodeModels(t *testing.T) {
	const summary = `{"display":"summarized","type":"adaptive"}`
	budget := func(n string) string { return `{"budget_tokens":` + n + `,"type":"enabled"}` }
	tests := []struct {
		model, effort, more string
		thinking, config    string
		hot                 bool
		limit               float64
	}{
		{"claude-3-haiku-20240307", "high", ``, `null`, `null`, true, 4096},
		{"claude-3-5-haiku-20241022", "high", ``, `null`, `null`, true, 8192},
		{"claude-3-7-sonnet-20250219", "minimal", ``, budget("1024"), `null`, false, 32000},
		{"claude-sonnet-4-20250514", "low", ``, budget("2048"), `null`, false, 32000},
		{"claude-opus-4-1-20250805", "medium", ``, budget("8192"), `null`, false, 32000},
		{"claude-haiku-4-5", "high", ``, budget("16384"), `null`, false, 32000},
		{"claude-haiku-4.5", "xhigh", ``, budget("24000"), `null`, false, 32000},
		{"claude-sonnet-4-5", "none", ``, `null`, `null`, true, 32000},
		{"claude-sonnet-4-5", "odd", ``, `null`, `null`, true, 32000},
		{"claude-sonnet-4-5", "high", `,"max_tokens":4000`, budget("3000"), `null`, false, 4000},
		{"claude-sonnet-4-5", "high", `,"max_completion_tokens":1025`, budget("1024"), `null`, false, 1025},
		{"claude-sonnet-4-5", "high", `,"max_tokens":1024`, `null`, `null`, true, 1024},
		{"claude-sonnet-4-5", "", `,"thinking":{"type":"enabled","budget_tokens":40000}`, budget("40000"), `null`, false, 72000},
		{"claude-sonnet-4-6", "low", ``, `{"type":"adaptive"}`, `{"effort":"low"}`, false, 32000},
		{"claude-sonnet-4-6", "xhigh", ``, `{"type":"adaptive"}`, `{"effort":"high"}`, false, 32000},
		{"claude-sonnet-4-6", "none", ``, `null`, `null`, true, 32000},
		{"anthropic/claude-opus-4.6", "max", ``, `{"type":"adaptive"}`, `{"effort":"max"}`, false, 32000},
		{"claude-opus-4-7", "minimal", ``, summary, `{"effort":"low"}`, false, 32000},
		{"claude-opus-4-7", "", ``, `null`, `null`, false, 32000},
		{"claude-opus-4-8-20260501", "xhigh", ``, summary, `{"effort":"xhigh"}`, false, 32000},
		{"claude-sonnet-5-5", "none", ``, `null`, `{"effort":"low"}`, false, 32000},
		{"claude-opus-5@20260901", "high", ``, summary, `{"effort":"high"}`, false, 32000},
		{"claude-opus-latest", "high", ``, summary, `{"effort":"high"}`, false, 32000},
		{"anthropic.claude-haiku-4-5-20251001-v1:0", "low", ``, budget("2048"), `null`, false, 32000},
		{"glm-4.7", "low", ``, budget("2048"), `null`, false, 8192},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+tt.effort, func(t *testing.T) {
			_, body := encode(t, abi.Settings{}, `{"model":"`+tt.model+`","messages":[{"role":"user","content":"q"}],"temperature":1.5,"reasoning_effort":"`+tt.effort+`"`+tt.more+`}`)
			if got := asJSON(t, body["thinking"]); got != tt.thinking {
				t.Errorf("thinking = %s, want %s", got, tt.thinking)
			}
			if got := asJSON(t, body["output_config"]); got != tt.config {
				t.Errorf("output_config = %s, want %s", got, tt.config)
			}
			if got := body["temperature"]; (got == 1.0) != tt.hot {
				t.Errorf("temperature = %v, want 1: %v", got, tt.hot)
			}
			if got := body["max_tokens"]; got != tt.limit {
				t.Errorf("max_tokens = %v, want %v", got, tt.limit)
			}
		})
	}
}

func TestEncodeThinksNotWhereForced(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-sonnet-4-6"} {
		for _, more := range []string{`"reasoning_effort":"high"`, `"thinking":{"type":"enabled","budget_tokens":2000}`} {
			_, body := encode(t, abi.Settings{}, `{"model":"`+model+`","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required",`+more+`}`)
			if body["thinking"] != nil {
				t.Errorf("%s with %s and a forced call: thinking = %v, want none", model, more, body["thinking"])
			}
		}
	}
}
