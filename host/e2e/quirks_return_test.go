package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestWhatProvidersSayGoesBack: what a provider says, in whatever form it has, is in the
// request that goes on from it: behind a search, with a client's call, and with the next
// question, whether the client or the host keeps the conversation. SAYINGS and SEED are as
// for [TestWhatProvidersSay].
func TestWhatProvidersSayGoesBack(t *testing.T) {
	t.Parallel()
	q, n, first := openRandom(t)
	const answer = "It is Alpha."
	for source, form := range saidForms {
		for seed := first; seed < first+uint64(n); seed++ {
			for way, goOn := range goingOn {
				name := fmt.Sprintf("%s-%s-%d", strings.ToLower(source), way, seed)
				said := func() *sayer {
					s := newSayer(seed)
					s.finish, s.text = "stop", "So "+s.text
					switch s.calls = nil; way {
					case "search":
						s.calls, s.finish = []saidCall{{"searchInIndex", `{"indexUid":"films","q":"rockets"}`}}, "tool_calls"
					case "call":
						s.calls, s.finish = []saidCall{{"f0", `{"q":"rockets"}`}}, "tool_calls"
					}
					return s
				}
				body := ""
				q.saying(name, source, func(asked) told {
					s := said()
					later := len(q.requests(name)) > 1
					if later {
						s.saidAnswer = saidAnswer{text: answer, finish: "stop"}
					}
					b, kind := form(s)
					if !later {
						body = b
					}
					return told{write: s.send(b, kind)}
				})
				goOn(q, name)
				all := q.requests(name)
				if len(all) != 2 {
					t.Errorf("%s: %d requests", name, len(all))
					continue
				}
				texts := strings.Join(textsIn(all[1]), "\x00")
				s := said()
				wanted := []string{s.text}
				switch source {
				case "gemini":
					if len(s.calls) > 0 {
						wanted = append(wanted, "U0lH") // thoughts are not wanted back, but their signature
					}
				case "anthropic", "bedrock":
					if s.thought != "" {
						wanted = append(wanted, s.thought, "U0lH")
					}
				default:
					wanted = append(wanted, s.thought)
				}
				if len(s.calls) > 0 {
					wanted = append(wanted, s.calls[0].name, "rockets")
				}
				for _, want := range wanted {
					if !strings.Contains(texts, want) {
						t.Errorf("%s: the second request has %+q\nwant %+q\nof %q", name, texts, want, body)
						return
					}
				}
			}
		}
	}
}

// goingOn are the ways in which a conversation goes on from an answer.
var goingOn = map[string]func(q *quirks, name string){
	"search": func(q *quirks, name string) { q.want(name, q.v1(name, ""), 200, "It is Alpha.") },
	"call": func(q *quirks, name string) {
		message := q.messageOf(name, "", askTools)
		var m struct {
			ToolCalls []struct{ ID string } `json:"tool_calls"`
		}
		if err := json.Unmarshal([]byte(message), &m); err != nil || len(m.ToolCalls) != 1 {
			q.T.Fatal(err, message)
		}
		q.messageOf(name, ","+message+`,{"role":"tool","tool_call_id":"`+m.ToolCalls[0].ID+`","content":"T"}`, askTools)
	},
	"chat": func(q *quirks, name string) {
		q.messageOf(name, ","+q.messageOf(name, "", `"n":1`)+`,{"role":"user","content":"q"}`, `"n":1`)
	},
	"response": func(q *quirks, name string) {
		var first struct{ ID string }
		if err := json.Unmarshal([]byte(q.Must("POST", "/v1/responses", `{"model":"`+name+`","input":"q"}`).Body), &first); err != nil {
			q.T.Fatal(err)
		}
		q.Must("POST", "/v1/responses", `{"model":"`+name+`","input":"q","previous_response_id":"`+first.ID+`"}`)
	},
}

// messageOf is the message that answers a question and more messages behind it.
func (q *quirks) messageOf(name, messages, more string) string {
	q.T.Helper()
	r := q.Must("POST", "/v1/chat/completions", `{"model":"`+name+`","messages":[{"role":"user","content":"q"}`+messages+`],`+more+`}`)
	var c struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal([]byte(r.Body), &c); err != nil {
		q.T.Fatal(err, r.Body)
	}
	return string(c.Choices[0].Message)
}

// textsIn are the texts of a request.
func textsIn(v any) (texts []string) {
	switch v := v.(type) {
	case asked:
		for _, member := range v {
			var value any
			_ = json.Unmarshal(member, &value)
			texts = append(texts, textsIn(value)...)
		}
	case map[string]any:
		for _, value := range v {
			texts = append(texts, textsIn(value)...)
		}
	case []any:
		for _, value := range v {
			texts = append(texts, textsIn(value)...)
		}
	case string:
		texts = append(texts, v)
	}
	return texts
}
