package turns_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// walk writes each part on a line: > begins a turn.
func walk(messages string, r provider.Request) (string, error) {
	r.Chat = rawjson.Value(`{"messages":[` + messages + `]}`)
	var w turns.Walker
	var lines []string
	for w.Of(&r); w.Next(); {
		p := w.Part
		line := []string{"system", "text", "media", "call", "result"}[p.Kind]
		if p.Kind != turns.System {
			line = map[bool]string{true: "user ", false: "assistant "}[p.User] + line
		}
		if p.New {
			line = "> " + line
		}
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(line, " ", p.Text, " ", p.ID, " ", p.Name, " ", string(p.Value), " ", p.At, " ", string(p.Carried))), " "))
	}
	return strings.Join(lines, "\n"), w.Err()
}

func TestWalk(t *testing.T) {
	for name, tt := range map[string]struct {
		messages string
		carry    []string
		want     string
	}{
		"a talk": {
			`{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"user","content":"there"},{"role":"assistant","content":"Hello"},{"role":"developer","content":[{"type":"text","text":"Be kind."}]},{"role":"user","content":"q"}`,
			nil, "system Be brief.\n> user text Hi\nuser text there\n> assistant text Hello\nsystem Be kind.\n> user text q",
		},
		"calls, one without an answer, and arguments of all kinds": {
			`{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"g","arguments":"nonsense"}},{"id":"c","function":{"name":"h"}}]},{"role":"tool","tool_call_id":"b","content":"B"},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"A"}]},{"role":"user","content":"next"}`,
			[]string{"sig"},
			"> user text q\n> assistant call a f {\"x\":1} sig\nassistant call b g {}\nassistant call c h {}\n> user result B b g\nuser result A a f\nuser result c h\nuser text next",
		},
		"two calls of one id": {
			`{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":" "}`,
			nil, "> user text q\n> assistant call a f {}\nassistant call a g {}\n> user result 1 a f\nuser result a g",
		},
		"media":               {`{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url"}]}`, nil, "> user text Look\nuser media {\"type\":\"image_url\"} messages[0].content[1]"},
		"the assistant first": {`{"role":"assistant","content":"Hello","refusal":" no"}`, nil, "> user text .\n> assistant text Hello no"},
		"instructions alone":  {`{"role":"system","content":"Do."}`, nil, "system Do.\n> user text ."},
		"blank texts":         {`{"role":"system","content":" "},{"role":"user","content":"\n"},{"role":"assistant","content":""},{"role":"user","content":"q"}`, nil, "> user text q"},
		"calls at the end":    {`{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`, nil, "> user text q\n> assistant call a f {}\n> user result a f"},
		"nothing":             {``, nil, "> user text ."},
	} {
		var r provider.Request
		for _, c := range tt.carry {
			r.Carry = append(r.Carry, []byte(c))
		}
		if got, err := walk(tt.messages, r); err != nil || got != tt.want {
			t.Errorf("%s:\n%s\n%v, want\n%s", name, got, err, tt.want)
		}
	}
	for messages, want := range map[string]string{
		`{"role":"user","content":"q"},{"role":"tool","tool_call_id":"x","content":"1"}`: "`messages[1].tool_call_id` is that of no call",
		`{"role":"critic","content":"q"}`:                                                "`messages[0].role` is none",
	} {
		if _, err := walk(messages, provider.Request{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", messages, err, want)
		}
	}
}
