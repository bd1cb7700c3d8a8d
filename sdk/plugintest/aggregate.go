package plugintest

import (
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// An Aggregate is what a client has at the end of a stream.
type Aggregate struct {
	Text         string     `json:"text"`
	Reasoning    string     `json:"reasoning"`
	Refusal      string     `json:"refusal"`
	ToolCalls    []ToolCall `json:"tool_calls"`
	FinishReason *string    `json:"finish_reason"`
	Usage        *Usage     `json:"usage"`
	Error        *Error     `json:"error"`

	// ResponseID, Model, Carry and Extra are what the other records held; Texts
	// counts the records of text.
	ResponseID string   `json:"-"`
	Model      string   `json:"-"`
	Carry      []byte   `json:"-"`
	Extra      []string `json:"-"`
	Texts      int      `json:"-"`
	// Broken lists what no stream may do: a record after the finish, a gap in
	// the indexes of tool calls, an id twice.
	Broken []string `json:"-"`
}

// A ToolCall is a call that the model asks for. Arguments is what their text
// holds as JSON, and the text where it is no JSON.
type ToolCall struct {
	ID        string `json:"-"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
	text      string
}

// Usage counts tokens.
type Usage struct {
	Prompt     uint64 `json:"prompt_tokens"`
	Completion uint64 `json:"completion_tokens"`
	Total      uint64 `json:"total_tokens"`
	Cached     uint64 `json:"-"`
	Reasoning  uint64 `json:"-"`
}

// An Error is a failure inside a stream.
type Error struct {
	Kind         string `json:"kind"`
	Message      string `json:"message"`
	ProviderCode string `json:"provider_code"`
}

// add takes the records of one call.
func (a *Aggregate) add(records []byte) error {
	for {
		r, rest, ok, err := abi.NextRecord(records)
		if err != nil || !ok {
			return err
		}
		if err := a.record(r); err != nil {
			return fmt.Errorf("read record of kind %d: %w", r.Kind, err)
		}
		records = rest
	}
}

func (a *Aggregate) record(r abi.Record) error {
	if a.Error != nil {
		a.broken("a record of kind %d after the error", r.Kind)
	}
	if a.FinishReason != nil && r.Kind <= abi.RecordFinish || a.FinishReason != nil && r.Kind == abi.RecordExtra {
		a.broken("a record of kind %d after the finish", r.Kind)
	}
	switch r.Kind {
	case abi.RecordText:
		a.Text += string(r.Payload)
		a.Texts++
	case abi.RecordReasoning:
		a.Reasoning += string(r.Payload)
	case abi.RecordRefusal:
		a.Refusal += string(r.Payload)
	case abi.RecordToolStart:
		return a.toolStart(r)
	case abi.RecordToolArguments:
		i, piece, err := r.ToolArguments()
		if err != nil {
			return err
		}
		if int(i) >= len(a.ToolCalls) {
			a.broken("arguments for tool call %d, which was not opened", i)
			return nil
		}
		c := &a.ToolCalls[i]
		c.text += string(piece)
		c.Arguments = nil
		if json.Unmarshal([]byte(c.text), &c.Arguments) != nil {
			c.Arguments = c.text
		}
	case abi.RecordFinish:
		reason := string(r.Payload)
		a.FinishReason = &reason
	case abi.RecordUsage:
		u, err := r.Usage()
		if err != nil {
			return err
		}
		a.Usage = &Usage{u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning}
	case abi.RecordError:
		a.Error = &Error{}
		return json.Unmarshal(r.Payload, a.Error)
	case abi.RecordResponse:
		id, model, err := r.Response()
		a.ResponseID, a.Model = string(id), string(model)
		return err
	case abi.RecordCarry:
		a.Carry = append(a.Carry, r.Payload...)
	case abi.RecordExtra:
		if !json.Valid(r.Payload) {
			a.broken("an extra that is not JSON: %q", r.Payload)
		}
		a.Extra = append(a.Extra, string(r.Payload))
	default:
		a.broken("a record of unknown kind %d", r.Kind)
	}
	return nil
}

func (a *Aggregate) toolStart(r abi.Record) error {
	i, id, name, err := r.ToolStart()
	if err != nil {
		return err
	}
	if int(i) != len(a.ToolCalls) {
		a.broken("tool call %d opened as number %d", i, len(a.ToolCalls))
	}
	if len(id) == 0 || len(name) == 0 {
		a.broken("tool call %d has id %q and name %q", i, id, name)
	}
	for _, c := range a.ToolCalls {
		if c.ID == string(id) {
			a.broken("tool call id %q twice", id)
		}
	}
	a.ToolCalls = append(a.ToolCalls, ToolCall{ID: string(id), Name: string(name), Arguments: ""})
	return nil
}

func (a *Aggregate) broken(format string, args ...any) {
	a.Broken = append(a.Broken, fmt.Sprintf(format, args...))
}
