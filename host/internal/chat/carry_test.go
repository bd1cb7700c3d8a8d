package chat_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/chat"
)

// called is a message that makes calls, and the tools' answers to them.
func called(ids ...string) string {
	var calls, answers []string
	for _, id := range ids {
		calls = append(calls, `{"id":"`+id+`","type":"function","function":{"name":"f","arguments":"{}"}}`)
		answers = append(answers, `{"role":"tool","tool_call_id":"`+id+`","content":"x"}`)
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]},` + strings.Join(answers, ",")
}

// A plugin is given the carries of earlier answers for the messages that made their
// calls, whatever order they come in, and its own rounds' behind them.
func TestCarries(t *testing.T) {
	const model = "test 1.0.0 m"
	is := func(by, bytes string, calls ...string) chat.Carry {
		return chat.Carry{By: by, Calls: calls, Bytes: []byte(bytes)}
	}
	large := strings.Repeat("x", 3<<19)
	for name, tt := range map[string]struct {
		carries []chat.Carry
		want    []string
	}{
		"none":           {nil, nil},
		"of the last":    {[]chat.Carry{is(model, "three", "c3")}, []string{"three"}},
		"of the first":   {[]chat.Carry{is(model, "one", "c1")}, []string{"one", "", ""}},
		"in any order":   {[]chat.Carry{is(model, "three", "c3"), is(model, "two", "d2", "c2")}, []string{"two", "three"}},
		"of some calls":  {[]chat.Carry{is(model, "two", "c2")}, nil},
		"of no message":  {[]chat.Carry{is(model, "nine", "c9")}, nil},
		"of others":      {[]chat.Carry{is("test 1.0.0 other", "a", "c1"), is("test 0.9.0 m", "b", "c2", "d2"), is("other 1.0.0 m", "c", "c3")}, nil},
		"of nothing":     {[]chat.Carry{is(model, "", "c3")}, nil},
		"of too many":    {[]chat.Carry{is(model, large, "c1"), is(model, large, "c2", "d2"), is(model, "three", "c3")}, []string{large, "three"}},
		"what is larger": {[]chat.Carry{is(model, large, "c3"), is(model, large, "c2", "d2"), is(model, "one", "c1")}, []string{"one", "", large}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, say(search(0, "c", `{"indexUid":"movies","q":"Alien"}`), "carry:now", "finish:tool_calls"), say("text:x", "finish:stop"))
			f.carries = tt.carries
			f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"},`+called("c1")+`,`+called("c2", "d2")+`,`+called("c3")+`]}`)
			for round, want := range [][]string{tt.want, append(slices.Clone(tt.want), "now")} {
				var got []string
				for _, c := range f.source.Requests()[round].Carry {
					b, err := base64.StdEncoding.DecodeString(c)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, string(b))
				}
				if !slices.Equal(got, want) {
					t.Errorf("round %d is given %.60q, want %.60q", round, got, want)
				}
			}
		})
	}
}

// carries are what the rounds of an answer left.
type carries struct {
	chat.Discard
	all []chat.Carry
}

func (c *carries) EndRound(one *chat.Carry) { c.all = append(c.all, *one) }

// carried asks a question, and returns what the rounds of its answer left.
func carried(t *testing.T, f *fixture) []chat.Carry {
	t.Helper()
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(`{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"mine"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var c carries
	if err := a.WriteTo(&c); err != nil {
		t.Fatal(err)
	}
	return c.all
}

// What a round leaves is told with the client's calls, or with the text of one that calls
// nothing; a round that searched leaves nothing.
func TestCarried(t *testing.T) {
	f := newFixture(t,
		say(search(0, "c1", `{"indexUid":"movies","q":"Alien"}`), "carry:of a search", "finish:tool_calls"),
		say("tool:0:c2:mine\nargs:0:{}", "carry:mine", "finish:tool_calls"))
	told := carried(t, f)
	if len(told) != 2 || len(told[0].Bytes) > 0 || string(told[1].Bytes) != "mine" || !slices.Equal(told[1].Calls, []string{"c2"}) || told[1].By != "test 1.0.0 m" {
		t.Errorf("told %+v", told)
	}
	f = newFixture(t, say("text:Yes", "carry:plain", "finish:stop"))
	told = carried(t, f)
	if len(told) != 1 || string(told[0].Bytes) != "plain" || len(told[0].Texts) != 2 {
		t.Errorf("told %+v of an answer without calls", told)
	}
	f = newFixture(t, say(search(0, "c1", `{"indexUid":"movies","q":"Alien"}`), "tool:1:c2:mine\nargs:1:{}", "carry:of both", "finish:tool_calls"))
	told = carried(t, f)
	if len(told) != 1 || len(told[0].Bytes) > 0 {
		t.Errorf("told %+v of a round that also searched", told)
	}
}

// Of answers that said the same, each is given back its own.
func TestAlikeCarries(t *testing.T) {
	one := carried(t, newFixture(t, say("text:Yes", "carry:one", "finish:stop")))
	two := carried(t, newFixture(t, say("text:Yes", "carry:two", "finish:stop")))
	f := newFixture(t, say("text:x", "finish:stop"))
	f.carries = append(one, two...)
	f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"Yes"},{"role":"user","content":"q"},{"role":"assistant","content":"Yes"},{"role":"user","content":"q"}]}`)
	want := []string{base64.StdEncoding.EncodeToString([]byte("one")), base64.StdEncoding.EncodeToString([]byte("two"))}
	if r := f.source.Requests()[0]; !slices.Equal(r.TextCarry, want) {
		t.Errorf("the plugin is given %q, want %q", r.TextCarry, want)
	}
}

// What an answer without calls left is given back with its message, whose text tells it.
func TestTextCarries(t *testing.T) {
	f := newFixture(t, say("text:Yes", "carry:plain", "finish:stop"))
	left := carried(t, f)
	f = newFixture(t, say("text:x", "finish:stop"))
	f.carries = left
	f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"Yes"},{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"No"}]},`+called("c1")+`]}`)
	r := f.source.Requests()[0]
	if want := []string{base64.StdEncoding.EncodeToString([]byte("plain")), ""}; !slices.Equal(r.TextCarry, want) || len(r.Carry) > 0 {
		t.Errorf("the plugin is given %q and %q, want %q and none", r.TextCarry, r.Carry, want)
	}
}
