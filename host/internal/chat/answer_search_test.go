package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/auth/authtest"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

func TestSearchRound(t *testing.T) {
	f := newFixture(t,
		say("model:a", "text:Let me look.", search(0, "c1", alien), "carry:sig", "carry:nature", "finish:tool_calls", "usage:10,5"),
		say("model:a", search(0, "c2", `{"indexUid":"books","q":"nothing"}`), "finish:stop", "usage:20,5"),
		say("model:a", "text: Two films.", "finish:stop", "usage:30,5"),
	)
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"}],"stream_options":{"include_usage":true},"tool_choice":"required"}`)
	if got := tr.field("content"); got != "Let me look. Two films." {
		t.Errorf("content = %q", got)
	}
	if calls := tr.calls(); len(calls) != 0 {
		t.Errorf("the client sees calls that are not its own: %+v", calls)
	}
	last := tr.chunks[len(tr.chunks)-1]
	if last.Usage == nil || len(last.Choices) != 0 || last.Usage.Prompt != 60 || last.Usage.Completion != 15 || last.Usage.Total != 75 {
		t.Errorf("last chunk = %+v, want the usage of all rounds", last)
	}
	if o := tr.outcome; o.Rounds != 3 || o.Searches != 2 || o.FailedSearches != 0 || o.Finish != "stop" {
		t.Errorf("outcome = %+v", o)
	}
	second := string(sent(t, f, 1)["messages"])
	want := `,{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"movies\",\"q\":\"Alien\",\"filter\":\"\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"{\"indexUid\":\"movies\",\"hits\":[{\"source\":1,\"id\":\"1\",\"text\":\"Alien\"},{\"source\":2,\"id\":\"2\",\"text\":\"Aliens \\\"2\\\"\"}]}"}]`
	if !strings.HasSuffix(second, want) {
		t.Errorf("messages of round 1 = %s\nwant them to end with %s", second, want)
	}
	if third := string(sent(t, f, 2)["messages"]); !strings.HasSuffix(third, `"content":"{\"indexUid\":\"books\",\"hits\":[]}"}]`) || !strings.Contains(third, `"content":null,"tool_calls":[{"id":"c2"`) {
		t.Errorf("messages of round 2 = %s", third)
	}
	if first, later := sent(t, f, 0)["tool_choice"], sent(t, f, 1)["tool_choice"]; string(first) != `"required"` || later != nil {
		t.Errorf("tool_choice = %s, then %s; want it forced in the first round alone", first, later)
	}
	for i, out := range f.upstream.Sent() {
		if out.Round != i {
			t.Errorf("request %d is said to be of round %d", i, out.Round)
		}
	}
	if got := f.source.Requests()[2].Carry; len(got) != 2 || got[0] != "c2lnbmF0dXJl" || got[1] != "" {
		t.Errorf("carry of round 2 = %q", got)
	}
}

// TestOneIndex need not be named by the model.
func TestOneIndex(t *testing.T) {
	f := newFixture(t, say(search(0, "c", `{"q":"Alien"}`), "finish:tool_calls"), say("finish:stop"))
	f.patch(t, "demo", `{"indexUids":["movies"]}`)
	f.ask(t, hello)
	if got := string(sent(t, f, 0)["tools"]); !strings.Contains(got, `"required":["q"]`) {
		t.Errorf("tools = %s, want q alone required", got)
	}
	if got := string(sent(t, f, 1)["messages"]); !strings.Contains(got, `{\"indexUid\":\"movies\",\"hits\":[{\"source\":1,\"id\":\"1\"`) {
		t.Errorf("messages = %s, want the hits in movies", got)
	}
}

// TestCallsInParallel has three searches of which the first ends last: the
// answers stand in the order of the calls.
func TestCallsInParallel(t *testing.T) {
	f := newFixture(t,
		say("tool:0:a:searchInIndex", "tool:1:b:searchInIndex", "finish:tool_calls", `args:1:{"indexUid":"books","q":"Solaris","filter":""}`,
			"args:0:"+alien, "tool:2:c:searchInIndex", "args:2:"+alien),
		say("text:x", "finish:stop"),
	)
	var begun atomic.Int32
	all := make(chan struct{})
	f.searcher.Began = func(ctx context.Context, _ string) {
		if begun.Add(1) == 3 {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
			t.Error("a search waited for the others in vain")
		}
	}
	f.deps.Limits.Answer = 10 * time.Second
	f.Service = chat.New(f.deps)
	f.ask(t, hello)
	messages := string(sent(t, f, 1)["messages"])
	a, b, c := strings.Index(messages, `"tool_call_id":"a"`), strings.Index(messages, `"tool_call_id":"b"`), strings.Index(messages, `"tool_call_id":"c"`)
	if a < 0 || b < a || c < b || !strings.Contains(messages, `Solaris`) {
		t.Errorf("messages = %s", messages)
	}
}

// TestBadCalls gives the model's mistakes back to it.
func TestBadCalls(t *testing.T) {
	tests := []struct{ name, call, want string }{
		{"not JSON", search(0, "c", `{"indexUid":`), "not JSON"},
		{"no arguments", "tool:0:c:searchInIndex", "not JSON"},
		{"no object", search(0, "c", `["movies"]`), "must be an object"},
		{"type", search(0, "c", `{"indexUid":"movies","q":["x"]}`), "argument q must be a string, not an array"},
		{"no index", search(0, "c", `{"q":"x"}`), "argument indexUid is missing. The indexes are: books, movies."},
		{"unknown index", search(0, "c", `{"indexUid":"secret","q":"x"}`), `no index \"secret\". The indexes are: books, movies.`},
		{"filter", search(0, "c", `{"indexUid":"movies","filter":"bad"}`), "error at column 1"},
		{"our failure", search(0, "c", `{"indexUid":"movies","q":"crash"}`), "not your arguments"},
		{"our panic", search(0, "c", `{"indexUid":"movies","q":"panic"}`), "not your arguments"},
		{"function", "tool:0:c:lookup\nargs:0:{}", `no function \"lookup\"`},
		{"too long", search(0, "c", `{"q":"`+strings.Repeat("x", 70<<10)+`"}`), "longer than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, say(tt.call, "finish:tool_calls"), say("text:sorry", "finish:stop"))
			tr := f.ask(t, hello)
			if tr.field("content") != "sorry" || tr.finish() != "stop" {
				t.Errorf("content %q, finish %q", tr.field("content"), tr.finish())
			}
			var messages []struct {
				Content   *string
				ToolCalls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
			}
			if err := json.Unmarshal(sent(t, f, 1)["messages"], &messages); err != nil {
				t.Fatal(err)
			}
			n := len(messages)
			var answer struct{ Error string }
			if err := json.Unmarshal([]byte(*messages[n-1].Content), &answer); err != nil || !strings.Contains(answer.Error, strings.ReplaceAll(tt.want, `\"`, `"`)) {
				t.Errorf("the model is told %s, want %q", *messages[n-1].Content, tt.want)
			}
			if got := messages[n-2].ToolCalls[0].Function.Arguments; !json.Valid([]byte(got)) || got[0] != '{' {
				t.Errorf("the provider is given back arguments that it cannot parse: %q", got)
			}
			if strings.HasPrefix(tt.name, "our") != (tr.outcome.SearchErr != nil) {
				t.Errorf("SearchErr = %v", tr.outcome.SearchErr)
			}
		})
	}
}

func TestTooManyCalls(t *testing.T) {
	var calls []string
	for i := range 40 {
		calls = append(calls, search(i, fmt.Sprintf("c%d", i), alien))
	}
	f := newFixture(t, say(strings.Join(calls, "\n"), "finish:tool_calls"), say("finish:stop"))
	tr := f.ask(t, hello)
	if tr.outcome.Searches != 32 || !strings.Contains(string(sent(t, f, 1)["messages"]), "More than 32 searches") {
		t.Errorf("%d searches were run, want 32 and a word about the rest", tr.outcome.Searches)
	}
}

//parley:option chat-max-rounds
func TestTooManyRounds(t *testing.T) {
	f := newFixture(t, say(search(0, "c", alien), "finish:tool_calls"))
	f.patch(t, "demo", `{"maxRounds":100}`)
	tr := f.ask(t, hello)
	if tr.failureCode() != "chat_too_many_rounds" || !strings.Contains(tr.raw.String(), "--chat-max-rounds") || tr.outcome.Rounds != 20 || tr.outcome.Searches != 19 {
		t.Errorf("failure %q after %d rounds, %d searches; want chat_too_many_rounds after 20, 19", tr.failureCode(), tr.outcome.Rounds, tr.outcome.Searches)
	}
}

// TestLastRound: the last round offers no tools and asks for an answer; what the
// model says there is the answer, even if it asks for another search.
func TestLastRound(t *testing.T) {
	for name, tt := range map[string]struct {
		patch  string
		rounds int
		last   chattest.Script
	}{
		"of eight":          {`{"maxRounds":null}`, 8, say("text:Alien.", "finish:stop")},
		"of a workspace's":  {`{"maxRounds":2}`, 2, say("text:Alien.", "finish:stop")},
		"that asks for one": {`{"maxRounds":3}`, 3, say("text:Alien.", search(0, "c", alien), "finish:tool_calls")},
	} {
		t.Run(name, func(t *testing.T) {
			scripts := slices.Repeat([]chattest.Script{say(search(0, "c", alien), "finish:tool_calls")}, tt.rounds-1)
			f := newFixture(t, append(scripts, tt.last)...)
			f.patch(t, "demo", tt.patch)
			tr := f.ask(t, hello)
			last := string(f.source.Requests()[tt.rounds-1].Chat)
			if tr.field("content") != "Alien." || tr.outcome.Finish != "stop" || tr.outcome.Rounds != tt.rounds || tr.outcome.Searches != tt.rounds-1 {
				t.Errorf("content %q, finish %q, %d rounds, %d searches", tr.field("content"), tr.outcome.Finish, tr.outcome.Rounds, tr.outcome.Searches)
			}
			if strings.Contains(last, `"tools"`) || !strings.Contains(last, "Answer now") || !strings.Contains(string(f.source.Requests()[0].Chat), `"tools"`) {
				t.Errorf("the last request is %s", last)
			}
		})
	}
}

// TestFormatApart: where a provider cannot have tools and a format, the rounds that
// search do without the format, and what they answer is put into it in a last one.
func TestFormatApart(t *testing.T) {
	const asked = `{"model":"m","messages":[{"role":"user","content":"q"}],"response_format":{"type":"json_object"}%s}`
	f := newFixture(t, say(search(0, "c", alien), "carry:search", "finish:tool_calls"), say("text:It is ", "text:Alien.", "carry:draft", "finish:stop"), say(`text:{"title":"Alien"}`, "finish:stop"))
	f.source.Is.FormatWithTools, f.source.Is.FormatModels = "no", []string{"can-*"}
	tr := f.ask(t, fmt.Sprintf(asked, ""))
	if got := tr.field("content"); got != `{"title":"Alien"}` || tr.outcome.Rounds != 3 {
		t.Errorf("content %q after %d rounds", got, tr.outcome.Rounds)
	}
	for i, r := range f.source.Requests() {
		chat := string(r.Chat)
		if last := i == 2; last != strings.Contains(chat, `"response_format":{"type":"json_object"}`) || last == strings.Contains(chat, `"tools"`) || last != strings.Contains(chat, `"content":"It is Alien."`) {
			t.Errorf("round %d asks %s", i, chat)
		}
	}
	if r := f.source.Requests()[2]; !slices.Equal(r.Carry, []string{"c2VhcmNo"}) || !slices.Equal(r.TextCarry, []string{"ZHJhZnQ="}) {
		t.Errorf("the last round is given %q of calls and %q of texts, want that of the search and that of the draft", r.Carry, r.TextCarry)
	}
	// The client's calls end the turn; what was said before them is said.
	f = newFixture(t, say("text:Wait.", "tool:0:c1:mine\nargs:0:{}", "finish:tool_calls"))
	f.source.Is.FormatWithTools = "no"
	tr = f.ask(t, fmt.Sprintf(asked, `,"tools":[{"type":"function","function":{"name":"mine"}}]`))
	if tr.field("content") != "Wait." || tr.outcome.Finish != "tool_calls" || tr.outcome.Rounds != 1 {
		t.Errorf("content %q, finish %q after %d rounds", tr.field("content"), tr.outcome.Finish, tr.outcome.Rounds)
	}
	// A model that can have both is asked at once.
	f = newFixture(t, say("text:{}", "finish:stop"))
	f.source.Is.FormatWithTools, f.source.Is.FormatModels = "no", []string{"can-*"}
	tr = f.ask(t, strings.Replace(fmt.Sprintf(asked, ""), `"m"`, `"can-1"`, 1))
	if chat := string(f.source.Requests()[0].Chat); tr.outcome.Rounds != 1 || !strings.Contains(chat, "response_format") || !strings.Contains(chat, `"tools"`) {
		t.Errorf("%d rounds, the first asks %s", tr.outcome.Rounds, chat)
	}
}

// TestReasoningOfRounds: where a provider refuses in messages the reasoning that it gave,
// the rounds behind a search go on without it, and it refuses once.
func TestReasoningOfRounds(t *testing.T) {
	looks := say("text:Let me look.", "reasoning:hm", search(0, "c", alien), "finish:tool_calls")
	refuses := func(name string) chattest.Script {
		return chattest.Script{Status: 400, Body: "'messages.2' : property '" + name + "' is unsupported"}
	}
	found := say("text:Found.", "finish:stop")
	f := newFixture(t, looks, refuses("reasoning_content"), refuses("reasoning"), found, looks, found)
	for range 2 {
		if tr := f.ask(t, hello); tr.outcome.Err != nil || tr.outcome.Rounds != 2 || !strings.HasSuffix(tr.field("content"), "Found.") {
			t.Errorf("content %q after %d rounds, error %v", tr.field("content"), tr.outcome.Rounds, tr.outcome.Err)
		}
	}
	for i, want := range []string{"", `"reasoning_content":"hm"`, `"reasoning":"hm"`, "", "", ""} {
		if chat := string(f.source.Requests()[i].Chat); want == "" && strings.Contains(chat, `"hm"`) || !strings.Contains(chat, want) {
			t.Errorf("request %d is %s, want %q of the reasoning", i, chat, want)
		}
	}
}

// TestContraryRefusals: a provider that wants the reasoning in messages, and refuses it, is asked once for each.
func TestContraryRefusals(t *testing.T) {
	wants := chattest.Script{Status: 400, Body: "`reasoning_content` is missing in an assistant message"}
	refuses := chattest.Script{Status: 400, Body: "'messages.1' : property 'reasoning_content' is unsupported"}
	f := newFixture(t, wants, refuses, wants, refuses, wants, refuses, hi)
	_, err := f.start(t, auth.Everyone(), `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"q"}]}`)
	if n := len(f.source.Requests()); n != 3 || err == nil {
		t.Errorf("%d requests and the error %v, want three and the last refusal", n, err)
	}
}

// TestRefusalCountsForItsCaller: a provider's refusal may say what a client has it say. What one caller is told that a
// model cannot do takes nothing from another one.
func TestRefusalCountsForItsCaller(t *testing.T) {
	f := newFixture(t, chattest.Script{Status: 400, Body: "Unknown parameter: 'tools are not supported'"}, hi, hi)
	keys, err := auth.Open(t.Context(), &authtest.Memory{}, auth.Options{MasterKey: "a master key of sixteen"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		key, err := keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"chatCompletions", "search"}, Indexes: []string{"*"}})
		if err != nil {
			t.Fatal(err)
		}
		caller, err := keys.Of(key.UID)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.start(t, caller, hello)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.WriteTo(openai.NewChunks(&transcript{t: t}, false)); err != nil {
			t.Fatal(err)
		}
		if i == 0 && len(f.source.Requests()) != 2 {
			t.Fatalf("%d requests, want that the first caller's is asked again", len(f.source.Requests()))
		}
	}
	if chat := string(f.source.Requests()[2].Chat); !strings.Contains(chat, `"tools"`) {
		t.Errorf("another caller's request has no tools: %s", chat)
	}
}

func TestReply(t *testing.T) {
	f := newFixture(t)
	f.source.Reply = func(in *abi.EncodeRequest) string {
		if in.Round == 0 {
			return search(0, "c", alien) + "\nfinish:tool_calls"
		}
		return "model:none\ntext:found\nfinish:stop"
	}
	tr := f.ask(t, hello)
	if tr.field("content") != "found" || len(f.upstream.Sent()) != 0 {
		t.Errorf("content %q, %d requests sent", tr.field("content"), len(f.upstream.Sent()))
	}
}

// TestTruncated ends the answer where the provider stopped within a call.
func TestTruncated(t *testing.T) {
	f := newFixture(t, say("text:x", "tool:0:c:searchInIndex", `args:0:{"indexUid":"mov`, "finish:length"))
	if tr := f.ask(t, hello); tr.finish() != "length" || tr.outcome.Rounds != 1 {
		t.Errorf("finish %q after %d rounds", tr.finish(), tr.outcome.Rounds)
	}
	f = newFixture(t, say("finish:tool_calls"))
	if tr := f.ask(t, hello); tr.finish() != "stop" {
		t.Errorf("finish %q without any call, want stop", tr.finish())
	}
}
