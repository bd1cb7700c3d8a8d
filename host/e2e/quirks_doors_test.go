package e2e

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/e2e/house"
)

// An askWay is a form of the API that answers questions.
type askWay struct {
	path    string // NAME stands for the workspace
	body    string // with tools f0 and f1
	streams bool   // there are no whole answers
	read    func(body string, streams bool) (saidAnswer, error)
}

func (d *askWay) ask(q *quirks, name string, streams bool) house.Reply {
	body := strings.ReplaceAll(d.body, "NAME", name)
	if streams {
		body = strings.Replace(body, "{", `{"stream":true,`, 1)
	}
	return q.Call("POST", strings.ReplaceAll(d.path, "NAME", name), body)
}

const (
	askTools    = `"tools":[{"type":"function","function":{"name":"f0","parameters":{"type":"object"}}},{"type":"function","function":{"name":"f1","parameters":{"type":"object"}}}]`
	askMessages = `"messages":[{"role":"user","content":"q"}]`
)

var askWays = []askWay{
	{"/v1/chat/completions", `{"model":"NAME",` + askMessages + `,` + askTools + `}`, false, readCompletion},
	{"/chats/NAME/chat/completions", `{"model":"m",` + askMessages + `,` + askTools + `}`, true, readCompletion},
	{"/v1/responses", `{"model":"NAME","input":"q","store":false,"tools":[{"type":"function","name":"f0","parameters":{"type":"object"}},{"type":"function","name":"f1","parameters":{"type":"object"}}]}`, false, readResponse},
	{"/v1/messages", `{"model":"NAME","max_tokens":999,` + askMessages + `,"tools":[{"name":"f0","input_schema":{"type":"object"}},{"name":"f1","input_schema":{"type":"object"}}]}`, false, readMessage},
	{"/chats/NAME/ui", `{"messages":[{"role":"user","parts":[{"type":"text","text":"q"}]}],` + askTools + `}`, true, readUI},
}

// frames calls f with the data of each event of a stream.
func frames(body string, f func(data []byte) error) error {
	for frame := range strings.SplitSeq(body, "\n\n") {
		for line := range strings.SplitSeq(frame, "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok && data != "[DONE]" {
				if err := f([]byte(data)); err != nil {
					return fmt.Errorf("%w: %.300s", err, data)
				}
			}
		}
	}
	return nil
}

type completionMessage struct {
	Content, ReasoningContent string
	ToolCalls                 []struct {
		Index    int
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *completionMessage) UnmarshalJSON(b []byte) error {
	type plain completionMessage
	v := struct {
		*plain
		Thought string `json:"reasoning_content"`
		Short   string `json:"reasoning"`
	}{plain: (*plain)(m)}
	err := json.Unmarshal(b, &v)
	m.ReasoningContent = v.Thought
	return err
}

func readCompletion(body string, streams bool) (a saidAnswer, err error) {
	take := func(m *completionMessage, finish string) {
		a.text += m.Content
		a.thought += m.ReasoningContent
		for i, c := range m.ToolCalls {
			if streams {
				i = c.Index
			}
			for i >= len(a.calls) {
				a.calls = append(a.calls, saidCall{})
			}
			a.calls[i].name += c.Function.Name
			a.calls[i].arguments += c.Function.Arguments
		}
		a.finish += finish
	}
	type choices struct {
		Choices []struct {
			Message, Delta completionMessage
			FinishReason   string `json:"finish_reason"`
		}
		Error json.RawMessage
	}
	if !streams {
		var c choices
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			return a, err
		}
		take(&c.Choices[0].Message, c.Choices[0].FinishReason)
		return a, nil
	}
	return a, frames(body, func(data []byte) error {
		var c choices
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
		if c.Error != nil {
			return fmt.Errorf("failed")
		}
		for i := range c.Choices {
			take(&c.Choices[i].Delta, c.Choices[i].FinishReason)
		}
		return nil
	})
}

type responseBody struct {
	Status            string
	IncompleteDetails *struct{ Reason string } `json:"incomplete_details"`
	Output            []struct {
		Type, Name, Arguments string
		Content               []struct{ Text string }
	}
}

func (r *responseBody) answer() (a saidAnswer) {
	a.finish = "stop"
	for _, it := range r.Output {
		for _, p := range it.Content {
			if it.Type == "reasoning" {
				a.thought += p.Text
			} else {
				a.text += p.Text
			}
		}
		if it.Type == "function_call" {
			a.calls = append(a.calls, saidCall{it.Name, it.Arguments})
			a.finish = "tool_calls"
		}
	}
	if r.IncompleteDetails != nil {
		a.finish = map[string]string{"max_output_tokens": "length"}[r.IncompleteDetails.Reason]
	}
	return a
}

// readResponse reads a response; of its events, those in pieces must come to the whole.
func readResponse(body string, streams bool) (saidAnswer, error) {
	var whole responseBody
	if !streams {
		err := json.Unmarshal([]byte(body), &whole)
		return whole.answer(), err
	}
	pieces := saidAnswer{}
	at := map[int]int{}
	err := frames(body, func(data []byte) error {
		var e struct {
			Type, Delta string
			OutputIndex int `json:"output_index"`
			Item        struct{ Type, Name string }
			Response    json.RawMessage
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		switch e.Type {
		case "response.output_text.delta":
			pieces.text += e.Delta
		case "response.reasoning_text.delta":
			pieces.thought += e.Delta
		case "response.output_item.added":
			if e.Item.Type == "function_call" {
				at[e.OutputIndex] = len(pieces.calls)
				pieces.calls = append(pieces.calls, saidCall{name: e.Item.Name})
			}
		case "response.function_call_arguments.delta":
			pieces.calls[at[e.OutputIndex]].arguments += e.Delta
		case "response.completed", "response.incomplete":
			return json.Unmarshal(e.Response, &whole)
		case "response.failed", "error":
			return fmt.Errorf("failed")
		}
		return nil
	})
	a := whole.answer()
	pieces.finish = a.finish
	if fmt.Sprint(pieces) != fmt.Sprint(a) && err == nil {
		err = fmt.Errorf("the pieces are %+q", pieces)
	}
	return a, err
}

var messageEnds = map[string]string{"end_turn": "stop", "max_tokens": "length", "tool_use": "tool_calls"}

func readMessage(body string, streams bool) (a saidAnswer, err error) {
	if !streams {
		var m struct {
			Content []struct {
				Type, Text, Thinking, Name string
				Input                      json.RawMessage
			}
			StopReason string `json:"stop_reason"`
		}
		err := json.Unmarshal([]byte(body), &m)
		for _, b := range m.Content {
			a.text += b.Text
			a.thought += b.Thinking
			if b.Type == "tool_use" {
				a.calls = append(a.calls, saidCall{b.Name, string(b.Input)})
			}
		}
		a.finish = messageEnds[m.StopReason]
		return a, err
	}
	return a, frames(body, func(data []byte) error {
		var e struct {
			Type         string
			ContentBlock struct{ Type, Name string } `json:"content_block"`
			Delta        struct {
				Text, Thinking string
				PartialJSON    string `json:"partial_json"`
				StopReason     string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		if e.Type == "error" {
			return fmt.Errorf("failed")
		}
		if e.ContentBlock.Type == "tool_use" {
			a.calls = append(a.calls, saidCall{name: e.ContentBlock.Name})
		}
		a.text += e.Delta.Text
		a.thought += e.Delta.Thinking
		if e.Delta.PartialJSON != "" {
			a.calls[len(a.calls)-1].arguments += e.Delta.PartialJSON
		}
		a.finish += messageEnds[e.Delta.StopReason]
		return nil
	})
}

func readUI(body string, _ bool) (a saidAnswer, err error) {
	return a, frames(body, func(data []byte) error {
		var e struct {
			Type, Delta, ToolName, FinishReason string
			Input                               json.RawMessage
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		switch e.Type {
		case "text-delta":
			a.text += e.Delta
		case "reasoning-delta":
			a.thought += e.Delta
		case "tool-input-available":
			a.calls = append(a.calls, saidCall{e.ToolName, string(e.Input)})
		case "finish":
			a.finish = map[string]string{"stop": "stop", "length": "length", "tool-calls": "tool_calls"}[e.FinishReason]
		case "error":
			return fmt.Errorf("failed")
		}
		return nil
	})
}
