package conformance

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
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
	*response.Aggregate
	state    []byte
	declared string // why a call ended it by declaring an error
}

func newOutcome() *outcome { return &outcome{Aggregate: response.New()} }

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
	if err := o.Add(records); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return o.kept(name)
}

// kept returns the first rule that the stream broke.
func (o *outcome) kept(name string) error {
	if len(o.Broken) > 0 {
		return wrongStream(name, o.Broken[0])
	}
	return nil
}

// ended holds the whole to the rules, once the call with flag last is over.
func (o *outcome) ended(name string) error {
	if o.declared != "" {
		return nil
	}
	o.End()
	return o.kept(name)
}
