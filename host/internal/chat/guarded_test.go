package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/guard/guardtest"
)

// newGuarded is a fixture whose workspace demo has the guard mask.
func newGuarded(t *testing.T, scripts ...chattest.Script) (*fixture, *guardtest.Mask) {
	t.Helper()
	f := newFixture(t, scripts...)
	m := guardtest.NewMask("mask")
	f.deps.Guards = guardtest.Plugins{"mask": m}
	f.Service = chat.New(f.deps)
	f.patch(t, "demo", `{"guards":[{"plugin":"mask"}]}`)
	return f, m
}

const myAddress = `{"model":"m","messages":[{"role":"user","content":"I am ann@b.example."}]}`

func TestGuardedAnswer(t *testing.T) {
	f, _ := newGuarded(t, say("reasoning:<E", "reasoning:1> it is.", "text:Hello <", "text:E1>, and <E", "finish:stop", "usage:3,4"))
	tr := f.ask(t, myAddress)
	if got := tr.field("content"); got != "Hello ann@b.example, and <E" {
		t.Errorf("content = %q", got)
	}
	if got := tr.field("reasoning_content"); got != "ann@b.example it is." {
		t.Errorf("reasoning = %q", got)
	}
	if asked := string(sent(t, f, 0)["messages"]); !strings.Contains(asked, `"I am <E1>."`) || strings.Contains(asked, "ann") {
		t.Errorf("the provider is sent %s", asked)
	}
}

// TestGuardedImage: an image goes out behind the text that a guard held before it.
func TestGuardedImage(t *testing.T) {
	const image = `{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,forbidden"}}]}`
	for _, events := range [][]string{{"text:Hello <E1> <E", "extra:" + image}, {"extra:" + image, "text:Hello <E1> <E"}} {
		f, _ := newGuarded(t, say(append(events, "finish:stop")...))
		tr := f.ask(t, myAddress)
		if tr.field("content") != "Hello ann@b.example <E" || !strings.Contains(tr.raw.String(), image[1:len(image)-1]) {
			t.Errorf("%q became %s", events, &tr.raw)
		}
	}
}

// TestGuardedQuestion: each text of a conversation passes the guards.
func TestGuardedQuestion(t *testing.T) {
	f, _ := newGuarded(t, say("text:ok", "finish:stop"))
	f.ask(t, `{"model":"m","tools":[{"type":"function","function":{"name":"mail"}}],"messages":[
		{"role":"system","content":"For z@b.example."},
		{"role":"user","content":[{"type":"text","text":"From y@b.example"},{"type":"text","text":"to x@b.example"}]},
		{"role":"assistant","content":null,"reasoning_content":"w@b.example","tool_calls":[{"id":"c","type":"function","function":{"name":"mail","arguments":"{\"to\": [\"x@b.example\", 7]}"}}]},
		{"role":"tool","tool_call_id":"c","content":"{\"from\":\"v@b.example\"}"},
		{"role":"user","content":"nothing"}]}`)
	asked := string(sent(t, f, 0)["messages"])
	if strings.Contains(asked, "b.example") {
		t.Errorf("the provider is sent %s", asked)
	}
	for _, want := range []string{`"arguments":"{\"to\": [\"<E`, `, 7]}"`, `"content":"nothing"`, `{\"from\":\"<E`} {
		if !strings.Contains(asked, want) {
			t.Errorf("messages %s lack %s", asked, want)
		}
	}
}

// TestGuardedFields: what a request says beside its messages passes the guards, too, and so do names, names
// of files and captions.
func TestGuardedFields(t *testing.T) {
	f, _ := newGuarded(t, say("text:ok", "finish:stop"))
	f.source.Is.Accepts = []string{"file", "image_url"}
	f.ask(t, `{"model":"m","user":"u@b.example","safety_identifier":"s@b.example","metadata":{"from":"m@b.example","n":7},
		"prediction":{"type":"content","content":"Dear p@b.example"},"stop":["x@b.example"],"temperature":0.5,"seed":7,"tool_choice":"auto","messages":[
		{"role":"user","name":"n@b.example","content":[{"type":"text","Text":"v@b.example","t\u0065xt":"t@b.example"},
			{"type":"file","file":{"filename":"f@b.example.pdf","file_data":"data:application/pdf;base64,AAAA"}},
			{"type":"image_url","image_url":{"url":"https://a.example/a.png"},"caption":"c@b.example"}]},
		{"role":"assistant","name":"helper","content":"a","reasoning_details":[{"type":"reasoning.text","text":"r@b.example","signature":"sig@b.example"},{"type":"reasoning.encrypted","data":"d@b.example"}]},
		{"role":"user","content":"q"}]}`)
	var got []byte
	for _, name := range slices.Sorted(maps.Keys(sent(t, f, 0))) {
		if name != "tools" { // those of the host
			got = append(append(append(append(got, '"'), name...), '"', ':'), sent(t, f, 0)[name]...)
		}
	}
	for _, kept := range []string{"sig@b.example", "d@b.example", `"name":"helper"`, `"seed":7`, `"temperature":0.5`, "data:application/pdf;base64,AAAA", `"filename":"<E`, `"caption":"<E`, `"n":7`} {
		if !strings.Contains(string(got), kept) {
			t.Errorf("the provider is sent %s, want %s in it", got, kept)
		}
	}
	if left := regexp.MustCompile(`[a-z]+@b\.example`).FindAllString(string(got), -1); strings.Join(left, " ") != "sig@b.example d@b.example" {
		t.Errorf("the provider is sent %q, in %s", left, got)
	}
	if strings.Count(string(got), `"name"`) != 1 {
		t.Errorf("a name that was masked is sent: %s", got)
	}
}

// TestGuardedQuery: what was masked for the model is searched for as it is, and the model is not told.
func TestGuardedQuery(t *testing.T) {
	f, _ := newGuarded(t,
		say(search(0, "c1", `{"indexUid":"movies","q":"<E1>","filter":"owner = '<E1>'"}`), search(1, "c2", `{"indexUid":"<E1>","q":"x"}`), "finish:tool_calls"),
		say("text:Nothing.", "finish:stop"))
	var searched []string
	f.searcher.Began = func(_ context.Context, q string) { searched = append(searched, q) }
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"What of ann@b.example?"}],"tools":[{"type":"function","function":{"name":"searchProgress"}}]}`)
	if len(searched) != 1 || searched[0] != "ann@b.example" {
		t.Errorf("searched for %q", searched)
	}
	if second := string(sent(t, f, 1)["messages"]); strings.Contains(second, "ann@") || !strings.Contains(second, "There is no index") {
		t.Errorf("the model reads %s", second)
	}
	if raw := tr.raw.String(); !strings.Contains(raw, "ann@b.example") || strings.Contains(raw, "<E1>") {
		t.Errorf("the client sees %s", raw)
	}
}

func TestGuardedSearch(t *testing.T) {
	f, _ := newGuarded(t,
		say(search(0, "c1", `{"indexUid":"movies","q":"s"}`), "finish:tool_calls"),
		say("text:Ask <E1>.", "finish:stop"))
	f.searcher.Documents["movies"] = []chat.Hit{
		{ID: "1", Title: "Who", URL: "https://a.example/", Text: "Ask eve@b.example", Document: json.RawMessage(`{"id":1,"owner":"eve@b.example"}`)},
		{ID: "2", Text: "this is forbidden"},
		{ID: "3", Text: "harmless"},
	}
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"searchSources"}}]}`)
	if got := tr.field("content"); got != "Ask eve@b.example." {
		t.Errorf("content = %q", got)
	}
	second := string(sent(t, f, 1)["messages"])
	if strings.Contains(second, "eve") || strings.Contains(second, "forbidden") || !strings.Contains(second, "harmless") || !strings.Contains(second, `leftOut\":\"1 of`) {
		t.Errorf("the model reads %s", second)
	}
	if raw := tr.raw.String(); strings.Contains(raw, "forbidden") {
		t.Errorf("the client sees %s", raw)
	}
}

// TestGuardedCalls: arguments are given to the client once they are whole.
func TestGuardedCalls(t *testing.T) {
	f, _ := newGuarded(t, say("text:Now ", "tool:0:c1:mail", `args:0:{"to":"<E`, "tool:1:c2:mail", `args:0:1>"}`, `args:1:{"to":"\u003cE1\u003e"}`, "finish:tool_calls"))
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"I am ann@b.example."}],"tools":[{"type":"function","function":{"name":"mail"}}]}`)
	calls := tr.calls()
	if len(calls) != 2 || calls[0].Arguments != `{"to":"ann@b.example"}` || calls[1].Arguments != `{"to":"ann@b.example"}` {
		t.Errorf("calls = %+v", calls)
	}
	if got := tr.field("content"); got != "Now " {
		t.Errorf("content = %q", got)
	}
}

func TestGuardedBlocks(t *testing.T) {
	const ask = `{"model":"m","messages":[{"role":"user","content":"Say the forbidden"}]}`
	f, _ := newGuarded(t)
	tr := f.ask(t, ask)
	last := tr.chunks[len(tr.chunks)-1]
	if got := tr.field("refusal"); got != "We do not talk about this." || last.Choices[0].FinishReason == nil || *last.Choices[0].FinishReason != "content_filter" {
		t.Errorf("refusal %q, last chunk %+v", got, last)
	}
	if n := len(f.upstream.Sent()); n != 0 {
		t.Errorf("%d requests to the provider, want none", n)
	}
	f.patch(t, "demo", `{"guards":[{"plugin":"mask","options":{"how":"error"}}]}`)
	if e := f.refuse(t, ask); e.Code != chaterr.ContentBlocked || e.Message != "We do not talk about this." {
		t.Errorf("error = %v", e)
	}
	// In the answer.
	f, _ = newGuarded(t, say("text:This is forb", "text:idden, isn't it?", "finish:stop"))
	tr = f.ask(t, hello)
	if raw := tr.raw.String(); tr.field("content") != "This is " || tr.field("refusal") != "We do not talk about this." || strings.Contains(raw, "isn't") {
		t.Errorf("stream %s", raw)
	}
	f, _ = newGuarded(t, say("text:This is forb", "text:idden, isn't it?", "finish:stop"))
	f.patch(t, "demo", `{"guards":[{"plugin":"mask","options":{"how":"error"}}]}`)
	tr = f.ask(t, hello)
	if tr.field("content") != "This is " || tr.failure == nil || !strings.Contains(string(tr.failure.Error), `"content_blocked"`) {
		t.Errorf("stream %s", tr.raw.String())
	}
}

// TestGuardFaults: a guard that fails closes, one of the workspace opens where it says so.
func TestGuardFaults(t *testing.T) {
	f, m := newGuarded(t, hi, hi)
	m.Fail = errors.New("a trap that nobody need know")
	e := f.refuse(t, hello)
	if e.Code != chaterr.ContentBlocked || strings.Contains(e.Message, "trap") {
		t.Errorf("error = %v", e)
	}
	long := strings.Replace(hello, `"content":"`, `"content":"`+strings.Repeat("x ", 600<<10), 1)
	if e := f.refuse(t, long); e.Code != apierr.PayloadTooLarge || !strings.Contains(e.Message, "guard mask") || !strings.Contains(e.Message, "at most") {
		t.Errorf("a question of 1.2 MB, which the guard fails at: %v", e)
	}
	// No client can shorten what was found.
	got, err := f.Service.TryGuards(t.Context(), auth.Everyone(), "demo", []byte(`{"stage":"passages","text":"`+strings.Repeat("x ", 600<<10)+`"}`))
	if err != nil || got.Blocked == nil || strings.Contains(got.Blocked.Message, "at most") {
		t.Errorf("a passage of 1.2 MB, which the guard fails at: %+v, %v", got, err)
	}
	f.patch(t, "demo", `{"guards":[{"plugin":"mask","onFault":"open"}]}`)
	if got := f.ask(t, hello).field("content"); got != "Hi" {
		t.Errorf("content = %q", got)
	}
	f.deps.DeploymentGuards = []guard.Use{{Plugin: "mask", OnFault: guard.FaultOpen}}
	f.Service = chat.New(f.deps)
	if e := f.refuse(t, hello); e.Code != chaterr.ContentBlocked {
		t.Errorf("a guard of the deployment: %v", e)
	}
	f.deps.Guards, f.deps.DeploymentGuards = guardtest.Plugins{}, nil
	f.Service = chat.New(f.deps)
	if e := f.refuse(t, hello); e.Code != chaterr.ChatProviderUnavailable || !strings.Contains(e.Message, "guard mask") {
		t.Errorf("without the guard: %v", e)
	}
}

// TestGuardedFallback: the texts stay as they were for the one that answers.
func TestGuardedFallback(t *testing.T) {
	f, first, _ := newFallback(t, failing, say("text:<E1>", "finish:stop"))
	f.deps.Guards = guardtest.Plugins{"mask": guardtest.NewMask("mask")}
	f.Service = chat.New(f.deps)
	f.patch(t, "demo", `{"guards":[{"plugin":"mask"}]}`)
	f.patch(t, "first", `{"guards":[{"plugin":"mask"}]}`)
	tr := f.ask(t, myAddress)
	if got := tr.field("content"); got != "ann@b.example" || tr.outcome.Workspace != "first" {
		t.Errorf("content = %q by %s", got, tr.outcome.Workspace)
	}
	if asked := string(first.Requests()[0].Chat); strings.Contains(asked, "ann@") {
		t.Errorf("the second provider is sent %s", asked)
	}
	// One that asks for fewer guards takes it over, behind those of the first; also what the fields say.
	f, first, _ = newFallback(t, failing, say("text:<E1> and <E2>", "finish:stop"))
	f.deps.Guards = guardtest.Plugins{"mask": guardtest.NewMask("mask")}
	f.Service = chat.New(f.deps)
	f.patch(t, "demo", `{"guards":[{"plugin":"mask"}]}`)
	tr = f.ask(t, strings.Replace(myAddress, `"model"`, `"stop":["bob@b.example"],"model"`, 1))
	if got := tr.field("content"); got != "ann@b.example and bob@b.example" || tr.outcome.Workspace != "first" {
		t.Errorf("content = %q by %s", got, tr.outcome.Workspace)
	}
	if asked := string(first.Requests()[0].Chat); strings.Contains(asked, "@b.example") || !strings.Contains(asked, `"stop":["<E2>"]`) {
		t.Errorf("the second provider is sent %s", asked)
	}
	// A workspace with other guards does not take it over.
	f, _, _ = newFallback(t, failing, hi)
	f.deps.Guards = guardtest.Plugins{"mask": guardtest.NewMask("mask")}
	f.Service = chat.New(f.deps)
	f.patch(t, "first", `{"guards":[{"plugin":"mask"}]}`)
	if tr := f.ask(t, hello); tr.outcome.Workspace != "second" {
		t.Errorf("%s answers, want second", tr.outcome.Workspace)
	}
}

// TestGuardCarry: a later request goes on with what the guards kept.
func TestGuardCarry(t *testing.T) {
	f, _ := newGuarded(t, say("tool:0:c1:mail", `args:0:{"to":"<E1>"}`, "finish:tool_calls"), say("text:Sent to <E1>.", "finish:stop"))
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(`{"model":"m","messages":[{"role":"user","content":"I am ann@b.example."}],"tools":[{"type":"function","function":{"name":"mail"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var kept keptCarries
	if err := a.WriteTo(&kept); err != nil {
		t.Fatal(err)
	}
	if len(kept.all) != 1 || !kept.all[0].Needed() || len(kept.all[0].Guards) != 1 {
		t.Fatalf("carries = %+v", kept.all)
	}
	f.carries = kept.all
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"Do it."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"mail","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"done"}],"tools":[{"type":"function","function":{"name":"mail"}}]}`)
	if got := tr.field("content"); got != "Sent to ann@b.example." {
		t.Errorf("content = %q", got)
	}
}

// TestGuardsSealed: a client that keeps its conversation itself gets the states of guards to send back, and no
// guard edits what is sealed.
func TestGuardsSealed(t *testing.T) {
	f, _ := newGuarded(t,
		say(search(0, "c0", `{"indexUid":"movies","q":"x"}`), "carry:<E1>", "finish:tool_calls"),
		say("tool:0:c1:mail", `args:0:{"to":"<E1>"}`, "finish:tool_calls"))
	var sealed []chat.Carry
	f.seal = func(c *chat.Carry) string {
		sealed = append(sealed, *c)
		return chat.SealedMark + "<E1>"
	}
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"I am ann@b.example."}],"tools":[{"type":"function","function":{"name":"mail"}},{"type":"function","function":{"name":"appendConversationMessage"}}]}`)
	if raw := tr.raw.String(); strings.Contains(raw, chat.SealedMark+"ann") || strings.Count(raw, chat.SealedMark) < 2 {
		t.Errorf("the client gets %s", raw)
	}
	if n := len(sealed); n != 2 || len(sealed[1].Guards) != 1 {
		t.Errorf("sealed %+v", sealed)
	}
}

// TestGuardedTextCarry: what a plugin leaves with an answer without calls goes back behind
// guards, too: the message is known by the text that the client has.
func TestGuardedTextCarry(t *testing.T) {
	f, _ := newGuarded(t, say("text:Hello <", "text:E1> and <E", "carry:K", "finish:stop"))
	var sealed []chat.Carry
	f.seal = func(c *chat.Carry) string {
		sealed = append(sealed, *c)
		return chat.SealedMark + "x"
	}
	tr := f.ask(t, myAddress)
	if got := tr.field("content"); got != "Hello ann@b.example and <E" || strings.Count(tr.raw.String(), chat.SealedMark) != 1 {
		t.Errorf("the client gets %s", tr.raw.String())
	}
	f.carries = sealed
	f.ask(t, `{"model":"m","messages":[{"role":"user","content":"I am ann@b.example."},{"role":"assistant","content":"Hello ann@b.example and <E"},{"role":"user","content":"And?"}]}`)
	if all := f.source.Requests(); len(all) != 2 || !slices.Equal(all[1].TextCarry, []string{"Sw=="}) {
		t.Errorf("the plugin is asked %+v, want a carry", all)
	}
}

type keptCarries struct {
	chat.Discard
	all []chat.Carry
}

func (c *keptCarries) EndRound(r *chat.Carry) { c.all = append(c.all, *r) }

func TestPatchGuards(t *testing.T) {
	f, _ := newGuarded(t)
	for _, test := range []struct{ guards, want string }{
		{`{}`, "`guards` must be an array"},
		{`[7]`, "`guards[0]` must be an object"},
		{`[{"plugin":"mask","stage":"answer"}]`, `unknown field "stage"`},
		{`[{}]`, "`guards[0].plugin` is \"\""},
		{`[{"plugin":"mast"}]`, `no guard of this name is loaded; there is mask`},
		{`[{"plugin":"mask","stages":[]}]`, "`guards[0].stages` is empty"},
		{`[{"plugin":"mask","stages":["answers"]}]`, "`guards[0].stages[0]` is \"answers\""},
		{`[{"plugin":"mask","onFault":"ajar"}]`, "`guards[0].onFault` is \"ajar\""},
		{`[{"plugin":"mask","options":{"what":1}}]`, "`guards[0].options.what` is not known"},
		{`[{"plugin":"mask","options":{"how":1}}]`, "`guards[0].options.how` must be a string"},
		{`[` + strings.Repeat(`{"plugin":"mask"},`, 16) + `{"plugin":"mask"}]`, "has 17 entries and may have 16"},
	} {
		_, _, err := f.Patch(t.Context(), "demo", []byte(`{"guards":`+test.guards+`}`))
		if e := apierr.From(err); err == nil || e.Code != chaterr.InvalidChatGuards || !strings.Contains(e.Message, test.want) {
			t.Errorf("guards %s: %v, want %s", test.guards, err, test.want)
		}
	}
	s, _ := f.patch(t, "demo", `{"guards":[{"plugin":"mask","stages":["answer"],"options":{"how":null},"onFault":"open"}]}`)
	if b, _ := json.Marshal(s.Guards); string(b) != `[{"plugin":"mask","stages":["answer"],"onFault":"open"}]` {
		t.Errorf("guards = %s", b)
	}
	if s, _ = f.patch(t, "demo", `{"guards":null}`); s.Guards != nil {
		t.Errorf("guards = %+v after null", s.Guards)
	}
}

// TestGuardChangesNothing: a guard that edits nothing changes no byte of a stream.
func TestGuardChangesNothing(t *testing.T) {
	const tools = `,"tools":[{"type":"function","function":{"name":"mail"}},{"type":"function","function":{"name":"searchSources"}},{"type":"function","function":{"name":"searchProgress"}},{"type":"function","function":{"name":"appendConversationMessage"}}]}`
	scripts := []chattest.Script{
		say("model:a", "reasoning:Let me <look\nextra:{\"reasoning_details\":[{\"text\":\"Let me <look\"}]}", "text:I look at 4111 1111", search(0, "c1", `{"indexUid":"movies","q":"Alien"}`), "finish:tool_calls"),
		say("text: Zür", "text:ich 東京 😀", "extra:{\"annotations\":[{\"url\":\"https://a.example/?a=1&b=<2>\"}]}", "outer:{\"chunk\":{\"service_tier\":\"x\"}}", "refusal:no", "tool:0:c2:mail", `args:0:{"to":`, `args:0:"a@b.example"}`, "finish:tool_calls", "usage:3,4"),
	}
	random := regexp.MustCompile(`chatcmpl-[0-9a-f]+|call_[0-9a-f]{24}|"created":\d+`)
	var want string
	for _, guards := range []string{`null`, `[{"plugin":"nothing"}]`} {
		f := newFixture(t, scripts...)
		f.deps.Guards = guardtest.Plugins{"nothing": guardtest.Nothing{}}
		f.Service = chat.New(f.deps)
		f.patch(t, "demo", `{"guards":`+guards+`}`)
		tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"}]`+tools)
		got := random.ReplaceAllString(tr.raw.String(), "")
		if want == "" {
			want = got
		} else if got != want {
			t.Errorf("with a guard that edits nothing the client gets\n%s\nwithout it\n%s", got, want)
		}
	}
}
