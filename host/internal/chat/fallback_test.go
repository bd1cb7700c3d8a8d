package chat_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/access/limit/limittest"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

const otherKey = "sk-of-the-other-provider"

// newFallback is a fixture whose workspace demo falls back on "first" and "second",
// which have sources of their own.
func newFallback(t *testing.T, scripts ...chattest.Script) (f *fixture, first, second *chattest.Source) {
	t.Helper()
	f = newFixture(t, scripts...)
	source := func(name string) *chattest.Source {
		s := &chattest.Source{Is: f.source.Is}
		s.Is.Name, s.Is.Source = name, name
		f.sources[name] = s
		return s
	}
	first, second = source("one"), source("two")
	f.deps.Limiter = limit.New(limit.Options{Storage: &limittest.Memory{}})
	f.Service = chat.New(f.deps)
	f.patch(t, "first", `{"source":"one","apiKey":"`+otherKey+`","defaultModel":"one-model","prompts":{"system":"Never."},"enforcedParameters":{"top_p":0.5},"maxCompletionTokens":50}`)
	f.patch(t, "second", `{"source":"two","apiKey":"`+otherKey+`"}`)
	f.patch(t, "demo", `{"fallback":["first","second"],"enforcedParameters":{"seed":1}}`)
	return f, first, second
}

// start begins an answer of demo for caller.
func (f *fixture) start(t *testing.T, caller *auth.Caller, body string) (*chat.Answer, error) {
	t.Helper()
	return f.Start(t.Context(), caller, "demo", []byte(body))
}

var (
	hi      = chattest.Script{Batches: [][]string{{"text:Hi", "finish:stop", "usage:3,4"}}}
	failing = chattest.Script{Status: http.StatusInternalServerError, Body: "no"}
	tooLong = chattest.Script{Status: http.StatusBadRequest, Head: chattest.Head("x-kind", "context_length")}
)

func TestFallback(t *testing.T) {
	refused := &outbound.Error{Kind: outbound.Refused, Message: "nobody listens"}
	for _, tt := range []struct {
		name    string
		scripts []chattest.Script // one a request
		by      string
		code    apierr.Code // of a failure; by is empty then
		fell    int
	}{
		{"no failure", []chattest.Script{hi}, "demo", apierr.Code{}, 0},
		{"500", []chattest.Script{failing, hi}, "first", apierr.Code{}, 1},
		{"429", []chattest.Script{{Status: 429}, hi}, "first", apierr.Code{}, 1},
		{"no connection", []chattest.Script{{Err: refused}, hi}, "first", apierr.Code{}, 1},
		{"timeout", []chattest.Script{{Err: &outbound.Error{Kind: outbound.Timeout, Message: "slow"}}, hi}, "first", apierr.Code{}, 1},
		{"failure in the response", []chattest.Script{{Batches: [][]string{{`error:{"kind":"overloaded","message":"busy"}`}}}, hi}, "first", apierr.Code{}, 1},
		{"twice", []chattest.Script{failing, {Status: 429}, hi}, "second", apierr.Code{}, 2},
		{"thrice", []chattest.Script{{Status: 429}, failing, failing, hi}, "", chaterr.LLMProviderError, 2},
		{"too long for the model", []chattest.Script{tooLong, hi}, "first", apierr.Code{}, 1},
		// second names no model of its own
		{"too long for each model", []chattest.Script{tooLong, tooLong, hi}, "", chaterr.LLMProviderRejectedRequest, 1},
		{"busy for an hour, then too long", []chattest.Script{{Status: 429, Head: chattest.Head("retry-after", "3600")}, tooLong, hi}, "second", apierr.Code{}, 2},
		{"too long, in the response", []chattest.Script{{Batches: [][]string{{"model:m", `error:{"kind":"context_length","message":"too long"}`}}}, hi}, "first", apierr.Code{}, 1},
		{"content filter", []chattest.Script{{Status: 400, Head: chattest.Head("x-kind", "content_filter")}, hi}, "", chaterr.LLMProviderRejectedRequest, 0},
		{"no quota", []chattest.Script{{Status: 402}, hi}, "first", apierr.Code{}, 1},
		{"400", []chattest.Script{{Status: 400}, hi}, "", chaterr.LLMProviderRejectedRequest, 0},
		{"401", []chattest.Script{{Status: 401}, hi}, "", chaterr.LLMProviderUnauthorized, 0},
		{"a byte was sent", []chattest.Script{{Batches: [][]string{{"text:H"}}, End: &outbound.Error{Kind: outbound.Broken, Message: "cut"}}, hi}, "demo", chaterr.LLMProviderError, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, _, _ := newFallback(t, tt.scripts...)
			a, err := f.start(t, auth.Everyone(), hello)
			if tt.by == "" {
				if !apierr.Is(err, tt.code) {
					t.Errorf("Start = %v, want %s", err, tt.code)
				}
				if n := len(f.upstream.Sent()); n != tt.fell+1 {
					t.Errorf("%d requests, want %d", n, tt.fell+1)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.AnsweredBy() != tt.by {
				t.Errorf("answered by %q, want %q", a.AnsweredBy(), tt.by)
			}
			tr := &transcript{t: t}
			if err := a.WriteTo(openai.NewChunks(tr, false)); err != nil {
				t.Fatal(err)
			}
			o := a.Outcome()
			if o.Workspace != tt.by || len(o.FellBack) != tt.fell || o.Rounds != 1 {
				t.Errorf("outcome = %+v, want %s after %d others, in one round", o, tt.by, tt.fell)
			}
			if tt.code != (apierr.Code{}) && (o.Err == nil || o.Err.Code != tt.code) {
				t.Errorf("outcome = %+v, want %s", o, tt.code)
			}
			if f.upstream.Open() != 0 {
				t.Error("a response was left open")
			}
		})
	}
}

// TestFallbackIsItsOwn looks at what another workspace's provider is asked: with its
// own key, model and rules, and with the prompts of the first.
func TestFallbackIsItsOwn(t *testing.T) {
	f, first, _ := newFallback(t, failing, hi)
	a, err := f.start(t, auth.Everyone(), asked(`"top_p":1,"max_tokens":500,"store":true`))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteTo(openai.NewChunks(&transcript{t: t}, false)); err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal(first.Requests()[0].Chat, &sent); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"model": "one-model", "top_p": 0.5, "max_tokens": 50.0, "seed": nil, "store": nil} {
		if sent[name] != want {
			t.Errorf("%s = %v, want %v", name, sent[name], want)
		}
	}
	if b := string(first.Requests()[0].Chat); !strings.Contains(b, "Be brief.") || strings.Contains(b, "Never.") {
		t.Errorf("the prompts are not those of the first workspace: %s", b)
	}
	if key := f.upstream.Sent()[1].Secrets["apiKey"]; key != otherKey {
		t.Errorf("sent with the key %q, want that of the workspace that answers", key)
	}
	usage, err := f.deps.Limiter.Usage([]limit.Party{{Subject: limit.Workspace("demo")}, {Subject: limit.Workspace("first")}})
	if err != nil || usage[0].Current.Counts != (limit.Counts{}) || usage[1].Current.Counts != (limit.Counts{Requests: 1, Prompt: 3, Completion: 4}) {
		t.Errorf("usage = %+v, %v; want it counted where it was answered", usage, err)
	}
}

// TestFallbackPassesOver has workspaces that cannot or may not answer.
func TestFallbackPassesOver(t *testing.T) {
	for name, change := range map[string]func(*fixture){
		"deleted": func(f *fixture) {
			if err := f.Delete(t.Context(), "first"); err != nil {
				t.Fatal(err)
			}
		},
		"without a plugin": func(f *fixture) { delete(f.sources, "one") },
		"without a key":    func(f *fixture) { f.patch(t, "first", `{"apiKey":null}`) },
		"of other models":  func(f *fixture) { f.patch(t, "first", `{"defaultModel":null,"models":["x*"]}`) },
		"of other rules":   func(f *fixture) { f.patch(t, "first", `{"maxInputBytes":1}`) },
		"over its limits":  func(f *fixture) { f.patch(t, "first", `{"limits":{"tokens":{"amount":1,"period":"day"}}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			f, first, _ := newFallback(t, failing, hi)
			change(f)
			a, err := f.start(t, auth.Everyone(), hello)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if a.AnsweredBy() != "second" || len(first.Requests()) != 0 {
				t.Errorf("answered by %s, want second; first was asked %d times", a.AnsweredBy(), len(first.Requests()))
			}
		})
	}
}

// TestFallbackKeepsSearches has the provider fail once a search was run: the answer
// goes on elsewhere with what was found.
func TestFallbackKeepsSearches(t *testing.T) {
	search := chattest.Script{Batches: [][]string{{"tool:0:c1:searchInIndex", `args:0:{"indexUid":"books","q":"a"}`, "finish:tool_calls", "carry:secret of the first"}}}
	f, first, _ := newFallback(t, search, failing, hi)
	a, err := f.start(t, auth.Everyone(), hello)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteTo(openai.NewChunks(&transcript{t: t}, false)); err != nil {
		t.Fatal(err)
	}
	o := a.Outcome()
	if o.Err != nil || o.Workspace != "first" || o.Searches != 1 || o.Rounds != 2 || a.AnsweredBy() != "first" {
		t.Errorf("outcome %+v, want an answer from first, with one search", o)
	}
	r := first.Requests()[0]
	if !strings.Contains(string(r.Chat), "Solaris") || r.Round != 1 || len(r.Carry) != 1 || r.Carry[0] != "" {
		t.Errorf("round %d of %s, carry %q; want what was found, and nothing of another plugin", r.Round, r.Chat, r.Carry)
	}
}

// TestFallbackForFormat has the provider fail in the round that puts an answer into its
// format: of the rounds before, the other plugin is given nothing in their places.
func TestFallbackForFormat(t *testing.T) {
	search := say(search(0, "c1", `{"indexUid":"books","q":"a"}`), "carry:of the search", "finish:tool_calls")
	f, first, _ := newFallback(t, search, say("text:Draft", "carry:of the draft", "finish:stop"), failing, hi)
	f.source.Is.FormatWithTools = "no"
	a, err := f.start(t, auth.Everyone(), strings.Replace(hello, "{", `{"response_format":{"type":"json_object"},`, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteTo(openai.NewChunks(&transcript{t: t}, false)); err != nil {
		t.Fatal(err)
	}
	if o := a.Outcome(); o.Err != nil || o.Workspace != "first" || o.Rounds != 3 {
		t.Errorf("outcome %+v, want an answer from first in three rounds", o)
	}
	r := first.Requests()[0]
	if none := []string{""}; !strings.Contains(string(r.Chat), "Draft") || !slices.Equal(r.Carry, none) || !slices.Equal(r.TextCarry, none) {
		t.Errorf("%s is asked with %q and %q, want one of each, and nothing of another plugin", r.Chat, r.Carry, r.TextCarry)
	}
}

// TestFallbackMidway has the provider's answer break off behind its beginning. As
// long as the client has no part of it, another workspace answers.
func TestFallbackMidway(t *testing.T) {
	cut := &outbound.Error{Kind: outbound.Broken, Message: "cut"}
	silent := &outbound.Error{Kind: outbound.Timeout, Message: "silent"}
	for _, tt := range []struct {
		name  string
		lines []string
		by    string
	}{
		{"a role", []string{"model:some-model"}, "first"},
		{"silence", []string{"model:some-model"}, "first"},
		{"silence behind a text", []string{"text:H"}, "demo"},
		{"reasoning", []string{"reasoning:hm"}, "first"},
		{"a search begun", []string{"tool:0:c1:searchInIndex"}, "first"},
		{"an error behind reasoning", []string{"reasoning:hm", `error:{"kind":"overloaded","message":"busy"}`}, "first"},
		{"a text", []string{"reasoning:hm", "text:H"}, "demo"},
		{"a refusal", []string{"refusal:No"}, "demo"},
		{"a call of the client's", []string{"tool:0:c1:mine"}, "demo"},
	} {
		for _, whole := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, whole %v", tt.name, whole), func(t *testing.T) {
				end := cut
				if strings.HasPrefix(tt.name, "silence") {
					end = silent
				}
				f, _, _ := newFallback(t, chattest.Script{Batches: [][]string{tt.lines}, End: end}, hi)
				a, err := f.start(t, auth.Everyone(), asked(`"tools":[{"type":"function","function":{"name":"mine"}}]`))
				if err != nil {
					t.Fatal(err)
				}
				completion := openai.NewCompletion()
				sink := chat.Sink(completion)
				if !whole {
					sink = openai.NewChunks(&transcript{t: t}, false)
				}
				if err := a.WriteTo(sink); err != nil {
					t.Fatal(err)
				}
				o := a.Outcome()
				if o.Workspace != tt.by || (o.Err == nil) != (tt.by == "first") {
					t.Errorf("outcome %+v, want it from %s", o, tt.by)
				}
				if body := string(completion.Body()); whole && o.Err == nil && (!strings.Contains(body, `"content":"Hi`) || strings.Contains(body, `"hm"`)) {
					t.Errorf("the whole answer is %s, want the second one alone", body)
				}
				if f.upstream.Open() != 0 {
					t.Error("a response was left open")
				}
			})
		}
	}
}

func TestFallbackRefused(t *testing.T) {
	f := newFixture(t)
	for body, want := range map[string]string{
		`{"fallback":"a"}`:               "an array of workspace uids or null",
		`{"fallback":["a","b","c","d"]}`: "more than 3",
		`{"fallback":["a b"]}`:           "`fallback[0]` is not a workspace uid",
		`{"fallback":["a","a"]}`:         "`fallback[1]`",
		`{"fallback":["demo"]}`:          "not this one",
	} {
		if _, _, err := f.Patch(t.Context(), "demo", []byte(body)); !apierr.Is(err, chaterr.InvalidChatFallback) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	if s, _ := f.patch(t, "demo", `{"fallback":["a"]}`); len(s.Fallback) != 1 {
		t.Errorf("fallback = %q", s.Fallback)
	}
	if s, _ := f.patch(t, "demo", `{"fallback":null}`); s.Fallback != nil {
		t.Errorf("fallback = %q", s.Fallback)
	}
}
