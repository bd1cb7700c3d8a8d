package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRefusedParameters: a parameter that a provider refuses, and that can be asked for
// otherwise, is: once for each model.
func TestRefusedParameters(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "vllm")
	answer := stream(piece(`{"content":"Alpha."}`), finish("stop"))
	for _, tt := range []struct {
		name, refused, more string
		refusal             told
		sent                map[string]string
	}{
		{
			"limit", "max_tokens", `,"max_tokens":50`,
			refusal(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "unsupported_parameter"),
			map[string]string{"max_completion_tokens": "50"},
		},
		{
			"older", "max_completion_tokens", `,"max_completion_tokens":50`,
			refusal(422, "Extra inputs are not permitted: max_completion_tokens", ""),
			map[string]string{"max_tokens": "50"},
		},
		{"options", "stream_options", "", refusal(400, "Unrecognized request argument supplied: stream_options", ""), nil},
		{
			"pydantic", "stream_options", `,"stream_options":{"include_usage":true}`,
			told{status: 422, kind: "application/json", body: `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`},
			nil,
		},
	} {
		q.workspace(tt.name, "vLlm", "", func(a asked) told {
			if a.has(tt.refused) {
				return tt.refusal
			}
			return answer
		})
		for range 2 {
			q.want(tt.name, q.v1(tt.name, tt.more), 200, "Alpha.")
		}
		requests := q.requests(tt.name)
		if len(requests) != 3 {
			t.Errorf("%s: %d requests, want 3: the refusal is learnt from", tt.name, len(requests))
		}
		for name, want := range tt.sent {
			if got := string(requests[len(requests)-1][name]); got != want {
				t.Errorf("%s: %s is %s, want %s", tt.name, name, got, want)
			}
		}
	}
	// Where neither name is taken, the refusal is the answer.
	q.workspace("neither", "vLlm", "", func(a asked) told {
		for _, name := range []string{"max_tokens", "max_completion_tokens"} {
			if a.has(name) {
				return refusal(400, "Unrecognized request argument supplied: "+name, "")
			}
		}
		return answer
	})
	q.want("neither", q.v1("neither", `,"max_tokens":50`), 400, "Unrecognized")
}

// TestRefusedForOneClient: what one client sends and a provider refuses, in words that could be
// meant of the host's own asking, changes nothing for the next client.
func TestRefusedForOneClient(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "vllm")
	for name, message := range map[string]string{
		"max_tokens_to_sample": "Unrecognized request argument supplied: max_tokens_to_sample",
		"functions":            "'functions' is not supported with this model",
	} {
		q.workspace("shared", "vLlm", "", func(a asked) told {
			if a.has(name) {
				return refusal(400, message, "unsupported_parameter")
			}
			return stream(piece(`{"content":"Alpha."}`), finish("stop"))
		})
		q.want(name, q.v1("shared", `,"max_tokens":50,"`+name+`":[]`), 400, name)
		q.want("the next client", q.v1("shared", `,"max_tokens":50`), 200, "Alpha.")
		requests := q.requests("shared")
		if last := requests[len(requests)-1]; string(last["max_tokens"]) != "50" || !strings.Contains(string(last["tools"]), "searchInIndex") {
			t.Errorf("%s: the next client's request has max_tokens %s and tools %.60s, want 50 and the search", name, last["max_tokens"], last["tools"])
		}
	}
}

// TestTidiedMessages: what clients send and some providers refuse, though it says no
// more than what all take.
func TestTidiedMessages(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "vllm", "openai")
	for _, source := range []string{"vLlm", "openAi"} {
		q.workspace("tidy", source, "", func(asked) told { return stream(piece(`{"content":"Alpha."}`), finish("stop")) })
		r := q.Call("POST", "/v1/chat/completions", `{"model":"tidy","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},
			{"role":"assistant","content":"b","tool_calls":[]},{"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]},
			{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"T"}]}],"tools":[{"type":"function","function":{"name":"f"}}]}`)
		q.want(source, r, 200, "Alpha.")
		got := string(q.requests("tidy")[0]["messages"])
		for _, want := range []string{`"content":"Hi"`, `!"tool_calls":[]`, `"cache_control":{"type":"ephemeral"}`, `"arguments":"{}"`, `"content":"T"`} {
			if without, no := strings.CutPrefix(want, "!"); strings.Contains(got, without) == no {
				t.Errorf("%s: messages %s\nwant %s", source, got, want)
			}
		}
	}
}

// TestPlainAnswerGoesBack: what a provider said of an answer without calls is in the
// conversation that goes on from it, also that there was no reasoning.
func TestPlainAnswerGoesBack(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "vllm")
	for _, tt := range []struct{ name, first, want string }{
		{"reasoning", `{"reasoning_content":"R \"1\""}`, `"reasoning_content":"R \"1\""`},
		{"none", `{"role":"assistant","reasoning_content":""}`, `"reasoning_content":""`},
		{"details", `{"reasoning_details":[{"type":"reasoning.encrypted","data":"D"}]}`, `"reasoning_details":[{"type":"reasoning.encrypted","data":"D"}]`},
		{"other", `{"reasoning":"R"}`, `"reasoning":"R"`},
	} {
		q.workspace(tt.name, "vLlm", "", func(asked) told { return stream(piece(tt.first), piece(`{"content":"Alpha"}`), finish("stop")) })
		r := q.Call("POST", "/v1/responses", `{"model":"`+tt.name+`","input":"Hi"}`)
		q.want(tt.name, r, 200, "Alpha", "!encrypted_content\":\"")
		var first struct{ ID string }
		if err := json.Unmarshal([]byte(r.Body), &first); err != nil {
			t.Fatal(err)
		}
		q.want(tt.name, q.Call("POST", "/v1/responses", `{"model":"`+tt.name+`","input":"And?","previous_response_id":"`+first.ID+`"}`), 200, "Alpha")
		got := string(q.requests(tt.name)[1]["messages"])
		if without, no := strings.CutPrefix(tt.want, "!"); strings.Contains(got, without) == no {
			t.Errorf("%s: messages %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestReasoningThroughMessages: what a provider wants back with a client's call goes
// through Anthropic's API, too.
func TestReasoningThroughMessages(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "vllm")
	q.workspace("ant", "vLlm", "", func(a asked) told {
		if strings.Contains(string(a["messages"]), `"role":"tool"`) {
			return stream(piece(`{"content":"Alpha."}`), finish("stop"))
		}
		return stream(piece(`{"reasoning_content":"I should."}`), piece(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"x":"S"}}]}`), finish("tool_calls"))
	})
	const tools = `"max_tokens":1000,"tools":[{"name":"f","input_schema":{"type":"object"}}]`
	r := q.Call("POST", "/v1/messages", `{"model":"ant","messages":[{"role":"user","content":"Hi"}],`+tools+`}`)
	var first struct{ Content json.RawMessage }
	if err := json.Unmarshal([]byte(r.Body), &first); err != nil || r.Status != 200 {
		t.Fatal(r.Status, r.Body, err)
	}
	r = q.Call("POST", "/v1/messages", `{"model":"ant","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":`+string(first.Content)+`},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"T"}]}],`+tools+`}`)
	q.want("the second", r, 200, "Alpha.")
	got := string(q.requests("ant")[1]["messages"])
	for _, want := range []string{`"reasoning_content":"I should."`, `"extra_content":{"x":"S"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("messages %s\nwant %s", got, want)
		}
	}
}

// TestReasoningDemanded: a provider that wants reasoning_content with each message of the
// assistant, and refuses an empty one, is given what there is, or a blank, and refuses once.
func TestReasoningDemanded(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	q.workspace("deep", "openAi", "", func(a asked) told {
		var messages []struct {
			Role    string
			Thought string `json:"reasoning_content"`
		}
		if err := json.Unmarshal(a["messages"], &messages); err != nil {
			t.Error(err)
		}
		rounds := 0
		for _, m := range messages {
			switch {
			case m.Role == "tool":
				rounds++
			case m.Role == "assistant" && m.Thought == "":
				return refusal(400, "The `reasoning_content` in the thinking mode must be passed back to the API.", "invalid_request_error")
			}
		}
		if rounds == 0 {
			return stream(sought, finish("tool_calls")) // without a thought, as happens
		}
		return stream(piece(`{"reasoning_content":"R","content":"Alpha."}`), finish("stop"))
	})
	body := `{"model":"deep","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"q"},{"role":"assistant","content":"b","reasoning":"B"},{"role":"user","content":"q"}]}`
	for range 2 {
		q.want("deep", q.Call("POST", "/v1/chat/completions", body), 200, "Alpha.")
	}
	all := q.requests("deep")
	if len(all) != 5 {
		t.Errorf("%d requests for two answers of two rounds, want 5", len(all))
	}
	if last := string(all[len(all)-1]["messages"]); strings.Count(last, `"reasoning_content":" "`) != 2 || !strings.Contains(last, `"reasoning_content":"B"`) {
		t.Errorf("last request %s", last)
	}
}

// TestOneSystemMessage: a provider whose models take one system message, at the beginning,
// is given one, also where the last round asks for an answer, and refuses once.
func TestOneSystemMessage(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	q.workspace("one", "openAi", `,"maxRounds":2,"prompts":{"system":"Workspace."}`, func(a asked) told {
		var messages []struct{ Role string }
		if err := json.Unmarshal(a["messages"], &messages); err != nil {
			t.Error(err)
		}
		for i, m := range messages {
			if m.Role != "user" && m.Role != "assistant" && m.Role != "tool" && (i > 0 || m.Role != "system") {
				return refusal(400, "System message must be at the beginning.", "BadRequestError")
			}
		}
		if a.has("tools") {
			return stream(sought, finish("tool_calls"))
		}
		return stream(piece(`{"content":"Alpha."}`), finish("stop"))
	})
	body := `{"model":"one","messages":[{"role":"system","content":"Client."},{"role":"user","content":"q"},{"role":"developer","content":[{"type":"text","text":"Later."}]},{"role":"user","content":"q"}]}`
	for range 2 {
		q.want("one", q.Call("POST", "/v1/chat/completions", body), 200, "Alpha.")
	}
	all := q.requests("one")
	if len(all) != 5 {
		t.Errorf("%d requests for two answers of two rounds, want 5", len(all))
	}
	if last := string(all[len(all)-1]["messages"]); !strings.Contains(last, `Workspace.\n\nClient.\n\nLater.\n\nYou cannot search`) {
		t.Errorf("last request %s", last)
	}
}
