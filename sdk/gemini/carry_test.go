package gemini

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// decoded returns what a stream of events comes to.
func decoded(t *testing.T, events ...string) *plugintest.Stream {
	t.Helper()
	s, err := plugintest.New(&Provider{}).Run([]byte("data: " + strings.Join(events, "\n\ndata: ") + "\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Error != nil || len(s.Broken) > 0 {
		t.Fatalf("error %v, broken %v", s.Error, s.Broken)
	}
	return s
}

// said returns the messages that the host makes of a round, with an answer to
// each call.
func (r rounds) said(s *plugintest.Stream) (messages string) {
	m := map[string]any{"role": "assistant", "content": s.Text}
	var calls []any
	for _, c := range s.ToolCalls {
		calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	m["tool_calls"] = calls
	all := []any{m}
	for _, c := range s.ToolCalls {
		all = append(all, map[string]any{"role": "tool", "tool_call_id": c.ID, "content": "ok"})
	}
	b, err := json.Marshal(all)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b[1 : len(b)-1])
}

type rounds struct{ t *testing.T }

func event(parts string, more ...string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + strings.Join(more, "") + `}],"responseId":"r"}`
}

const stopped = `,"finishReason":"STOP"`

// contents returns those of a request for what was said in earlier rounds.
func (r rounds) contents(model string, streams ...*plugintest.Stream) []byte {
	messages, carry := `{"role":"user","content":"q"}`, []string{}
	for _, s := range streams {
		messages += "," + r.said(s)
		carry = append(carry, base64.StdEncoding.EncodeToString(s.Carry))
	}
	body := encodeChat(r.t, `{"model":"`+model+`","messages":[`+messages+`]}`, carry...).Body
	if broken := check(body, strings.Contains(model, "-3")); len(broken) > 0 {
		r.t.Errorf("%v in %s", broken, body)
	}
	var got struct{ Contents json.RawMessage }
	if err := json.Unmarshal(body, &got); err != nil {
		r.t.Fatal(err)
	}
	return got.Contents
}

// TestCarry: within an answer the model's parts come back as it gave them.
func TestCarry(t *testing.T) {
	const call1 = `{"functionCall":{"id":"n1","args":{"q":"a  b","z":1.0},"name":"f"},"thoughtSignature":"c2lnMQ=="}`
	const call2 = `{"functionCall":{"name":"f","args":{"q":"b"}}}`
	const call3 = `{"functionCall":{"name":"g"},"thoughtSignature":"c2lnMw=="}`
	const text = `{"text":"bü","thoughtSignature":"dGV4dA=="}`
	const thought = `{"text":"Hm.","thought":true,"thoughtSignature":"dGg="}`
	r := rounds{t}
	first := decoded(t, event(thought), event(`{"text":"a"}`), event(text), event(`{"text":"c"}`), event(call1), event(call2), event(`{"text":"","thoughtSignature":"ZW5k"}`, stopped))
	second := decoded(t, event(call3, stopped))
	got := r.contents("gemini-3.1-pro", first, second)
	same(t, "contents", got, `[{"role":"user","parts":[{"text":"q"}]},
		{"role":"model","parts":[`+thought+`,{"text":"a"},`+text+`,{"text":"c"},`+call1+`,`+call2+`,{"text":"","thoughtSignature":"ZW5k"}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f","id":"n1","response":{"output":"ok"}}},{"functionResponse":{"name":"f","response":{"output":"ok"}}}]},
		{"role":"model","parts":[`+call3+`]},
		{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"ok"}}}]}]`)
	if !strings.Contains(string(got), `"z":1.0`) {
		t.Errorf("the number 1.0 is written anew in %s", got)
	}
}

// TestCarryLost: a round that was too large to keep, or is not there, is made
// anew from its messages.
func TestCarryLost(t *testing.T) {
	huge := decoded(t, event(`{"functionCall":{"name":"f","args":{"q":"`+strings.Repeat("x", maxCarry)+`"}},"thoughtSignature":"c2ln"}`, stopped))
	if len(huge.Carry) > 0 {
		t.Errorf("%d bytes carried, want none", len(huge.Carry))
	}
	lost := decoded(t, event(`{"text":"a"},{"functionCall":{"name":"f","id":"n"},"thoughtSignature":"c2ln"}`, stopped))
	lost.Carry = []byte(`,{"at":0,"own":`) // cut
	got := rounds{t}.contents("gemini-3.1-pro", lost)
	same(t, "contents", got, `[{"role":"user","parts":[{"text":"q"}]},
		{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"f","id":"n","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f","id":"n","response":{"output":"ok"}}}]}]`)
}

// TestExtra: a client gets a call's signature where Google's own API has it.
func TestExtra(t *testing.T) {
	const want = `{"tool_calls":[{"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`
	for _, s := range []*plugintest.Stream{
		decoded(t, event(`{"functionCall":{"name":"f"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"g"}}`, stopped)),
		decoded(t, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]},"finish_reason":"stop"}]}`),
	} {
		if len(s.Extra) != 1 || s.Extra[0] != want {
			t.Errorf("extra %q, want one of %s", s.Extra, want)
		}
	}
}

// TestIDs: Gemini's own are kept, the others are made up, the same each time.
func TestIDs(t *testing.T) {
	body := event(`{"functionCall":{"name":"f","id":"n1"}},{"functionCall":{"name":"f"}},{"functionCall":{"name":"f","id":"n1"}},{"functionCall":{"name":"f"}}`, stopped)
	a, b := decoded(t, body), decoded(t, body)
	seen := map[string]bool{}
	for i, c := range a.ToolCalls {
		if own := strings.HasPrefix(c.ID, ownID); own != (i > 0) || seen[c.ID] || c.ID != b.ToolCalls[i].ID {
			t.Errorf("call %d has id %q, and %q in another run", i, c.ID, b.ToolCalls[i].ID)
		}
		seen[c.ID] = true
	}
}

// TestCompat: in the OpenAI-compatible form signatures come back in the calls.
func TestCompat(t *testing.T) {
	s := decoded(t, `{"id":"r","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]},"finish_reason":"stop"}]}`)
	compat := func(model, calls string) []byte {
		r, err := plugintest.New(&Provider{}).Encode(abi.EncodeRequest{
			Settings: abi.Settings{BaseURL: "http://h/v1beta/openai"},
			Chat:     abi.RawJSON(`{"model":"` + model + `","messages":[{"role":"assistant","tool_calls":[` + calls + `]},{"role":"developer","content":"s"}]}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		var body struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		same(t, "first message", body.Messages[0], `{"role":"system","content":"s"}`)
		return body.Messages[1]
	}
	const skip = `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`
	same(t, "what goes back", s.Message(), `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`)
	same(t, "from the client", compat("gemini-3-pro", `{"id":"a","extra_content":{"x":1}}`), `{"role":"assistant","tool_calls":[{"id":"a","extra_content":{"x":1}}]}`)
	same(t, "from nobody", compat("gemini-3-pro", `{"id":"b"},{"id":"c"}`), `{"role":"assistant","tool_calls":[{"id":"b",`+skip+`},{"id":"c"}]}`)
	same(t, "not needed", compat("gemini-2.5-pro", `{"id":"b"}`), `{"role":"assistant","tool_calls":[{"id":"b"}]}`)
}
