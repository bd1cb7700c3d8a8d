package response

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

var (
	finishes = []string{"stop", "length", "tool_calls", "content_filter"}
	// closing is what may follow a finish.
	closing = []abi.RecordKind{abi.RecordUsage, abi.RecordResponse, abi.RecordCarry, abi.RecordExtra, abi.RecordOuter}
)

func (a *Aggregate) broken(format string, args ...any) {
	a.Broken = append(a.Broken, fmt.Sprintf(format, args...))
}

// check holds a record to the rules before it is added. Reserved is what stands
// between its kind and its length.
func (a *Aggregate) check(r abi.Record, reserved []byte) {
	if r.Kind > abi.RecordAgain || r.Kind == abi.RecordPattern {
		return // of a later version: a host skips it; or not of the response
	}
	if !bytes.Equal(reserved, []byte{0, 0, 0}) {
		a.broken("a record of kind %d has %x behind its kind, where three zeros belong", r.Kind, reserved)
	}
	switch {
	case a.Error != nil:
		a.broken("a record of kind %d follows an error, which ends the response", r.Kind)
	case a.FinishReason != nil && r.Kind == abi.RecordError:
		a.broken("an error follows the finish: a response ends with one of them")
	case a.FinishReason != nil && !slices.Contains(closing, r.Kind):
		a.broken("a record of kind %d follows the finish, which comes once and after all text and calls", r.Kind)
	}
	a.checkPayload(r)
}

func (a *Aggregate) checkPayload(r abi.Record) {
	switch r.Kind {
	case 0:
		a.broken("there is no record of kind 0")
	case abi.RecordText, abi.RecordReasoning, abi.RecordRefusal:
		if !utf8.Valid(r.Payload) {
			a.broken("a record of kind %d holds %.100q, which is not UTF-8", r.Kind, r.Payload)
		}
	case abi.RecordFinish:
		if !slices.Contains(finishes, string(r.Payload)) {
			a.broken("the finish is %.100q and must be one of: %q", r.Payload, finishes)
		}
	case abi.RecordCarry:
		if len(a.Carry)+len(r.Payload) > abi.MaxCarry {
			a.broken("the carry records have more than %d bytes", abi.MaxCarry)
		}
	case abi.RecordExtra:
		var object map[string]json.RawMessage
		if err := json.Unmarshal(r.Payload, &object); err != nil || object == nil {
			a.broken("an extra record holds %.100q, which is not a JSON object", r.Payload)
		}
	case abi.RecordOuter:
		var parts map[string]map[string]json.RawMessage
		if err := json.Unmarshal(r.Payload, &parts); err != nil || parts == nil {
			a.broken("an outer record holds %.100q, which is not a JSON object of objects", r.Payload)
		}
	}
}

func (a *Aggregate) checkToolStart(index uint32, id, name string) {
	switch {
	case int(index) != len(a.ToolCalls):
		a.broken("tool call number %d was opened as %d", len(a.ToolCalls), index)
	case id == "" || name == "":
		a.broken("tool call %d has the id %q and the name %q, and needs both", index, id, name)
	case slices.ContainsFunc(a.ToolCalls, func(c ToolCall) bool { return c.ID == id }):
		a.broken("two tool calls have the id %q", id)
	}
}

// End holds the whole to the rules, once the response is over.
func (a *Aggregate) End() {
	if a.FinishReason == nil && a.Error == nil && a.Again == nil {
		a.broken("it ended with neither a finish nor an error")
	}
	if a.FinishReason == nil || *a.FinishReason != "tool_calls" {
		return // cut off: so may the arguments be
	}
	for i, c := range a.ToolCalls {
		// A model may write what is not JSON; it is not for the plugin to mend.
		if c.Arguments == "" {
			a.broken("tool call %d has no arguments: {} stands for none", i)
		}
	}
}
