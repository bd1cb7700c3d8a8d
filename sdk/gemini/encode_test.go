package gemini

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// encodeChat returns the request for a chat without settings.
func encodeChat(t *testing.T, chat string, carry ...string) abi.EncodeResponse {
	t.Helper()
	r, err := plugintest.New(&Provider{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(chat), Round: len(carry), Carry: carry})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same compares JSON.
func same(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s: %v in %s", what, err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("the test's own JSON: %v", err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

func TestEncodeAddress(t *testing.T) {
	const native, key = "https://generativelanguage.googleapis.com/v1beta/models/", "${apiKey}"
	tests := []struct{ base, model, url, header string }{
		{"", "gemini-2.5-flash", native + "gemini-2.5-flash:streamGenerateContent?alt=sse", "X"},
		{"", "models/gemini-2.5-flash", native + "gemini-2.5-flash:streamGenerateContent?alt=sse", "X"},
		{"", "tunedModels/mine-1", "https://generativelanguage.googleapis.com/v1beta/tunedModels/mine-1:streamGenerateContent?alt=sse", "X"},
		{"http://proxy:1", "m", "http://proxy:1/v1beta/models/m:streamGenerateContent?alt=sse", "X"},
		{"http://proxy:1/v1/", "m", "http://proxy:1/v1/models/m:streamGenerateContent?alt=sse", "X"},
		{"http://openai.example/v1", "m", "http://openai.example/v1/models/m:streamGenerateContent?alt=sse", "X"},
		{"https://generativelanguage.googleapis.com/v1beta/openai/", "m", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "Bearer"},
		{"https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "m", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "Bearer"},
	}
	for _, tt := range tests {
		t.Run(tt.base+" "+tt.model, func(t *testing.T) {
			r, err := plugintest.New(&Provider{}).Encode(abi.EncodeRequest{
				Settings: abi.Settings{BaseURL: tt.base, APIKey: key},
				Chat:     abi.RawJSON(`{"model":"` + tt.model + `","messages":[{"role":"user","content":"a"}]}`),
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.URL != tt.url {
				t.Errorf("URL = %s, want %s", r.URL, tt.url)
			}
			want := map[string]string{"x-goog-api-key": key, "Content-Type": "application/json"}
			if tt.header == "Bearer" {
				want = map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json", "Accept": "text/event-stream"}
			}
			if !reflect.DeepEqual(r.Headers, want) {
				t.Errorf("headers = %v, want %v", r.Headers, want)
			}
		})
	}
}

func TestEncodeBody(t *testing.T) {
	const user = `"messages":[{"role":"user","content":"u"}]`
	const contents = `"contents":[{"role":"user","parts":[{"text":"u"}]}]`
	tests := []struct{ name, chat, want string }{
		{"bare", user, contents},
		{"what Gemini does not know", user + `,"stream":true,"stream_options":{},"n":1,"user":"x","store":true,"metadata":{}`, contents},
		{
			"settings", user + `,"temperature":0.5,"top_p":1,"top_k":40,"max_tokens":5,"max_completion_tokens":7,"seed":3,"presence_penalty":0.1,"frequency_penalty":0.2,"stop":["a","b"]`,
			contents + `,"generationConfig":{"temperature":0.5,"topP":1,"topK":40,"maxOutputTokens":7,"seed":3,"presencePenalty":0.1,"frequencyPenalty":0.2,"stopSequences":["a","b"]}`,
		},
		{"one stop", user + `,"stop":"END"`, contents + `,"generationConfig":{"stopSequences":["END"]}`},
		{"nothing set", user + `,"stop":"","temperature":null,"stop":[],"tools":[],"tool_choice":"auto","reasoning_effort":null,"response_format":{"type":"text"}`, contents},
		{"JSON", user + `,"response_format":{"type":"json_object"}`, contents + `,"generationConfig":{"responseMimeType":"application/json"}`},
		{
			"JSON by a schema", user + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}}}`,
			contents + `,"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}`,
		},
		{"Gemini's own", user + `,"thinkingConfig":{"thinkingBudget":5},"reasoning_effort":"low","safetySettings":[{"category":"c","threshold":"t"}]`, contents + `,"generationConfig":{"thinkingConfig":{"thinkingBudget":5}},"safetySettings":[{"category":"c","threshold":"t"}]`},
		{
			"tools", user + `,"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"h"}}],"tool_choice":"auto","parallel_tool_calls":false`,
			contents + `,"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}},{"name":"g"},{"name":"h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			same(t, "body", encodeChat(t, `{"model":"gemini-2.5-pro",`+tt.chat+`}`).Body, `{`+tt.want+`}`)
		})
	}
}

func TestEncodeToolChoice(t *testing.T) {
	const allowed = `{"type":"allowed_tools","allowed_tools":{"mode":"%s","tools":[{"type":"function","function":{"name":"f"}}]}}`
	for choice, want := range map[string]string{
		`"auto"`: `{"mode":"AUTO"}`, `"required"`: `{"mode":"ANY"}`, `"none"`: `{"mode":"NONE"}`,
		`{"type":"function","function":{"name":"f"}}`: `{"mode":"ANY","allowedFunctionNames":["f"]}`,
		fmt.Sprintf(allowed, "required"):              `{"mode":"ANY","allowedFunctionNames":["f"]}`,
		fmt.Sprintf(allowed, "auto"):                  `{"mode":"VALIDATED","allowedFunctionNames":["f"]}`,
	} {
		body := encodeChat(t, `{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":`+choice+`}`).Body
		var got struct {
			ToolConfig struct{ FunctionCallingConfig json.RawMessage }
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		same(t, choice, got.ToolConfig.FunctionCallingConfig, want)
	}
}

func TestEncodeThinking(t *testing.T) {
	tests := []struct{ model, effort, want string }{
		{"gemini-2.5-flash", "none", `{"thinkingBudget":0,"includeThoughts":false}`},
		{"gemini-2.5-pro", "none", `{"thinkingBudget":128,"includeThoughts":false}`},
		{"gemini-2.5-pro", "low", `{"thinkingBudget":1024,"includeThoughts":true}`},
		{"models/gemini-2.5-pro", "medium", `{"thinkingBudget":8192,"includeThoughts":true}`},
		{"gemini-2.5-flash", "xhigh", `{"thinkingBudget":24576,"includeThoughts":true}`},
		{"gemini-3-flash-preview", "minimal", `{"thinkingLevel":"minimal","includeThoughts":true}`},
		{"gemini-3.1-pro", "none", `{"thinkingLevel":"low","includeThoughts":false}`},
		{"gemini-3.1-pro", "xhigh", `{"thinkingLevel":"high","includeThoughts":true}`},
		{"gemini-flash-latest", "medium", `{"thinkingLevel":"medium","includeThoughts":true}`},
		{"gemini-3.1-pro", "utmost", ``},
	}
	for _, tt := range tests {
		if got := thinkingConfig(tt.model, tt.effort); string(got) != tt.want {
			t.Errorf("thinkingConfig(%s, %s) = %s, want %s", tt.model, tt.effort, got, tt.want)
		}
	}
}

func TestEncodeRefused(t *testing.T) {
	const call = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	tests := []struct{ name, chat, want string }{
		{"no model", `"messages":[]`, "`model`"},
		{"a model that leads elsewhere", `"model":"../../x","messages":[]`, "`model`"},
		{"a model with a method", `"model":"gemini:embed?x","messages":[]`, "`model`"},
		{"unknown role", `"model":"m","messages":[{"role":"critic","content":"x"}]`, "`messages[0].role`"},
		{"function role", `"model":"m","messages":[{"role":"function","name":"f","content":"x"}]`, "`messages[0].role`"},
		{"unknown part", `"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"smell"}]}]`, "`messages[0].content[1].type`"},
		{"unanswered at the end", `"model":"m","messages":[` + call + `]`, "tool calls a are answered"},
		{"unanswered before a user", `"model":"m","messages":[` + call + `,{"role":"user","content":"x"}]`, "`messages[1]` comes before"},
		{"answer to nothing", `"model":"m","messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"a","content":"x"}]`, "`messages[1].tool_call_id`"},
		{"answered twice", `"model":"m","messages":[` + call + `,{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"a","content":"x"}]`, "`messages[2].tool_call_id`"},
		{"call without name", `"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a"}]}]`, "`messages[0].tool_calls[0]`"},
		{"tool that is not a function", `"model":"m","messages":[],"tools":[{"type":"custom","custom":{"name":"x"}}]`, "`tools[0]`"},
		{"six stops", `"model":"m","messages":[],"stop":["1","2","3","4","5","6"]`, "`stop`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := plugintest.New(&Provider{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON("{" + tt.chat + "}")})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Encode: %v, want an error that names %s", err, tt.want)
			}
		})
	}
}

// TestEncodeProperty holds what comes of conversations of all kinds to the rules
// of the API, which are written down apart.
func TestEncodeProperty(t *testing.T) {
	for seed := range uint64(5000) {
		model := []string{"gemini-2.0-flash", "gemini-2.5-pro", "gemini-3.1-pro-preview", "gemini-flash-latest"}[seed%4]
		chat := plugintest.Chat(rand.New(rand.NewPCG(seed, 1)), model)
		r := encodeChat(t, string(chat))
		if broken := check(r.Body, seed%4 >= 2); len(broken) > 0 {
			t.Fatalf("seed %d: %s\nchat %s\nbody %s", seed, strings.Join(broken, "\n"), chat, r.Body)
		}
	}
}
