package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

// A stream is a response's events.
type stream struct {
	name   string
	events []abi.Event
	whole  bool // handed over in one call, as a plugin's own reply is
}

// A step is one decode call of a stream.
type step struct {
	name   string
	flags  byte
	events []abi.Event
}

// steps are the calls of a stream: an event each, and one for its end.
func (st stream) steps() []step {
	if st.whole {
		return []step{{st.name, abi.FlagFirst | abi.FlagLast, st.events}}
	}
	var all []step
	for i := range st.events {
		all = append(all, step{name: fmt.Sprintf("event %d of %s", i+1, st.name), events: st.events[i : i+1]})
	}
	all = append(all, step{name: "the end of " + st.name, flags: abi.FlagLast})
	all[0].flags |= abi.FlagFirst
	return all
}

// run hands a stream over and returns what it came to and each reply. Whether
// it came to an end is for [outcome.ended] to say.
func (st stream) run(g *guest) (*outcome, []reply, error) {
	o := newOutcome()
	var replies []reply
	for _, call := range st.steps() {
		r, err := o.feed(g, call)
		if err != nil {
			return o, replies, err
		}
		replies = append(replies, r)
	}
	return o, replies, nil
}

// add takes over events whose bytes are about to be used again.
func (st *stream) add(events []abi.Event) {
	for _, e := range events {
		st.events = append(st.events, abi.Event{Type: strings.Clone(e.Type), Data: bytes.Clone(e.Data)})
	}
}

// streamOf makes a stream whose events have data alone.
func streamOf(name string, data ...string) stream {
	st := stream{name: name}
	for _, d := range data {
		st.events = append(st.events, abi.Event{Data: []byte(d)})
	}
	return st
}

// An outcome is what a stream comes to, held to the rules for a response as a
// whole.
type outcome struct {
	Aggregate
	state    []byte
	ids      []string
	args     []string // of each call, the text
	carry    int
	declared string // why a call ended it by declaring an error
}

func newOutcome() *outcome { return &outcome{Aggregate: Aggregate{ToolCalls: []ToolCall{}}} }

var (
	finishes = []string{"stop", "length", "tool_calls", "content_filter"}
	// closing is what may follow a finish.
	closing = []abi.RecordKind{abi.RecordUsage, abi.RecordResponse, abi.RecordCarry, abi.RecordExtra, abi.RecordError}
)

// input is the call of a step, with the state that those before it left.
func (o *outcome) input(call step) input {
	return input{call.name, abi.AppendDecodeInput(nil, o.state, call.flags, call.events)}
}

// feed makes the call of a step with guest g.
func (o *outcome) feed(g *guest, call step) (reply, error) {
	r, err := g.call(abi.FuncDecode, o.input(call))
	if err != nil {
		return r, err
	}
	return r, o.take(call.name, r)
}

// take reads what a decode call replied.
func (o *outcome) take(name string, r reply) error {
	if o.declared != "" {
		return nil
	}
	if r.declared != nil {
		o.declared = r.declared.Message
		return nil
	}
	if len(r.answer) == 0 {
		o.state = nil
		return nil
	}
	state, records, err := abi.DecodeOutput(r.answer)
	if err != nil {
		return err
	}
	o.state = state
	for {
		rec, rest, ok, err := abi.NextRecord(records)
		if err != nil || !ok {
			return err
		}
		if err := o.hold(rec, records[1:4]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		records = rest
	}
}

// hold holds a record to the rules and adds it. Reserved is what stands
// between its kind and its length.
func (o *outcome) hold(r abi.Record, reserved []byte) error {
	if r.Kind > abi.RecordExtra {
		return nil // of a later version: a host skips it
	}
	if !bytes.Equal(reserved, []byte{0, 0, 0}) {
		return fmt.Errorf("a record of kind %d has %x behind its kind, where three zeros belong", r.Kind, reserved)
	}
	if o.Error != nil {
		return fmt.Errorf("a record of kind %d follows an error, which ends the response", r.Kind)
	}
	if o.FinishReason != nil && !slices.Contains(closing, r.Kind) {
		return fmt.Errorf("a record of kind %d follows the finish, which comes once and after all text and calls", r.Kind)
	}
	if err := o.Record(r); err != nil {
		return err
	}
	switch r.Kind {
	case 0:
		return fmt.Errorf("there is no record of kind 0")
	case abi.RecordText, abi.RecordReasoning, abi.RecordRefusal:
		if !utf8.Valid(r.Payload) {
			return fmt.Errorf("a record of kind %d holds %s, which is no UTF-8", r.Kind, quote(r.Payload))
		}
	case abi.RecordToolStart:
		return o.opened(r)
	case abi.RecordToolArguments:
		i, piece, _ := r.ToolArguments() // Add has read it
		o.args[i] += string(piece)
	case abi.RecordFinish:
		if !slices.Contains(finishes, *o.FinishReason) {
			return fmt.Errorf("the finish is %q and must be one of: %s", *o.FinishReason, strings.Join(finishes, ", "))
		}
	case abi.RecordError:
		if o.FinishReason != nil {
			return fmt.Errorf("an error follows the finish: a response ends with one of them")
		}
	case abi.RecordResponse:
		_, _, err := r.Response()
		return err
	case abi.RecordCarry:
		if o.carry += len(r.Payload); o.carry > abi.MaxCarry {
			return fmt.Errorf("the carry records have more than %d bytes", abi.MaxCarry)
		}
	case abi.RecordExtra:
		var object map[string]any
		if err := json.Unmarshal(r.Payload, &object); err != nil || object == nil {
			return fmt.Errorf("an extra record holds %s, which is no JSON object", quote(r.Payload))
		}
	}
	return nil
}

// opened holds the start of a tool call to the rules.
func (o *outcome) opened(r abi.Record) error {
	i, id, name, _ := r.ToolStart() // Add has read it
	switch {
	case int(i) != len(o.ids):
		return fmt.Errorf("tool call number %d was opened as %d", len(o.ids), i)
	case len(id) == 0 || len(name) == 0:
		return fmt.Errorf("tool call %d has the id %q and the name %q, and needs both", i, id, name)
	case slices.Contains(o.ids, string(id)):
		return fmt.Errorf("two tool calls have the id %q", id)
	}
	o.ids, o.args = append(o.ids, string(id)), append(o.args, "")
	return nil
}

// ended holds the whole to the rules, once the call with flag last is over.
func (o *outcome) ended(name string) error {
	if o.declared != "" {
		return nil
	}
	if o.FinishReason == nil && o.Error == nil {
		return fmt.Errorf("%s ended with neither a finish nor an error", name)
	}
	if o.FinishReason == nil || *o.FinishReason != "tool_calls" {
		return nil
	}
	for i, args := range o.args {
		// A model may write what is no JSON; it is not for the plugin to mend.
		if args == "" {
			return fmt.Errorf("%s: tool call %d has no arguments: {} stands for none", name, i)
		}
	}
	return nil
}
