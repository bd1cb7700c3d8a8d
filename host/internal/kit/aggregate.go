package kit

import (
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// An Aggregate is what a client has at the end of a stream. ToolCalls begins
// empty, not nil, so that it is a list in JSON.
type Aggregate struct {
	Text         string     `json:"text"`
	Reasoning    string     `json:"reasoning"`
	Refusal      string     `json:"refusal"`
	ToolCalls    []ToolCall `json:"tool_calls"`
	FinishReason *string    `json:"finish_reason"`
	Usage        *Usage     `json:"usage"`
	Error        *Failure   `json:"error"`
}

// A ToolCall is a call that the model asks for. Arguments is what their text
// holds as JSON, and the text itself where it is no JSON.
type ToolCall struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
	text      string
}

// Usage counts tokens.
type Usage struct {
	Prompt     uint64 `json:"prompt_tokens"`
	Completion uint64 `json:"completion_tokens"`
	Total      uint64 `json:"total_tokens"`
}

// A Failure is a provider's failure as its plugin sorted it.
type Failure struct {
	Status       int    `json:"status,omitempty"` // of the response; none inside a stream
	Kind         string `json:"kind"`
	Message      string `json:"message"`
	ProviderCode string `json:"provider_code,omitempty"`
	RetryAfterMS *int64 `json:"retry_after_ms"`
}

// NewFailure says e as a client sees it.
func NewFailure(e *abi.ProviderError) *Failure {
	f := &Failure{Kind: e.Kind, Message: e.Message, ProviderCode: e.ProviderCode}
	if e.RetryAfterMS > 0 {
		f.RetryAfterMS = &e.RetryAfterMS
	}
	return f
}

// Add takes the records of one decode call.
func (a *Aggregate) Add(records []byte) error {
	for {
		r, rest, ok, err := abi.NextRecord(records)
		if err != nil || !ok {
			return err
		}
		if err := a.Record(r); err != nil {
			return fmt.Errorf("record of kind %d: %w", r.Kind, err)
		}
		records = rest
	}
}

// Record takes one record.
func (a *Aggregate) Record(r abi.Record) error {
	switch r.Kind {
	case abi.RecordText:
		a.Text += string(r.Payload)
	case abi.RecordReasoning:
		a.Reasoning += string(r.Payload)
	case abi.RecordRefusal:
		a.Refusal += string(r.Payload)
	case abi.RecordToolStart:
		_, _, name, err := r.ToolStart()
		a.ToolCalls = append(a.ToolCalls, ToolCall{Name: string(name), Arguments: ""})
		return err
	case abi.RecordToolArguments:
		i, piece, err := r.ToolArguments()
		if err != nil {
			return err
		}
		if int(i) >= len(a.ToolCalls) {
			return fmt.Errorf("tool call %d was not opened: %w", i, abi.ErrMalformed)
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
		a.Usage = &Usage{u.Prompt, u.Completion, u.Total}
		return err
	case abi.RecordError:
		var e abi.ProviderError
		if err := json.Unmarshal(r.Payload, &e); err != nil {
			return err
		}
		a.Error = NewFailure(&e)
	}
	return nil
}
