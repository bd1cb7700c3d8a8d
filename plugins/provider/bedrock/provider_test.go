package main

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&bedrock{}), "testdata") }

func TestBadStreams(t *testing.T) {
	event := func(typ, data string) abi.Event { return abi.Event{Type: typ, Data: []byte(data)} }
	plugintest.RunBad(t, plugintest.New(&bedrock{}), "testdata", map[string]abi.Event{
		"a call":                     event("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}`),
		"a call without a name":      event("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t"}}}`),
		"a call of Bedrock's own":    event("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f","type":"server_tool_use"}}}`),
		"arguments without a call":   event("contentBlockDelta", `{"contentBlockIndex":7,"delta":{"toolUse":{"input":"}"}}}`),
		"reasoning":                  event("contentBlockDelta", `{"contentBlockIndex":3,"delta":{"reasoningContent":{"text":"x","signature":"s"}}}`),
		"wrong types of its own":     event("contentBlockDelta", `{"contentBlockIndex":"x","delta":{"text":5,"toolUse":[],"reasoningContent":{"text":{}}}}`),
		"the end of no block":        event("contentBlockStop", `{}`),
		"a stop":                     event("messageStop", `{"stopReason":"new"}`),
		"a stop that is an error":    event("messageStop", `{"stopReason":"malformed_tool_use"}`),
		"what it cost":               event("metadata", `{"usage":{"inputTokens":"x"}}`),
		"an exception":               event(":exception:modelStreamErrorException", `{"message":"m"}`),
		"an exception without words": event(":exception:", ``),
		"an error":                   event(":error:InternalError", `{"message":"m"}`),
		"a head":                     event(":head", `{"status":200,"headers":{}}`),
	})
}

func TestRecordings(t *testing.T) { plugintest.RunCorpus(t, plugintest.New(&bedrock{}), "bedrock") }

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&bedrock{}), "bedrock") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&bedrock{}), "bedrock") }

const keys = `"accessKeyId":true,"secretAccessKey":true`

func encode(base, options, chat string, carry ...string) (abi.EncodeResponse, error) {
	return plugintest.New(&bedrock{}).Encode(abi.EncodeRequest{
		Settings: abi.Settings{BaseURL: base}, Options: plugintest.Options(options), Chat: abi.RawJSON(chat), Carry: carry,
	})
}

func TestEncodeAddress(t *testing.T) {
	const chat = `{"model":%,"messages":[]}`
	for _, tt := range []struct{ base, options, model, want string }{
		{"", `{"region":"us-east-1",` + keys + `}`, `"amazon.nova-lite-v1:0"`, "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse-stream"},
		{"", `{"region":"cn-north-1","apiKey":true}`, `"m"`, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/m/converse-stream"},
		{"", `{"region":"eusc-de-east-1","apiKey":true}`, `"m"`, "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu/model/m/converse-stream"},
		{
			"https://vpce-1.example/", `{` + keys + `}`, `"arn:aws:bedrock:us-east-1:1:inference-profile/us.a~b é"`,
			"https://vpce-1.example/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.a~b%20%C3%A9/converse-stream",
		},
		{"", `{"region":"us-east-1"}`, `"m"`, "! nothing to sign in with"},
		{"", `{"region":"us-east-1","accessKeyId":true}`, `"m"`, "! nothing to sign in with"},
		{"", `{"apiKey":true}`, `"m"`, "! `options.region` is not set"},
		{"", `{"region":"us-east-1","apiKey":true}`, `null`, "! `model` is not set"},
	} {
		r, err := encode(tt.base, tt.options, strings.Replace(chat, "%", tt.model, 1))
		if refusal, ok := strings.CutPrefix(tt.want, "! "); ok {
			if err == nil || !strings.Contains(err.Error(), refusal) {
				t.Errorf("%s with %s: %v, want %q", tt.model, tt.options, err, refusal)
			}
			continue
		}
		if err != nil || r.URL != tt.want || r.Headers["Authorization"] != "" || len(r.Head) != 1 {
			t.Errorf("%s with %s: %+v, %v; want %s", tt.model, tt.options, r, err, tt.want)
		}
	}
}

func TestEncodeBody(t *testing.T) {
	const spec = `{"toolSpec":{"name":"f","description":"does","inputSchema":{"json":{"properties":{},"type":"object"}}}}`
	const tools = `"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"properties":{}}}}]`
	const user, sent = `"messages":[{"role":"user","content":"u"}]`, `"messages":[{"role":"user","content":[{"text":"u"}]}]`
	call := func(id, more string) string {
		return `{"role":"assistant","content":"t","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}` + more + `]}`
	}
	for _, tt := range []struct{ name, chat, want string }{
		{"numbers", `"max_tokens":1,"max_completion_tokens":2,"temperature":0.5,"top_p":null,"stop":"x","n":1,"user":"u","serviceTier":{"type":"flex"},` + user, sent + `,"inferenceConfig":{"maxTokens":2,"temperature":0.5,"stopSequences":["x"]},"serviceTier":{"type":"flex"}`},
		{"tools", tools + `,"tool_choice":"auto",` + user, sent + `,"toolConfig":{"tools":[` + spec + `],"toolChoice":{"auto":{}}}`},
		{"a tool that must be called", tools + `,"tool_choice":{"type":"function","function":{"name":"f"}},` + user, sent + `,"toolConfig":{"tools":[` + spec + `],"toolChoice":{"tool":{"name":"f"}}}`},
		{"any tool", tools + `,"tool_choice":"required",` + user, sent + `,"toolConfig":{"tools":[` + spec + `],"toolChoice":{"any":{}}}`},
		{
			"a schema", `"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer","minimum":1}}}}},` + user,
			sent + `,"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"description\":\"{\\\"minimum\\\":1}\"}},\"additionalProperties\":false}","name":"n"}}}}`,
		},
		{"JSON of any kind", `"response_format":{"type":"json_object"},` + user, sent + `,"system":[{"text":"Answer with one JSON object, and with nothing around it."}]`},
		{"no tool", tools + `,"tool_choice":"none",` + user, sent},
		{
			"neighbours, the assistant first, empty texts", `"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"u"},{"role":"user","content":[{"type":"text","text":"v"}]},{"role":"user","content":""},{"role":"developer","content":"d"},{"role":"system","content":""}]`,
			`"messages":[{"role":"user","content":[{"text":"."}]},{"role":"assistant","content":[{"text":"a"}]},{"role":"user","content":[{"text":"u"},{"text":"v"}]}],"system":[{"text":"d"}]`,
		},
		{
			"a history of calls without tools, results in one message", `"messages":[{"role":"user","content":"u"},` + call("ü", `,{"id":"c2","function":{"name":"g","arguments":"cut{"}}`) + `,{"role":"tool","tool_call_id":"c2","content":"{\"b\":2}"},{"role":"tool","tool_call_id":"ü","content":"r"},{"role":"user","content":"v"}]`,
			`"messages":[{"role":"user","content":[{"text":"u"}]},{"role":"assistant","content":[{"text":"t"},{"toolUse":{"toolUseId":"call_OWN","name":"f","input":{"a":1}}},{"toolUse":{"toolUseId":"c2","name":"g","input":{}}}]},` +
				`{"role":"user","content":[{"toolResult":{"toolUseId":"c2","content":[{"json":{"b":2}}]}},{"toolResult":{"toolUseId":"call_OWN","content":[{"text":"r"}]}},{"text":"v"}]}],` +
				`"toolConfig":{"tools":[{"toolSpec":{"name":"f","description":"f","inputSchema":{"json":{"type":"object"}}}},{"toolSpec":{"name":"g","description":"g","inputSchema":{"json":{"type":"object"}}}}]}`,
		},
		{
			"blank texts", tools + `,"messages":[{"role":"system","content":" "},{"role":"user","content":"u"},{"role":"assistant","content":"\n","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":" "}]`,
			`"messages":[{"role":"user","content":[{"text":"u"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"No answer."}]}}]}],"toolConfig":{"tools":[` + spec + `]}`,
		},
		{
			"a call that nobody answered", tools + `,"tool_choice":"none","messages":[{"role":"user","content":"u"},` + call("c1", "") + `]`,
			`"messages":[{"role":"user","content":[{"text":"u"}]},{"role":"assistant","content":[{"text":"t"},{"toolUse":{"toolUseId":"c1","name":"f","input":{"a":1}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"No answer."}]}}]}],"toolConfig":{"tools":[` + spec + `]}`,
		},
	} {
		r, err := encode("", `{"region":"us-east-1",`+keys+`}`, `{"model":"m",`+tt.chat+`}`)
		want := strings.ReplaceAll(tt.want, "call_OWN", fitID("ü"))
		if err != nil || string(r.Body) != "{"+want+"}" {
			t.Errorf("%s: %s, %v; want {%s}", tt.name, r.Body, err, want)
		}
	}
	for chat, want := range map[string]string{
		`{"model":"m","messages":[{"role":"tool","tool_call_id":"x","content":"r"}]}`: "that of no call",
		`{"model":"m","messages":[{"role":"function","content":"r"}]}`:                "messages[0].role",
		`{"model":"m","messages":[],"tools":[{"type":"custom"}]}`:                     "functions only",
	} {
		if _, err := encode("", `{"region":"r",`+keys+`}`, chat); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", chat, err, want)
		}
	}
}

// TestReasoningGoesBack carries what a model reasoned before its call to the next
// round: signed as it was, and nothing that was not signed.
func TestReasoningGoesBack(t *testing.T) {
	s := plugintest.New(&bedrock{}).Stream()
	for _, e := range []abi.Event{
		{Type: "contentBlockDelta", Data: []byte(`{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm\n"}}}`)},
		{Type: "contentBlockDelta", Data: []byte(`{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":" \"é\""}}}`)},
		{Type: "contentBlockDelta", Data: []byte(`{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"sig="}}}`)},
		{Type: "contentBlockStop", Data: []byte(`{"contentBlockIndex":0}`)},
		{Type: "contentBlockDelta", Data: []byte(`{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"AAEC"}}}`)},
		{Type: "contentBlockDelta", Data: []byte(`{"contentBlockIndex":2,"delta":{"reasoningContent":{"text":"unsigned"}}}`)},
		{Type: "contentBlockStart", Data: []byte(`{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"t1","name":"f"}}}`)},
		{Type: "contentBlockStop", Data: []byte(`{"contentBlockIndex":3}`)},
		{Type: "messageStop", Data: []byte(`{"stopReason":"tool_use"}`)},
	} {
		if err := s.Decode(0, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Decode(abi.FlagLast); err != nil || len(s.Broken) > 0 {
		t.Fatal(err, s.Broken)
	}
	const chat = `{"model":"m","messages":[{"role":"user","content":"u"},{"role":"assistant","content":null,"tool_calls":[{"id":"t1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t1","content":"r"}]}`
	r, err := encode("", `{"region":"us-east-1",`+keys+`}`, chat, base64.StdEncoding.EncodeToString(s.Carry))
	want := `{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm\n \"é\"","signature":"sig="}}},{"reasoningContent":{"redactedContent":"AAEC"}},{"toolUse":`
	if err != nil || !strings.Contains(string(r.Body), want) || strings.Contains(string(r.Body), "unsigned") {
		t.Errorf("body %s, %v; want %s", r.Body, err, want)
	}
}
