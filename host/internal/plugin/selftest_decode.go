package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// A whole is what the records of a response come to: what the output of a
// decode self-test is held against.
type whole struct {
	Text         string             `json:"text"`
	Reasoning    string             `json:"reasoning"`
	Refusal      string             `json:"refusal"`
	ToolCalls    []wholeCall        `json:"tool_calls"`
	FinishReason *string            `json:"finish_reason"`
	Usage        *wholeUsage        `json:"usage"`
	Error        *abi.ProviderError `json:"error"`
}

type wholeCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // the JSON text, in one piece
}

type wholeUsage struct {
	Prompt     uint64 `json:"prompt_tokens"`
	Completion uint64 `json:"completion_tokens"`
	Total      uint64 `json:"total_tokens"`
}

// decodeWhole has the events of input decoded, each in a call of its own, and
// then the end of the response, and adds up what comes of it.
func (p *Provider) decodeWhole(ctx context.Context, input []byte) (*whole, error) {
	var in struct {
		Events []struct{ Type, Data string }
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("its input holds no events: %w", err)
	}
	w := &whole{ToolCalls: []wholeCall{}}
	var state []byte
	for n := range len(in.Events) + 1 {
		flags, events := byte(0), []abi.Event(nil)
		if n == 0 {
			flags = abi.FlagFirst
		}
		if n == len(in.Events) {
			flags |= abi.FlagLast
		} else {
			events = []abi.Event{{Type: in.Events[n].Type, Data: []byte(in.Events[n].Data)}}
		}
		out, err := p.Decode(ctx, abi.AppendDecodeInput(nil, state, flags, events), nil)
		if err != nil {
			return nil, err
		}
		var records []byte
		state, records, _ = abi.DecodeOutput(out) // which Decode has checked
		if err := w.add(records); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add takes up records, which are whole.
func (w *whole) add(records []byte) error {
	for {
		r, rest, ok, _ := abi.NextRecord(records)
		if !ok {
			return nil
		}
		records = rest
		if err := w.addOne(r); err != nil {
			return fmt.Errorf("record of kind %d: %w", r.Kind, err)
		}
	}
}

func (w *whole) addOne(r abi.Record) error {
	switch r.Kind {
	case abi.RecordText:
		w.Text += string(r.Payload)
	case abi.RecordReasoning:
		w.Reasoning += string(r.Payload)
	case abi.RecordRefusal:
		w.Refusal += string(r.Payload)
	case abi.RecordToolStart:
		_, _, name, err := r.ToolStart()
		w.ToolCalls = append(w.ToolCalls, wholeCall{Name: string(name)})
		return err
	case abi.RecordToolArguments:
		index, piece, err := r.ToolArguments()
		if err == nil && int(index) < len(w.ToolCalls) {
			w.ToolCalls[index].Arguments += string(piece)
		}
		return err
	case abi.RecordFinish:
		reason := string(r.Payload)
		w.FinishReason = &reason
	case abi.RecordUsage:
		u, err := r.Usage()
		w.Usage = &wholeUsage{u.Prompt, u.Completion, u.Total}
		return err
	case abi.RecordError:
		w.Error = &abi.ProviderError{}
		return json.Unmarshal(r.Payload, w.Error)
	}
	return nil
}
