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

// TestPlainCarryBack: what a provider says of an answer without calls, and a chat has no
// place for, goes back with the message of a client that keeps its conversations itself.
func TestPlainCarryBack(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai", "ollama", "gemini")
	q.workspace("ptags", "openAi", "", func(asked) told {
		return stream(piece(`{"content":"<think>R</think>"}`), piece(`{"content":"Hi"}`), finish("stop"))
	})
	q.workspace("pshort", "openAi", "", func(asked) told { return stream(piece(`{"reasoning":"R"}`), piece(`{"content":"Hi"}`), finish("stop")) })
	q.workspace("pollama", "ollama", "", func(asked) told {
		return lines(`{"model":"m","message":{"role":"assistant","content":"<think>R</think>Hi"},"done":false}`, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`)
	})
	q.workspace("pgemini", "gemini", "", func(asked) told {
		return told{body: `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi","thoughtSignature":"U0lH"}]},"finishReason":"STOP"}],"modelVersion":"m","responseId":"r"}` + "\n\n"}
	})
	for name, want := range map[string]string{
		"ptags": `"content":"<think>R</think>Hi"`, "pshort": `"reasoning":"R"`, "pollama": `"content":"<think>R</think>Hi"`, "pgemini": `{"text":"Hi","thoughtSignature":"U0lH"}`,
	} {
		for path, model := range map[string]string{"/v1/chat/completions": name, "/chats/" + name + "/chat/completions": "m"} {
			ask := func(messages string) string {
				return q.Must("POST", path, `{"model":"`+model+`","stream":true,"messages":[{"role":"user","content":"q"}`+messages+`]}`).Body
			}
			message := joinDeltas(t, ask(""))
			ask("," + message + `,{"role":"user","content":"q"}`)
			all := q.requests(name)
			last := string(all[len(all)-1]["messages"]) + string(all[len(all)-1]["contents"])
			if !strings.Contains(last, want) || strings.Contains(last, "parley.") {
				t.Errorf("%s by %s: asked %s, want %s", name, path, last, want)
			}
		}
	}
}

// joinDeltas puts the message together that the deltas of a stream come to.
func joinDeltas(t *testing.T, body string) string {
	t.Helper()
	message := map[string]any{"role": "assistant"}
	for line := range strings.SplitSeq(body, "\n") {
		var c struct {
			Choices []struct{ Delta map[string]any }
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &c) != nil || len(c.Choices) == 0 {
			continue
		}
		for name, v := range c.Choices[0].Delta {
			text, isText := v.(string)
			before, _ := message[name].(string)
			if isText && name != "role" {
				v = before + text
			}
			message[name] = v
		}
	}
	b, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestResentItemsBack: a client of /v1/responses that sends back the items that it got,
// whole and without the id of their response, sends what was kept with them.
func TestResentItemsBack(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	q.workspace("resent", "openAi", "", func(a asked) told {
		if strings.Contains(string(a["messages"]), `"role":"tool"`) {
			return stream(piece(`{"content":"<think>T</think>Rain."}`), finish("stop"))
		}
		return stream(piece(`{"reasoning":"R"}`), piece(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"Q"}}}]}`), finish("tool_calls"))
	})
	input := `{"role":"user","content":"q"}`
	ask := func(more string) {
		t.Helper()
		input += more
		var r struct{ Output []json.RawMessage }
		if err := json.Unmarshal([]byte(q.Must("POST", "/v1/responses", `{"model":"resent","input":[`+input+`],"tools":[{"type":"function","name":"f","parameters":{}}]}`).Body), &r); err != nil {
			t.Fatal(err)
		}
		for _, item := range r.Output {
			input += "," + string(item)
		}
	}
	ask("")
	ask(`,{"type":"function_call_output","call_id":"c1","output":"wet"}`)
	ask(`,{"role":"user","content":"q"}`)
	all := q.requests("resent")
	for i, want := range map[int][]string{1: {`"thought_signature":"Q"`, `"reasoning":"R"`}, 2: {`"thought_signature":"Q"`, `"reasoning":"R"`, `"content":"<think>T</think>Rain."`}} {
		for _, w := range want {
			if got := string(all[i]["messages"]); !strings.Contains(got, w) {
				t.Errorf("request %d has %s, want %s", i, got, w)
			}
		}
	}
}
