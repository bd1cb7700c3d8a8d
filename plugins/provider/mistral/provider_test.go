package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) {
	plugintest.RunCases(t, plugintest.New(&mistral{}), "testdata")
}

func TestBadStreams(t *testing.T) { plugintest.RunBad(t, plugintest.New(&mistral{}), "testdata", nil) }

func TestRecordings(t *testing.T) {
	plugintest.RunCorpus(t, plugintest.New(&mistral{}), "mistral")
}

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&mistral{}), "mistral") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&mistral{}), "mistral") }

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"text", "thinking", "tools-whole"} {
		b.Run(name, func(b *testing.B) {
			c, err := response.ReadCase("testdata/" + name + ".case")
			if err != nil {
				b.Fatal(err)
			}
			plugintest.Bench(b, plugintest.New(&mistral{}), c.Body)
		})
	}
}

// encode returns the request for a chat, with a key set.
func encode(t *testing.T, base, chat string) abi.EncodeResponse {
	t.Helper()
	r, err := tryEncode(base, chat)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryEncode(base, chat string) (abi.EncodeResponse, error) {
	return plugintest.New(&mistral{}).Encode(abi.EncodeRequest{
		Settings: abi.Settings{BaseURL: base, APIKey: abi.PlaceholderAPIKey, OrgID: "org", ProjectID: "project"},
		Chat:     abi.RawJSON(chat),
	})
}

func TestEncodeAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                                  "https://api.mistral.ai/v1/chat/completions",
		"https://proxy.example/mistral/v1/": "https://proxy.example/mistral/v1/chat/completions",
	} {
		r := encode(t, base, `{"model":"m","messages":[{"role":"user","content":"u"}]}`)
		if r.URL != want {
			t.Errorf("URL = %s, want %s", r.URL, want)
		}
		if len(r.Headers) != 3 || r.Headers["Authorization"] != "Bearer ${apiKey}" {
			t.Errorf("headers = %v, want a bearer token and two of content types", r.Headers)
		}
	}
}

const user = `"messages":[{"role":"user","content":"u"}]`

func TestEncodeMembers(t *testing.T) {
	tests := []struct{ name, chat, want string }{
		{
			"all that Mistral knows", `"temperature":0.5,"top_p":1,"max_tokens":9,"stop":["a"],"random_seed":1,"n":1,"presence_penalty":1,"frequency_penalty":1,"response_format":{"type":"text"},"prediction":{},"reasoning_effort":"high","prompt_mode":"reasoning","safe_prompt":true,"guardrails":[],"metadata":{},"prompt_cache_key":"k"`,
			`"temperature":0.5,"top_p":1,"max_tokens":9,"stop":["a"],"random_seed":1,"n":1,"presence_penalty":1,"frequency_penalty":1,"response_format":{"type":"text"},"prediction":{},"reasoning_effort":"high","prompt_mode":"reasoning","safe_prompt":true,"guardrails":[],"metadata":{},"prompt_cache_key":"k","stream":true`,
		},
		{"what it does not know", `"stream_options":{},"user":"x","store":true,"logprobs":true,"logit_bias":{},"verbosity":"low","service_tier":"auto","made_up":1`, `"stream":true`},
		{"the limit by its new name", `"max_completion_tokens":7`, `"stream":true,"max_tokens":7`},
		{"both names", `"max_completion_tokens":7,"max_tokens":5`, `"max_tokens":5,"stream":true`},
		{"one of them null", `"max_completion_tokens":7,"max_tokens":null`, `"stream":true,"max_tokens":7`},
		{"a seed", `"seed":3`, `"stream":true,"random_seed":3`},
		{"nulls", `"temperature":null,"stop":null,"tools":null,"tool_choice":null`, `"stream":true`},
		{"no tools", `"tools":[],"tool_choice":"auto","parallel_tool_calls":true`, `"stream":true`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := encode(t, "", `{"model":"m",`+user+`,`+tt.chat+`}`)
			if want := `{"model":"m",` + user + `,` + tt.want + `}`; string(r.Body) != want {
				t.Errorf("body = %s, want %s", r.Body, want)
			}
		})
	}
}

func TestEncodeTools(t *testing.T) {
	const plain = `{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}`
	tests := []struct{ name, chat, want string }{
		{"required", `"tools":[` + plain + `],"tool_choice":"required"`, `"tools":[` + plain + `],"tool_choice":"any","stream":true`},
		{"any", `"tools":[` + plain + `],"tool_choice":"any"`, `"tools":[` + plain + `],"tool_choice":"any","stream":true`},
		{
			"one by name", `"tools":[` + plain + `],"tool_choice":{"type":"function","function":{"name":"f","x":1}}`,
			`"tools":[` + plain + `],"tool_choice":{"type":"function","function":{"name":"f"}},"stream":true`,
		},
		{
			"some by name", `"tools":[` + plain + `,{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}`,
			`"tools":[` + plain + `],"tool_choice":"any","stream":true`,
		},
		{
			"no parameters, and members that are not known", `"tools":[{"type":"function","x":1,"function":{"name":"f","description":"d","strict":true,"y":2}}]`,
			`"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object","properties":{}}}}],"stream":true`,
		},
		{
			"lists of types", `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":["object"],"properties":{"type":{"type":["string","null"],"description":"d"},"o":{"anyOf":[{"type":["null","integer"],"anyOf":[{}]}]},"l":{"items":{"type":[]}}},"default":{"type":["kept"]}}}}]`,
			`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"type":{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]},"o":{"anyOf":[{"type":"integer","anyOf":[{}]}]},"l":{"items":{}}},"default":{"type":["kept"]}}}}],"stream":true`,
		},
		{
			"a list of types with spaces around it", `"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[["type"]],"type" :  [ "null", "string"]}}}]`,
			`"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[["type"]],"anyOf":[{"type":"null"},{"type":"string"}]}}}],"stream":true`,
		},
		{
			"a list of types by an escaped name", `"tools":[{"type":"function","function":{"name":"f","parameters":{"t\u0079pe":["null","string"]}}}]`,
			`"tools":[{"type":"function","function":{"name":"f","parameters":{"anyOf":[{"type":"null"},{"type":"string"}]}}}],"stream":true`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := encode(t, "", `{"model":"m",`+user+`,`+tt.chat+`}`)
			if want := `{"model":"m",` + user + `,` + tt.want + `}`; string(r.Body) != want {
				t.Errorf("body = %s, want %s", r.Body, want)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := []struct{ name, chat, want string }{
		{"a tool that is not a function", `{` + user + `,"tools":[{"type":"custom","custom":{"name":"x"}}]}`, "functions only"},
		{"an unknown role", `{"messages":[{"role":"function","content":"x"}]}`, "role"},
		{"an unknown part", `{"messages":[{"role":"user","content":[{"type":"video","video":"x"}]}]}`, "part"},
		{"an answer without a call", `{"messages":[{"role":"user","content":"u"},{"role":"tool","tool_call_id":"call_9","content":"x"}]}`, `"call_9"`},
		{"no text at all", `{"messages":[{"role":"system","content":""},{"role":"assistant","content":""}]}`, "messages"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tryEncode("", tt.chat)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}
