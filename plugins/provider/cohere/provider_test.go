package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&cohere{}), "testdata") }

func TestBadStreams(t *testing.T) {
	event := func(data string) abi.Event { return abi.Event{Data: []byte(data)} }
	plugintest.RunBad(t, plugintest.New(&cohere{}), "testdata", map[string]abi.Event{
		"a call":                        event(`{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c","function":{"name":"f","arguments":""}}}}}`),
		"a call in a list":              event(`{"type":"tool-call-start","index":9,"delta":{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}}`),
		"a call without a name":         event(`{"type":"tool-call-start","delta":{"message":{"tool_calls":{"id":"x","function":{}}}}}`),
		"arguments without a call":      event(`{"type":"tool-call-delta","index":4,"delta":{"message":{"tool_calls":{"function":{"arguments":"}"}}}}}`),
		"the end of no call":            event(`{"type":"tool-call-end","index":4}`),
		"wrong types of its own":        event(`{"type":"content-delta","delta":{"message":{"content":[5],"tool_plan":{}}}}`),
		"content that is not an object": event(`{"type":"content-delta","delta":{"message":{"content":"x"}}}`),
		"an end":                        event(`{"type":"message-end","delta":{"finish_reason":"NEW","usage":{"tokens":{"input_tokens":"x","output_tokens":-1}}}}`),
		"an error of a gateway":         event(`{"message":"too many tokens: 5"}`),
	})
}

func TestRecordings(t *testing.T) { plugintest.RunCorpus(t, plugintest.New(&cohere{}), "cohere") }

func FuzzDecode(f *testing.F) { plugintest.FuzzStream(f, plugintest.New(&cohere{}), "cohere") }

func FuzzError(f *testing.F) { plugintest.FuzzFailure(f, plugintest.New(&cohere{}), "cohere") }

func TestEncode(t *testing.T) {
	const user, sent = `"messages":[{"role":"user","content":"u"}]`, `"messages":[{"role":"user","content":"u"}],"stream":true`
	for _, tt := range []struct{ name, chat, want string }{
		{"names", `"model":"m","max_completion_tokens":2,"top_k":3,"top_p":null,"stop":"a","user":"x","n":1,"stream_options":{},` + user, `"model":"m","max_tokens":2,"k":3,"stop_sequences":["a"],` + sent},
		{"of two the first", `"max_tokens":1,"max_completion_tokens":2,"p":1,"top_p":2,` + user, `"max_tokens":1,"p":1,` + sent},
		{"format", `"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}},` + user, sent + `,"response_format":{"type":"json_object","json_schema":{"type":"object"}}`},
		{"thinking", `"reasoning_effort":"none",` + user, sent + `,"thinking":{"type":"disabled"}`},
		{
			"tools", `"response_format":{"type":"json_object"},"tools":[{"type":"function","function":{"name":"f","strict":true}},{"type":"function","function":{"name":"g","description":"d","parameters":{"type":"object","properties":{"a":{}}}}}],"tool_choice":"auto",` + user,
			sent + `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"g","description":"d","parameters":{"type":"object","properties":{"a":{}}}}}]`,
		},
		{
			"one tool", `"tools":[{"function":{"name":"f"}},{"function":{"name":"g"}}],"tool_choice":{"type":"function","function":{"name":"g"}},` + user,
			sent + `,"tools":[{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],"tool_choice":"REQUIRED"`,
		},
		{"no tool", `"tools":[{"function":{"name":"f"}}],"tool_choice":"none",` + user, sent + `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"tool_choice":"NONE"`},
	} {
		r, err := plugintest.New(&cohere{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON("{" + tt.chat + "}")})
		if err != nil || string(r.Body) != "{"+tt.want+"}" || r.URL != "https://api.cohere.com/v2/chat" || r.Headers["Authorization"] != "" {
			t.Errorf("%s: %s %s, %v; want {%s}", tt.name, r.URL, r.Body, err, tt.want)
		}
	}
	for chat, want := range map[string]string{
		`{"messages":[{"role":"function","content":"x"}]}`:                                               "messages[0].role",
		`{"messages":[{"role":"system","content":"x"}]}`:                                                 "has none of a user",
		`{"messages":[{"role":"user","content":"x"}],"stop":["1","2","3","4","5","6"]}`:                  "5 at most",
		`{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"custom","custom":{"name":"x"}}]}`: "functions only",
	} {
		if _, err := plugintest.New(&cohere{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(chat)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", chat, err, want)
		}
	}
}

// TestNoThought: of a message whose thoughts the client has not sent back there is no empty
// block, which Cohere refuses.
func TestNoThought(t *testing.T) {
	const chat = `{"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"said"%},{"role":"user","content":"u"},{"role":"assistant","content":"and","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]%},{"role":"tool","tool_call_id":"1","content":"r"}]}`
	mark := []string{"AA=="}
	for thought, want := range map[string][]string{
		"":                          {`{"role":"assistant","content":"said"}`, `"tool_plan":"and"`},
		`,"reasoning_content":""`:   {`{"role":"assistant","content":"said"}`, `"tool_plan":"and"`},
		`,"reasoning_content":null`: {`{"role":"assistant","content":"said"}`, `"tool_plan":"and"`},
		`,"reasoning_content":"Hm"`: {`{"role":"assistant","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"said"}]}`, `"content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"and"}]`},
	} {
		r, err := plugintest.New(&cohere{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(strings.ReplaceAll(chat, "%", thought)), Carry: mark, TextCarry: mark})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(r.Body), w) {
				t.Errorf("with %q: %s, want %s", thought, r.Body, w)
			}
		}
	}
}

// TestPlans gives the plans of this answer's rounds back with their calls, and to
// calls of an earlier turn what was said beside them.
func TestPlans(t *testing.T) {
	const call = `{"role":"assistant","content":%,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}`
	chat := `{"messages":[{"role":"user","content":"u"},` + strings.Replace(call, "%", `"said"`, 1) + `,` + strings.Replace(call, "%", `null`, 1) + `,` + strings.Replace(call, "%", `"x"`, 1) + `]}`
	r, err := plugintest.New(&cohere{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(chat), Carry: []string{"b25l", "dHdv"}, Round: 2})
	if err != nil {
		t.Fatal(err)
	}
	var plans []string
	for _, part := range strings.Split(string(r.Body), `"tool_plan":`)[1:] {
		plans = append(plans, part[:strings.IndexByte(part, '}')])
	}
	if got := strings.Join(plans, " "); got != `"said" "one" "two"` {
		t.Errorf("plans %s in %s", got, r.Body)
	}
}
