package chat_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// asked is hello with more fields, for a client that says a lot.
func asked(more string) string { return strings.TrimSuffix(hello, "}") + "," + more + "}" }

// sent returns what the provider's plugin was given of the last request.
func (f *fixture) sent(t *testing.T) map[string]any {
	t.Helper()
	requests := f.source.Requests()
	if len(requests) == 0 {
		t.Fatal("the plugin was not asked")
	}
	var got map[string]any
	if err := json.Unmarshal(requests[len(requests)-1].Chat, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestGuardsShown(t *testing.T) {
	f := newFixture(t)
	const set = `"enforcedParameters":{"temperature":0.20,"store":null},"maxCompletionTokens":5,"clientMessages":"noSystem","clientTools":false,"maxInputBytes":1000,"maxMessages":3,"maxRounds":4`
	shown := func() string {
		s, err := f.Workspace(t.Context(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const none = `"enforcedParameters":null,"maxCompletionTokens":null,"clientMessages":null,"clientTools":true,"maxInputBytes":null,"maxMessages":null,"maxRounds":null`
	if got := shown(); !strings.Contains(got, none) {
		t.Errorf("settings = %s, want %s", got, none)
	}
	f.patch(t, "demo", "{"+set+"}")
	f.patch(t, "demo", `{"orgId":"o"}`) // changes none of them
	if got := shown(); !strings.Contains(got, strings.Replace(set, "0.20", "0.20", 1)) {
		t.Errorf("settings = %s, want %s", got, set)
	}
	f.patch(t, "demo", `{"enforcedParameters":null,"maxCompletionTokens":null,"clientMessages":null,"clientTools":null,"maxInputBytes":null,"maxMessages":null,"maxRounds":null}`)
	if got := shown(); !strings.Contains(got, none) {
		t.Errorf("settings after null for all = %s, want %s", got, none)
	}
}

func TestGuardsRefuse(t *testing.T) {
	web := `{"type":"web_search"}`
	function := `{"type":"function","function":{"name":"f"}}`
	for _, tt := range []struct {
		name, rules, body, param, says string // no says: it is answered
	}{
		{"no rules", `{}`, `{"model":"m","messages":[{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"c"}],"tools":[` + function + `]}`, "", ""},
		{"system", `{"clientMessages":"noSystem"}`, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"system","content":"b"}]}`, "messages[1].role", `"system"`},
		{"developer", `{"clientMessages":"noSystem"}`, `{"model":"m","messages":[{"role":"developer","content":"b"}]}`, "messages[0].role", `"developer"`},
		{"all", `{"clientMessages":"all"}`, `{"model":"m","messages":[{"role":"system","content":"b"}]}`, "", ""},
		{"user alone", `{"clientMessages":"noSystem","clientTools":false}`, hello, "", ""},
		{"tools", `{"clientTools":false}`, asked(`"tools":[` + function + `]`), "tools", "`clientTools`"},
		{"custom tools", `{"clientTools":false}`, asked(`"tools":[{"type":"custom","custom":{"name":"f"}}]`), "tools", "`clientTools`"},
		{"functions", `{"clientTools":false}`, asked(`"functions":[{"name":"f"}]`), "functions", "`clientTools`"},
		{"reports are no tools", `{"clientTools":false}`, asked(`"tools":[{"type":"function","function":{"name":"_meiliSearchProgress"}}]`), "", ""},
		{"no tools", `{"clientTools":false}`, asked(`"tools":[]`), "", ""},
		{"provider's tool", `{}`, asked(`"tools":[` + function + `,` + web + `]`), "tools", "`tools[1].type` is \"web_search\""},
		{"provider's tool beside", `{}`, asked(`"web_search_options":{}`), "web_search_options", "`enforcedParameters`"},
		{"provider's tool of the rules", `{"enforcedParameters":{"tools":[` + web + `],"web_search_options":{}}}`, asked(`"tools":[` + web + `],"web_search_options":{"search_context_size":"high"}`), "", ""},
		{"provider's other tool", `{"enforcedParameters":{"tools":[` + web + `]}}`, asked(`"tools":[{"type":"code_interpreter"}]`), "tools", "code_interpreter"},
		{"bytes", `{"maxInputBytes":` + "40" + `}`, hello, "messages", "takes 40"},
		{"messages", `{"maxMessages":1}`, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`, "messages", "has 2 messages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, chattest.Script{Batches: [][]string{{"text:Hi", "finish:stop"}}})
			f.patch(t, "demo", tt.rules)
			if tt.says == "" {
				f.ask(t, tt.body)
				return
			}
			e := f.refuse(t, tt.body)
			if e.Code != apierr.BadRequest || e.Param != tt.param || !strings.Contains(e.Message, tt.says) {
				t.Errorf("error %s of %q: %s; want %s of %q with %q", e.Code, e.Param, e.Message, apierr.BadRequest, tt.param, tt.says)
			}
			if n := len(f.source.Requests()); n != 0 {
				t.Errorf("the plugin was asked %d times", n)
			}
		})
	}
}

func TestEnforced(t *testing.T) {
	f := newFixture(t, chattest.Script{Batches: [][]string{{"text:Hi", "finish:stop"}}})
	f.searcher.Indexes = nil
	f.patch(t, "demo", `{"parameters":{"top_p":0.5,"seed":1,"user":"u"},"enforcedParameters":{"temperature":0.2,"store":false,"seed":null,"user":null,"tools":[{"type":"web_search"}]}}`)
	got := f.ask(t, asked(`"temperature":2,"store":true,"seed":9,"top_p":1,"stop":"x","tools":[{"type":"function","function":{"name":"f"}},{"type":"web_search","deep":true}]`))
	sent := f.sent(t)
	for name, want := range map[string]any{"temperature": 0.2, "store": false, "top_p": 1.0, "stop": "x"} {
		if sent[name] != want {
			t.Errorf("%s = %v, want %v", name, sent[name], want)
		}
	}
	for _, name := range []string{"seed", "user"} {
		if v, ok := sent[name]; ok {
			t.Errorf("%s = %v, want it taken away", name, v)
		}
	}
	b, err := json.Marshal(sent["tools"])
	if want := `[{"function":{"name":"f"},"type":"function"},{"type":"web_search"}]`; err != nil || string(b) != want {
		t.Errorf("tools = %s, %v; want %s", b, err, want)
	}
	if want := []string{"seed", "store", "temperature"}; !slices.Equal(got.outcome.Lost, want) {
		t.Errorf("lost = %q, want %q", got.outcome.Lost, want)
	}
}

func TestCap(t *testing.T) {
	for _, tt := range []struct{ rules, said, want string }{
		{`"maxCompletionTokens":100`, ``, `{"max_completion_tokens":100}`},
		{`"maxCompletionTokens":100`, `"max_tokens":null`, `{"max_completion_tokens":100}`},
		{`"maxCompletionTokens":100`, `"max_tokens":99`, `{"max_tokens":99}`},
		{`"maxCompletionTokens":100`, `"max_tokens":100000,"max_completion_tokens":7,"max_output_tokens":101`, `{"max_completion_tokens":7,"max_output_tokens":100,"max_tokens":100}`},
		{`"maxCompletionTokens":100`, `"max_tokens":-1`, `{"max_tokens":100}`},
		{`"maxCompletionTokens":100`, `"max_tokens":0`, `{"max_tokens":100}`},
		{`"maxCompletionTokens":100`, `"max_tokens":1e9`, `{"max_tokens":100}`},
		{`"maxCompletionTokens":100`, `"max_tokens":"100000"`, `{"max_tokens":100}`},
		{`"maxCompletionTokens":100`, `"n_predict":5000`, `{"n_predict":100}`},
		{`"maxCompletionTokens":100,"parameters":{"max_tokens":5000}`, ``, `{"max_tokens":100}`},
		{`"maxCompletionTokens":100,"enforcedParameters":{"max_tokens":50}`, `"max_tokens":70`, `{"max_tokens":50}`},
		{`"maxCompletionTokens":100,"enforcedParameters":{"max_tokens":5000}`, ``, `{"max_tokens":100}`},
		{`"maxCompletionTokens":null`, `"max_tokens":100000`, `{"max_tokens":100000}`},
	} {
		f := newFixture(t, chattest.Script{Batches: [][]string{{"text:Hi", "finish:stop"}}})
		f.patch(t, "demo", "{"+tt.rules+"}")
		body := hello
		if tt.said != "" {
			body = asked(tt.said)
		}
		f.ask(t, body)
		said := map[string]any{}
		for name, v := range f.sent(t) {
			if strings.Contains(name, "max_") || name == "n_predict" {
				said[name] = v
			}
		}
		if b, err := json.Marshal(said); err != nil || string(b) != tt.want {
			t.Errorf("%s, asked %s: sent %s, %v; want %s", tt.rules, tt.said, b, err, tt.want)
		}
	}
}
