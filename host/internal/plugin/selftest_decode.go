package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
)

// An answered response is an aggregate in the form that abi/README.md gives the
// output of a decode self-test: the arguments of calls as text, and the error as
// the payload of its record.
type answered struct {
	*response.Aggregate
	ToolCalls []answeredCall     `json:"tool_calls"`
	Error     *abi.ProviderError `json:"error"`
}

type answeredCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func newAnswered(a *response.Aggregate) *answered {
	w := &answered{Aggregate: a, ToolCalls: []answeredCall{}}
	for _, c := range a.ToolCalls {
		w.ToolCalls = append(w.ToolCalls, answeredCall{c.Name, c.Arguments})
	}
	if a.Error != nil {
		w.Error = &a.Error.ProviderError
	}
	return w
}

// decodeWhole has the events of input decoded, each in a call of its own, and
// then the end of the response, and adds up what comes of it.
func (s *session) decodeWhole(ctx context.Context, input []byte) (*answered, error) {
	var in struct {
		Events []struct{ Type, Data string }
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("its input holds no events: %w", err)
	}
	a := response.New()
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
		out, err := s.Decode(ctx, abi.AppendDecodeInput(nil, state, flags, events), nil)
		if err != nil {
			return nil, err
		}
		var records []byte
		state, records, _ = abi.DecodeOutput(out) // which Decode has checked
		if err := a.Add(records); err != nil {
			return nil, err
		}
	}
	return newAnswered(a), nil
}
