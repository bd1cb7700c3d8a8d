package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestReasoningRefused: a provider that refuses reasoning_content in messages is given it
// as reasoning, or not at all, and refuses once.
func TestReasoningRefused(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	for name, refused := range map[string][]string{"groq": {"reasoning_content"}, "strict": {"reasoning_content", "reasoning"}} {
		q.workspace(name, "openAi", "", func(a asked) told {
			for _, member := range refused {
				if strings.Contains(string(a["messages"]), `"`+member+`"`) {
					return refusal(400, "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property '"+member+"' is unsupported)]", "bad")
				}
			}
			return stream(piece(`{"content":"Alpha."}`), finish("stop"))
		})
		body := `{"model":"` + name + `","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","reasoning_content":"I thought."},{"role":"user","content":"q"}]}`
		for range 2 {
			q.want(name, q.Call("POST", "/v1/chat/completions", body), 200, "Alpha.")
		}
		all := q.requests(name)
		if len(all) != 2+len(refused) {
			t.Errorf("%s: %d requests for two answers", name, len(all))
		}
		if got := strings.Contains(string(all[len(all)-1]["messages"]), `"reasoning":"I thought."`); got != (name == "groq") {
			t.Errorf("%s: last request %s", name, all[len(all)-1]["messages"])
		}
	}
}

// TestPlainReasoningBack: what a provider reasoned in an answer without calls goes back
// with the next question in the form in which it came.
func TestPlainReasoningBack(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai", "mistral")
	for _, tt := range []struct{ name, source, first, second, want string }{
		{"content", "openAi", `{"reasoning_content":"R"}`, `{"content":"Hi"}`, `"reasoning_content":"R"`},
		{"short", "openAi", `{"reasoning":"R"}`, `{"content":"Hi"}`, `"reasoning":"R"`},
		{"details", "openAi", `{"reasoning_details":[{"type":"reasoning.encrypted","data":"D"}]}`, `{"content":"Hi"}`, `"reasoning_details":[{"type":"reasoning.encrypted","data":"D"}]`},
		{"tags", "openAi", `{"content":"<think>R</think>"}`, `{"content":"Hi"}`, `"content":"<think>R</think>Hi"`},
		{"parts", "mistral", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"R"}]}]}`, `{"content":"Hi"}`, `{"thinking":[{"type":"text","text":"R"}],"type":"thinking"}`},
	} {
		q.workspace(tt.name, tt.source, "", func(asked) told { return stream(piece(tt.first), piece(tt.second), finish("stop")) })
		var first struct{ ID string }
		if err := json.Unmarshal([]byte(q.Call("POST", "/v1/responses", `{"model":"`+tt.name+`","input":"q"}`).Body), &first); err != nil {
			t.Fatal(err)
		}
		q.want(tt.name, q.Call("POST", "/v1/responses", `{"model":"`+tt.name+`","input":"q","previous_response_id":"`+first.ID+`"}`), 200, "Hi")
		if all := q.requests(tt.name); len(all) != 2 || !strings.Contains(string(all[1]["messages"]), tt.want) {
			t.Errorf("%s: asked %s, want %s", tt.name, all, tt.want)
		}
	}
}

// TestAppendedMessagesBack: a client that keeps the messages of searches, as the function
// _meiliAppendConversationMessage gives it them, and sends them back, sends what the
// provider said in the form in which it came.
func TestAppendedMessagesBack(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	const search = `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"films\",\"q\":\"rockets\"}"},"extra_content":{"x":{"y":"Q"}}}]}`
	for _, tt := range []struct{ name, delta, want string }{
		{"acontent", `{"reasoning_content":"R"}`, `"reasoning_content":"R"`},
		{"ashort", `{"reasoning":"R","reasoning_details":[{"type":"reasoning.text","text":"R","signature":"S"}]}`, `"reasoning_details":[{"type":"reasoning.text","text":"R","signature":"S"}]`},
		{"aname", `{"reasoning":"R"}`, `"reasoning":"R"`},
		{"atags", `{"content":"<think>R</think>"}`, `"content":"<think>R</think>"`},
	} {
		q.workspace(tt.name, "openAi", `,"indexUids":["films"]`, func(a asked) told {
			if strings.Contains(string(a["messages"]), `"role":"tool"`) {
				return stream(piece(`{"content":"Alpha."}`), finish("stop"))
			}
			return stream(piece(tt.delta), piece(search), finish("tool_calls"))
		})
		ask := func(messages string) string {
			return q.Must("POST", "/chats/"+tt.name+"/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}`+messages+`],"tools":[{"type":"function","function":{"name":"_meiliAppendConversationMessage","parameters":{}}}]}`).Body
		}
		messages := ""
		for line := range strings.SplitSeq(ask(""), "\n") {
			var c struct {
				Choices []struct {
					Delta struct {
						ToolCalls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
					}
				}
			}
			if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &c) == nil && len(c.Choices) == 1 && len(c.Choices[0].Delta.ToolCalls) == 1 {
				messages += "," + c.Choices[0].Delta.ToolCalls[0].Function.Arguments
			}
		}
		ask(messages + `,{"role":"user","content":"q"}`)
		all := q.requests(tt.name)
		last := string(all[len(all)-1]["messages"])
		if !strings.Contains(last, tt.want) || !strings.Contains(last, `"extra_content":{"x":{"y":"Q"}}`) || strings.Contains(last, "parley.") {
			t.Errorf("%s: asked %.3000s, want %s", tt.name, last[max(0, len(last)-1500):], tt.want)
		}
	}
}
