package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

func withTools(names ...string) string {
	var tools []string
	for _, n := range names {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":%q}}`, n))
	}
	return `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[` + strings.Join(tools, ",") + `]}`
}

func TestClientTools(t *testing.T) {
	f := newFixture(t, say("model:m", "text:Well", "tool:0:c1:mine\nargs:0:{\"a\":", "args:0:\"\\\"\"}", "tool:1::theirs", "finish:stop"))
	tr := f.ask(t, withTools("mine", "theirs"))
	calls := tr.calls()
	if len(calls) != 2 || calls[0] != (toolCall{"c1", "mine", `{"a":"\""}`}) || calls[1].Name != "theirs" || calls[1].ID == "" {
		t.Errorf("calls = %+v", calls)
	}
	if tr.finish() != "tool_calls" || tr.outcome.Rounds != 1 {
		t.Errorf("finish %q after %d rounds, want tool_calls after 1", tr.finish(), tr.outcome.Rounds)
	}
}

// TestMixedCalls has the model call both sides in one turn: the search is run
// and reported, and the client's call ends the stream.
func TestMixedCalls(t *testing.T) {
	f := newFixture(t, say("model:m", search(0, "s", alien), "tool:1:c:mine", "args:1:{}", "finish:tool_calls"))
	tr := f.ask(t, withTools("mine", "searchSources"))
	calls := tr.calls()
	if len(calls) != 2 || calls[0].Name != "mine" || calls[0].Arguments != "{}" || calls[1].Name != "searchSources" || !strings.Contains(calls[1].Arguments, `"call_id":"s"`) {
		t.Errorf("calls = %+v", calls)
	}
	if tr.finish() != "tool_calls" || tr.outcome.Searches != 1 || tr.outcome.Rounds != 1 {
		t.Errorf("finish %q, outcome %+v", tr.finish(), tr.outcome)
	}
}

func TestReports(t *testing.T) {
	for _, names := range [][]string{
		{"searchProgress", "searchSources", "appendConversationMessage"},
		{"_meiliSearchProgress", "_meiliSearchSources", "_meiliAppendConversationMessage"},
	} {
		t.Run(names[0], func(t *testing.T) {
			f := newFixture(t,
				say("model:m", "text:Looking", search(0, "a", alien)+"\n"+search(1, "b", `{"indexUid":"movies","filter":"bad"}`), "finish:tool_calls"),
				say("text:!", "finish:stop"))
			tr := f.ask(t, withTools(names...))
			if tools := string(sent(t, f, 0)["tools"]); strings.Contains(tools, names[0]) || strings.Contains(tools, names[1]) || strings.Contains(tools, names[2]) {
				t.Errorf("the model is offered reports: %s", tools)
			}
			calls := tr.calls()
			var order []string
			ids := make(map[string]bool)
			for _, c := range calls {
				order = append(order, c.Name)
				ids[c.ID] = true
				if !json.Valid([]byte(c.Arguments)) {
					t.Errorf("arguments of %s are not JSON: %s", c.Name, c.Arguments)
				}
			}
			p, s, m := names[0], names[1], names[2]
			if want := fmt.Sprint([]string{p, p, m, s, m, s, m}); fmt.Sprint(order) != want {
				t.Fatalf("reports %v, want %s", order, want)
			}
			if len(ids) != len(calls) {
				t.Errorf("%d ids for %d reports", len(ids), len(calls))
			}
			for i, want := range map[int]string{
				0: `{"call_id":"a","function_arguments":"{\"indexUid\":\"movies\",\"q\":\"Alien\",\"filter\":\"\",\"index_uid\":\"movies\"}","function_name":"searchInIndex","function_parameters":"{\"indexUid\":\"movies\",\"q\":\"Alien\",\"filter\":\"\",\"index_uid\":\"movies\"}"}`,
				3: `{"call_id":"a","documents":[{"id":1,"title":"Alien"},{"id":"2"}],"sources":[{"id":1,"title":"Alien"},{"id":"2"}]}`,
				5: `{"call_id":"b","documents":[],"sources":[]}`,
			} {
				if calls[i].Arguments != want {
					t.Errorf("report %d = %s\nwant %s", i, calls[i].Arguments, want)
				}
			}
			// What the client appends is what the model was given, but for the
			// text, which the client has as the answer's.
			messages := string(sent(t, f, 1)["messages"])
			for _, i := range []int{4, 6} {
				if !strings.Contains(messages, calls[i].Arguments) {
					t.Errorf("message %s was not the model's, which has %s", calls[i].Arguments, messages)
				}
			}
			if got := strings.Replace(calls[2].Arguments, `"content":null`, `"content":"Looking"`, 1); !strings.Contains(messages, got) {
				t.Errorf("message %s was not the model's, which has %s", got, messages)
			}
			if tr.finish() != "stop" {
				t.Errorf("finish = %q: reports are no calls to wait for", tr.finish())
			}
		})
	}
}

func TestToolChoice(t *testing.T) {
	tests := []struct{ choice, first, later string }{
		{`"auto"`, `"auto"`, `"auto"`},
		{`"none"`, `"none"`, `"none"`},
		{`"required"`, `"required"`, ``},
		{`{"type":"function","function":{"name":"searchInIndex"}}`, `{"type":"function","function":{"name":"searchInIndex"}}`, ``},
		{`{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}`, `{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}`, `{"allowed_tools":{"mode":"auto","tools":[]},"type":"allowed_tools"}`},
	}
	for _, tt := range tests {
		f := newFixture(t, say(search(0, "a", alien), "finish:tool_calls"), say("finish:stop"))
		f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"}],"tool_choice":`+tt.choice+`}`)
		if first, later := string(sent(t, f, 0)["tool_choice"]), string(sent(t, f, 1)["tool_choice"]); first != tt.first || later != tt.later {
			t.Errorf("tool_choice %s: %s, then %s; want %s, then %s", tt.choice, first, later, tt.first, tt.later)
		}
	}
}

func TestRequestRefused(t *testing.T) {
	message := func(m string) string { return `{"model":"m","messages":[` + m + `]}` }
	more := func(s string) string { return hello[:len(hello)-1] + "," + s + "}" }
	tests := []struct {
		body string
		code apierr.Code
		want string
	}{
		{"", apierr.MissingPayload, "empty"},
		{"{", apierr.MalformedPayload, "line 1, column 2"},
		{"{\"a\":\"\xff\"}", apierr.MalformedPayload, "UTF-8"},
		{"7", apierr.BadRequest, "a JSON object, not a number"},
		{`{"messages":[{"role":"user","content":"x"}]}`, apierr.BadRequest, "`model` is missing"},
		{`{"model":"","messages":[]}`, apierr.BadRequest, "`model` is empty"},
		{`{"model":3,"messages":[]}`, apierr.BadRequest, "`model` must be a string, not a number"},
		{`{"model":"m"}`, apierr.BadRequest, "`messages` is missing"},
		{`{"model":"m","messages":{}}`, apierr.BadRequest, "`messages` must be an array"},
		{`{"model":"m","messages":[]}`, apierr.BadRequest, "`messages` is empty"},
		{message(`"hi"`), apierr.BadRequest, "`messages[0]` must be an object, not a string"},
		{message(`{"content":"x"}`), apierr.BadRequest, "`messages[0].role` must be a string"},
		{message(`{"role":"user","content":"x"},{"role":"bot","content":"x"}`), apierr.BadRequest, "`messages[1].role` is \"bot\""},
		{message(`{"role":"user"}`), apierr.BadRequest, "`messages[0].content` is missing"},
		{message(`{"role":"user","content":3}`), apierr.BadRequest, "`messages[0].content` must be a string or an array"},
		{message(`{"role":"user","content":["x"]}`), apierr.BadRequest, "`messages[0].content[0]` must be an object"},
		{message(`{"role":"user","content":[{"type":"image_url"}]}`), apierr.BadRequest, "`messages[0].content[0].type` is \"image_url\""},
		{message(`{"role":"user","content":[{"type":"text"}]}`), apierr.BadRequest, "`messages[0].content[0].text` must be a string"},
		{message(`{"role":"tool","content":"x"}`), apierr.BadRequest, "`messages[0].tool_call_id`"},
		{message(`{"role":"assistant","tool_calls":{}}`), apierr.BadRequest, "`messages[0].tool_calls` must be an array"},
		{more(`"stream":"false"`), apierr.BadRequest, "`stream` must be true"},
		{more(`"stream":false`), chaterr.UnimplementedNonStreaming, "`stream` is false"},
		{more(`"n":2`), chaterr.UnimplementedMultiChoice, "`n`"},
		{more(`"n":"1"`), apierr.BadRequest, "`n` must be the number 1"},
		{more(`"tools":{}`), apierr.BadRequest, "`tools` must be an array"},
		{more(`"tools":[1]`), apierr.BadRequest, "`tools[0]` must be an object"},
		{more(`"tools":[{"function":{"name":"x"}}]`), apierr.BadRequest, "`tools[0].type`"},
		{more(`"tools":[{"type":"function","function":{}}]`), apierr.BadRequest, "`tools[0].function.name`"},
		{more(`"tools":[{"type":"function","function":{"name":"searchInIndex"}}]`), apierr.BadRequest, "reserved"},
		{more(`"functions":[{"name":"searchInIndex"}]`), apierr.BadRequest, "`functions[0].name`"},
		{more(`"tool_choice":{"type":"function","function":{"name":"searchProgress"}}`), apierr.BadRequest, "`tool_choice` names"},
		// In the contract's order: what is wrong first counts.
		{`{"model":"m","stream":false}`, apierr.BadRequest, "`messages` is missing"},
		{more(`"stream":false,"n":2`), chaterr.UnimplementedNonStreaming, "`stream`"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.60s", strings.TrimPrefix(tt.body, hello[:len(hello)-1])), func(t *testing.T) {
			f := newFixture(t, say("finish:stop"))
			e := f.refuse(t, tt.body)
			if e.Code != tt.code || !strings.Contains(e.Message, tt.want) {
				t.Errorf("Start: %v, want %s with %q", e, tt.code, tt.want)
			}
			if n := len(f.upstream.Sent()); n != 0 {
				t.Errorf("%d requests were sent for it", n)
			}
		})
	}
	taken := []string{
		message(`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`), message(`{"role":"user","content":[]}`),
		more(`"n":1.0`), more(`"n":null`), more(`"stream":null`), more(`"tools":null`), more(`"tools":[]`), more(`"tools":[{"type":"custom","custom":{"name":"f"}}]`),
		more(`"functions":[{"name":"old"}]`),
	}
	for _, body := range taken {
		newFixture(t, say("finish:stop")).ask(t, body)
	}
}

// TestOrderOfChecks has everything wrong from some check on: the first one
// that is wrong counts.
func TestOrderOfChecks(t *testing.T) {
	f := newFixture(t, say("finish:stop"))
	start := func(uid, body string) error {
		_, err := f.Start(t.Context(), auth.Everyone(), uid, []byte(body))
		return err
	}
	if err := start("nope", `{"model":"m"}`); !apierr.Is(err, apierr.BadRequest) {
		t.Errorf("a bad body for an absent workspace: %v", err)
	}
	if err := start("nope", hello[:len(hello)-1]+`,"n":2}`); !apierr.Is(err, chaterr.UnimplementedMultiChoice) {
		t.Errorf("n 2 for an absent workspace: %v", err)
	}
	if err := start("nope", hello); !apierr.Is(err, chaterr.ChatNotFound) {
		t.Errorf("an absent workspace: %v", err)
	}
	f.patch(t, "demo", `{"apiKey":null}`)
	if err := start("demo", hello); !apierr.Is(err, chaterr.MissingChatAPIKey) || !strings.Contains(err.Error(), "PATCH /chats/demo/settings") {
		t.Errorf("a workspace without a key: %v", err)
	}
	f.source.Is.Settings = nil
	f.patch(t, "demo", `{"pluginVersion":"1.0.0"}`)
	f.source.Is.Version = "2.0.0"
	if err := start("demo", hello); !apierr.Is(err, chaterr.ChatProviderUnavailable) || !strings.Contains(err.Error(), `"1.0.0"`) {
		t.Errorf("a version that is not loaded: %v", err)
	}
	delete(f.sources, "test")
	if err := start("demo", hello); !apierr.Is(err, chaterr.ChatProviderUnavailable) || !strings.Contains(err.Error(), "source test") {
		t.Errorf("a plugin that is not loaded: %v", err)
	}
}

// A passages finds two passages of one document and one of another.
type passages struct{ *chattest.Searcher }

func (passages) ChatSearch(context.Context, *auth.Caller, string, string, string) (chat.Found, error) {
	page := json.RawMessage(`{"id":"guide","kind":"page","text":"` + strings.Repeat("A long page. ", 2500) + `"}`)
	return chat.Found{Coverage: new(1.0), Hits: []chat.Hit{
		{ID: "guide", Title: "Guide > Tea", URL: "https://example.org/guide#tea", Text: "Steep it.", Document: page},
		{ID: "note", Title: "Note", Text: "Drink it.", Document: json.RawMessage(`{"id":"note","text":"Drink it."}`)},
		{ID: "guide", Title: "Guide > Milk", Text: "Pour it.", Document: page},
	}}, nil
}

// TestReportsPassages wants each document in a report once, with the passages that the model got and
// without the page that they are of.
func TestReportsPassages(t *testing.T) {
	f := newFixture(t, say("model:m", search(0, "s", alien), "finish:tool_calls"), say("text:!", "finish:stop"))
	f.deps.Searcher = passages{f.searcher}
	f.Service = chat.New(f.deps)
	calls := f.ask(t, withTools("searchSources")).calls()
	if len(calls) != 1 {
		t.Fatalf("calls %+v, want one", calls)
	}
	var got struct{ Sources json.RawMessage }
	if err := json.Unmarshal([]byte(calls[0].Arguments), &got); err != nil {
		t.Fatal(err)
	}
	const want = `[{"_passages":[{"source":1,"name":"Guide › Tea","title":"Guide > Tea","url":"https://example.org/guide#tea","text":"Steep it."},{"source":3,"name":"Guide › Milk","title":"Guide > Milk","text":"Pour it."}],"id":"guide","kind":"page"},` +
		`{"_passages":[{"source":2,"name":"Note","title":"Note","text":"Drink it."}],"id":"note","text":"Drink it."}]`
	if string(got.Sources) != want {
		t.Errorf("sources %.1000s\nwant %s", got.Sources, want)
	}
}
