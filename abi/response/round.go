package response

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
)

// NextRequest is what encode is asked behind a response, as a host asks it: when its
// calls have been answered, or for the question after one without calls. of has all but
// the conversation, of whose chat the tools are kept, and may be empty.
func (a *Aggregate) NextRequest(of json.RawMessage) (*abi.EncodeRequest, error) {
	r := &abi.EncodeRequest{}
	if len(of) > 0 {
		if err := json.Unmarshal(of, r); err != nil {
			return nil, fmt.Errorf("read the input of encode: %w", err)
		}
	}
	messages := []json.RawMessage{json.RawMessage(`{"role":"user","content":"Question"}`), a.Message()}
	var given struct {
		Tools []any `json:"tools"`
	}
	if len(r.Chat) > 0 {
		if err := json.Unmarshal(r.Chat, &given); err != nil {
			return nil, fmt.Errorf("read the tools of encode's input: %w", err)
		}
	}
	tools := given.Tools
	for _, c := range a.ToolCalls {
		answer, err := json.Marshal(map[string]string{"role": "tool", "tool_call_id": c.ID, "content": "{}"})
		if err != nil {
			return nil, err
		}
		messages = append(messages, answer)
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": c.Name, "parameters": map[string]any{"type": "object", "properties": map[string]any{}}}})
	}
	model := a.Model
	if model == "" {
		model = "m"
	}
	carried := []string{base64.StdEncoding.EncodeToString(a.Carry)}
	if len(a.ToolCalls) > 0 {
		r.Round, r.Carry = 1, carried
	} else {
		r.Round, r.TextCarry = 0, carried
		messages = append(messages, json.RawMessage(`{"role":"user","content":"Question"}`))
	}
	body := map[string]any{"model": model, "messages": messages, "stream": true}
	if len(tools) > 0 {
		body["tools"] = tools
	}
	chat, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r.Chat = chat
	return r, nil
}

// Lost says of each text of c.Back that it is not in the body of a request: neither
// in a string of it nor in its bytes.
func (c Case) Lost(body []byte) (lost []string) {
	var v any
	_ = json.Unmarshal(body, &v) // what is no JSON has its bytes
	for _, text := range c.Back {
		if !strings.Contains(string(body), text) && !holds(v, text) {
			lost = append(lost, fmt.Sprintf("the next request does not have %.200q, which the provider wants back: %.1000s", text, body))
		}
	}
	return lost
}

// holds reports whether a string in v has text in it.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		for _, item := range v {
			if holds(item, text) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if holds(item, text) {
				return true
			}
		}
	}
	return false
}
