package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/plugintest"
)

// said puts a stream's blocks together again, as the API has them. thought says
// whether there is thinking among them.
func said(t *testing.T, body []byte) (blocks []any, thought bool) {
	t.Helper()
	byIndex := map[float64]dict{}
	for _, e := range plugintest.Frame(body) {
		var v dict
		if json.Unmarshal(e.Data, &v) != nil {
			continue
		}
		index, _ := v["index"].(float64)
		b := byIndex[index]
		switch delta := object(v["delta"]); v["type"] {
		case "content_block_start":
			if b = object(v["content_block"]); b == nil {
				continue
			}
			byIndex[index] = b
			b["json"] = ""
			if typ := b["type"]; typ == "text" || typ == "tool_use" || typ == "thinking" || typ == "redacted_thinking" {
				blocks = append(blocks, b)
			}
		case "content_block_delta":
			for from, to := range map[string]string{"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "json"} {
				if piece, ok := delta[from].(string); ok && b != nil {
					b[to] = text(b[to]) + piece
				}
			}
		}
	}
	kept := blocks[:0]
	for _, b := range blocks {
		b := object(b)
		switch b["type"] {
		case "text":
			if strings.TrimSpace(text(b["text"])) == "" {
				continue
			}
			delete(b, "citations")
		case "tool_use":
			if b["json"] != "" {
				var input any
				_ = json.Unmarshal([]byte(text(b["json"])), &input)
				b["input"] = input
			}
			delete(b, "caller")
		case "thinking":
			if text(b["signature"]) == "" {
				continue
			}
			thought = true
		case "redacted_thinking":
			thought = true
		}
		delete(b, "json")
		kept = append(kept, b)
	}
	return kept, thought
}

// chatAfter is the chat of the round after s: the host's message with the
// calls, and an answer to each.
func chatAfter(s *plugintest.Stream, model string) abi.RawJSON {
	calls, answers := []any{}, []any{}
	for _, c := range s.ToolCalls {
		calls = append(calls, dict{"id": c.ID, "type": "function", "function": dict{"name": c.Name, "arguments": c.Arguments}})
		answers = append(answers, dict{"role": "tool", "tool_call_id": c.ID, "content": "found"})
	}
	messages := append([]any{
		dict{"role": "user", "content": "an old question"},
		dict{"role": "assistant", "tool_calls": []any{dict{"id": "old", "type": "function", "function": dict{"name": "f", "arguments": "{}"}}}},
		dict{"role": "tool", "tool_call_id": "old", "content": "old"},
		dict{"role": "user", "content": "the question"},
		dict{"role": "assistant", "content": s.Text, "tool_calls": calls},
	}, answers...)
	b, _ := json.Marshal(dict{"model": model, "messages": messages, "reasoning_effort": "low", "tools": []any{dict{"type": "function", "function": dict{"name": "f"}}}})
	return b
}

// TestCarry holds what the next round says of the last one to what the API
// said: thinking with its signature, to the byte and in its place.
func TestCarry(t *testing.T) {
	cases, err := response.ReadCases("testdata")
	if err != nil {
		t.Fatal(err)
	}
	recorded, _ := plugintest.ReadCorpus("anthropic")
	d := plugintest.New(&anthropic{})
	tested := 0
	for _, c := range append(cases, recorded...) {
		if c.Kind != "stream" || strings.HasPrefix(string(c.Body), "{") {
			continue
		}
		want, thought := said(t, c.Body)
		s, err := d.Run(c.Body)
		if err != nil {
			t.Fatal(err)
		}
		if !thought || len(s.ToolCalls) == 0 || s.Error != nil {
			continue
		}
		tested++
		for _, model := range []string{"claude-sonnet-4-5", "claude-sonnet-4-6"} {
			r, err := d.Encode(abi.EncodeRequest{
				Chat: chatAfter(s, model), Round: 1, Carry: []string{base64.StdEncoding.EncodeToString(s.Carry)},
			})
			if err != nil {
				t.Fatal(err)
			}
			var body dict
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			if got := object(array(body["messages"])[3])["content"]; !reflect.DeepEqual(got, any(want)) {
				t.Errorf("%s: the next round says\n%v\nand the API said\n%v", c.Name, got, want)
			}
			// By budget the API wants the thinking first.
			first := strings.HasSuffix(text(object(want[0])["type"]), "thinking")
			if got, want := body["thinking"] != nil, first || model == "claude-sonnet-4-6"; got != want {
				t.Errorf("%s: the next round thinks with %s: %v, want %v", c.Name, model, got, want)
			}
			if problems := validate(r.Body); problems != nil {
				t.Errorf("%s: the next round is refused: %v", c.Name, problems)
			}
		}
	}
	if tested < 3 {
		t.Errorf("%d cases with thinking and calls, want some", tested)
	}
}

// TestCarryOfAnother gives a round a carry that is not its own, or none: the
// message is then made from the chat, and thinking by budget is off.
func TestCarryOfAnother(t *testing.T) {
	d := plugintest.New(&anthropic{})
	s, err := d.Run(stream(thinkingStart, thinkingDelta("a"), signatureDelta, blockStop, toolStart, blockStop))
	if err != nil {
		t.Fatal(err)
	}
	for name, carry := range map[string]string{
		"none": "", "not JSON": "!", "cut": string(s.Carry[:len(s.Carry)-1]), "of other calls": strings.Replace(string(s.Carry), "toolu_1", "toolu_9", 1),
		"of fewer calls": strings.Replace(string(s.Carry), `,{"type":"tool_use","id":"toolu_1"}`, "", 1),
		"not UTF-8":      string(s.Carry[:30]) + "\xff" + string(s.Carry[30:]),
	} {
		r, err := d.Encode(abi.EncodeRequest{Chat: chatAfter(s, "claude-sonnet-4-5"), Carry: []string{base64.StdEncoding.EncodeToString([]byte(carry))}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Body), "thinking") {
			t.Errorf("carry %s: the body has thinking in it: %s", name, r.Body)
		}
		if problems := validate(r.Body); problems != nil {
			t.Errorf("carry %s: refused: %v", name, problems)
		}
	}
}

// TestCarryTooLong stays under the contract's limit and gives up what is not
// whole.
func TestCarryTooLong(t *testing.T) {
	events := []string{thinkingStart}
	for range 300 {
		events = append(events, thinkingDelta(strings.Repeat("hm, ", 1024)))
	}
	s, err := plugintest.New(&anthropic{}).Run(stream(append(events, signatureDelta, blockStop, toolStart, blockStop)...))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Carry) > abi.MaxCarry || json.Valid(append([]byte{'['}, append(s.Carry, ']')...)) {
		t.Errorf("carry of %d bytes, want at most %d, and no JSON", len(s.Carry), abi.MaxCarry)
	}
	if len(s.Reasoning) != 300*4096 {
		t.Errorf("reasoning of %d bytes, want all %d", len(s.Reasoning), 300*4096)
	}
}

// TestCarryOutOfOrder gives up a carry whose place in the answer is not clear.
func TestCarryOutOfOrder(t *testing.T) {
	late := `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"late"}}`
	s, err := plugintest.New(&anthropic{}).Run(stream(thinkingStart, thinkingDelta("a"), signatureDelta, blockStop, late, toolStart, blockStop))
	if err != nil {
		t.Fatal(err)
	}
	if s.Text != "late" || json.Valid(append([]byte{'['}, append(s.Carry, ']')...)) {
		t.Errorf("text %q, carry %s; want the text, and no carry that is JSON", s.Text, s.Carry)
	}
}

// Events of a response.
const (
	thinkingStart  = `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
	signatureDelta = `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB=="}}`
	blockStop      = `{"type":"content_block_stop","index":0}`
	toolStart      = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}`
)

func thinkingDelta(text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":%q}}`, text)
}

// stream makes events a body that ends with calls.
func stream(events ...string) []byte {
	events = append(events, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`)
	return []byte("data: " + strings.Join(events, "\n\ndata: ") + "\n\n")
}
