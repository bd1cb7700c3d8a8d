// Package response says what a provider's response comes to: an [Aggregate] of
// the records that a plugin made of it, held to the rules of abi/README.md for a
// response as a whole; and a [Case], a response on file with what it must come
// to. Hosts, the SDK and the tools of authors share it.
package response

import (
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// An Aggregate is what a client has at the end of a response. As JSON it is
// {text, reasoning, refusal, tool_calls, finish_reason, usage, error}, with null
// where nothing came of the last three.
type Aggregate struct {
	Text         string     `json:"text"`
	Reasoning    string     `json:"reasoning"`
	Refusal      string     `json:"refusal"`
	ToolCalls    []ToolCall `json:"tool_calls"`
	FinishReason *string    `json:"finish_reason"`
	Usage        *abi.Usage `json:"usage"`
	Error        *Failure   `json:"error"`
	// Again asks for another request of the round in place of an end.
	Again *abi.Again `json:"again,omitempty"`

	ID    string   `json:"-"` // the provider's, of the response
	Model string   `json:"-"`
	Carry []byte   `json:"-"`
	Extra []string `json:"-"`
	Said  Said     `json:"-"` // for the message that goes back
	// Outer are the objects of the outer records, in order.
	Outer []string `json:"-"`
	// Counted is the object of what else the last usage counts that has one.
	Counted string `json:"-"`

	// Broken lists the rules that the records broke, in words.
	Broken []string `json:"-"`

	opened bool // the last record opened a call
}

// New returns the aggregate of a response of which nothing has come.
func New() *Aggregate { return &Aggregate{ToolCalls: []ToolCall{}} }

// A ToolCall is a call that the model asks for. As JSON it is {name, arguments},
// arguments being the value that their text holds, and the text itself where it
// is not JSON: a model may write anything.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string          // their text
	Members   json.RawMessage // an object of what it has beside these; nil: nothing
}

// Message is the assistant's message of the response, as the next request has it.
func (a *Aggregate) Message() []byte {
	return AppendMessage(nil, []byte(a.Text), &a.Said, a.ToolCalls)
}

// MarshalJSON implements [json.Marshaler].
func (c ToolCall) MarshalJSON() ([]byte, error) {
	var arguments any
	if json.Unmarshal([]byte(c.Arguments), &arguments) != nil {
		arguments = c.Arguments
	}
	return json.Marshal(struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	}{c.Name, arguments})
}

// A Failure is a provider's failure as its plugin sorted it, with null for the
// time to wait where none was said.
type Failure struct {
	Status int `json:"status,omitempty"` // of the response; none inside a stream
	abi.ProviderError
	RetryAfterMS *int64 `json:"retry_after_ms"`
}

// NewFailure returns e as a client sees it, of a response with a status, or
// with none inside a stream.
func NewFailure(status int, e abi.ProviderError) *Failure {
	f := &Failure{Status: status, ProviderError: e}
	if e.RetryAfterMS > 0 {
		f.RetryAfterMS = &e.RetryAfterMS
	}
	return f
}

// Add takes the records of one decode call. The error is of records that cannot
// be read; rules that they break are added to a.Broken.
func (a *Aggregate) Add(records []byte) error {
	for {
		r, rest, ok, err := abi.NextRecord(records)
		if err != nil || !ok {
			return err
		}
		if a.Again != nil && r.Kind != abi.RecordCarry {
			records = rest // a host takes nothing else behind an again
			continue
		}
		a.check(r, records[1:4])
		if err := a.record(r); err != nil {
			return fmt.Errorf("record of kind %d: %w", r.Kind, err)
		}
		records = rest
	}
}

func (a *Aggregate) record(r abi.Record) error {
	behind := a.opened
	a.opened = r.Kind == abi.RecordToolStart
	switch r.Kind {
	case abi.RecordText:
		a.Text += string(r.Payload)
	case abi.RecordReasoning:
		a.Reasoning += string(r.Payload)
		a.Said.Add(r)
	case abi.RecordRefusal:
		a.Refusal += string(r.Payload)
		a.Said.Add(r)
	case abi.RecordToolStart:
		i, id, name, err := r.ToolStart()
		if err != nil {
			return err
		}
		a.checkToolStart(i, string(id), string(name))
		a.ToolCalls = append(a.ToolCalls, ToolCall{ID: string(id), Name: string(name)})
	case abi.RecordToolArguments:
		i, piece, err := r.ToolArguments()
		if err != nil {
			return err
		}
		if int(i) >= len(a.ToolCalls) {
			return fmt.Errorf("tool call %d was not opened: %w", i, abi.ErrMalformed)
		}
		a.ToolCalls[i].Arguments += string(piece)
	case abi.RecordFinish:
		reason := string(r.Payload)
		a.FinishReason = &reason
	case abi.RecordUsage:
		u, members, err := r.Usage()
		if a.Usage = &u; len(members) > 0 {
			a.Counted = string(members)
		}
		return err
	case abi.RecordError:
		var e abi.ProviderError
		if err := json.Unmarshal(r.Payload, &e); err != nil {
			return err
		}
		a.Error = NewFailure(0, e)
	case abi.RecordResponse:
		id, model, err := r.Response()
		a.ID, a.Model = string(id), string(model)
		return err
	case abi.RecordCarry:
		a.Carry = append(a.Carry, r.Payload...)
	case abi.RecordExtra:
		a.Extra = append(a.Extra, string(r.Payload))
		a.extra(r, behind)
	case abi.RecordOuter:
		a.Outer = append(a.Outer, string(r.Payload))
	case abi.RecordAgain:
		again, err := r.Again()
		a.Again = &again
		return err
	}
	return nil
}

// extra takes members of a call, or of the message.
func (a *Aggregate) extra(r abi.Record, behindStart bool) {
	index, members, ok := CallMembers(r.Payload)
	if index < 0 && behindStart {
		index = len(a.ToolCalls) - 1
	}
	switch {
	case !ok:
		a.Said.Add(r)
	case index < 0 || index >= len(a.ToolCalls):
		a.broken("an extra record holds %.100q, and there is no such call", r.Payload)
	default:
		c := &a.ToolCalls[index]
		c.Members = JoinMembers(c.Members, members)
	}
}
