package conformance

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parley-search/parley/abi"
)

// purityChecks hold a provider to being a function of its input, and to taking
// in what later versions of the contract may add.
func purityChecks() []check {
	const keep = "Keep nothing between calls that an answer hangs on: what a stream needs goes into its state. No clock, no random numbers, no order of a hash map."
	return []check{
		{
			name: "determinism", about: "answers the same input with the same bytes, on any instance, as often as it is asked",
			remedy: keep, run: checkDeterminism,
		},
		{
			name: "statelessness", about: "decodes a stream alike whether others come between, and whichever instances its events go to",
			remedy: keep, run: checkStateless,
		},
		{
			name: "reset", about: "decodes a stream alike where its instance is brought back to its beginning after each call",
			remedy: keep, run: checkReset,
		},
		{
			name: "grouping", about: "makes the same of a stream whether its events come one a call or all at once",
			remedy: "Read every event of a call, in order, and treat flag last after them.", run: checkGrouping,
		},
		{
			name: "patterns", about: "makes of a stream the same where the host makes records by the patterns that it tells",
			remedy: "Tell of a pattern only where decode makes one piece of text of each of its events, and nothing else comes of them, now or later; ask for a report where the state depends on them.", run: checkPatterns,
		},
		{
			name: "later versions", about: "overlooks flags, bytes, members and event types that it does not know",
			remedy: "Test the flags that you know and no others, skip members and event types that you do not know, and ignore bytes behind what you read.", run: checkLater,
		},
		{
			name: "vectors", about: "reads the contract's inputs of decode, and declares an error for those that are malformed",
			remedy: "Check each length against the bytes that are left before you follow it; answer with declared error 1 where it is larger. The vectors lie in abi/testdata/vectors.", run: checkVectors,
		},
	}
}

// checkDeterminism makes each call twice on one instance and once on another.
func checkDeterminism(s *subject) (string, error) {
	streams, _, err := s.streams()
	if err != nil {
		return "", err
	}
	a, b, err := s.pair()
	if err != nil {
		return "", err
	}
	calls := 0
	for export, inputs := range map[string][]input{abi.FuncEncode: encodeInputs(s.manifest), abi.FuncError: errorInputs()} {
		for _, in := range inputs {
			calls++
			if _, err := same(export, in, a, a, b); err != nil {
				return "", err
			}
		}
	}
	for _, st := range streams {
		o := newOutcome()
		for _, call := range st.steps() {
			calls++
			in := o.input(call)
			r, err := same(abi.FuncDecode, in, a, a, b)
			if err != nil {
				return "", err
			}
			if err := o.take(in.name, r); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%d inputs, three times each", calls), nil
}

// checkStateless hands all streams over at once, an event of each in turn, to
// two instances in turn, and compares each reply with that of the stream alone.
func checkStateless(s *subject) (string, error) {
	streams, _, err := s.streams()
	if err != nil {
		return "", err
	}
	streams = append(streams, streams...) // one alone has no neighbour
	alone, err := s.fresh()
	if err != nil {
		return "", err
	}
	want := make([][]reply, len(streams))
	longest := 0
	for i, st := range streams {
		if _, want[i], err = st.run(alone); err != nil {
			return "", err
		}
		longest = max(longest, len(want[i]))
	}
	a, b, err := s.pair()
	if err != nil {
		return "", err
	}
	outcomes := make([]*outcome, len(streams))
	for i := range streams {
		outcomes[i] = newOutcome()
	}
	for n := range longest {
		for i, st := range streams {
			steps := st.steps()
			if n >= len(steps) {
				continue
			}
			r, err := outcomes[i].feed([]*guest{a, b}[(n+i)%2], steps[n])
			if err != nil {
				return "", err
			}
			if !r.equal(want[i][n]) {
				return "", fmt.Errorf("%s gave %s alone, and %s among other streams", steps[n].name, want[i][n], r)
			}
		}
	}
	return fmt.Sprintf("%d streams at once on two instances", len(streams)), nil
}

// checkGrouping hands streams over in one call.
func checkGrouping(s *subject) (string, error) {
	streams, _, err := s.streams()
	if err != nil {
		return "", err
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	for _, st := range streams {
		want, _, err := st.run(g)
		if err != nil {
			return "", err
		}
		got := newOutcome()
		if _, err := got.feed(g, step{st.name + " in one call", abi.FlagFirst | abi.FlagLast, st.events}); err != nil {
			return "", err
		}
		if got.String() != want.String() {
			return "", fmt.Errorf("%s comes to %s an event a call, and to %s in one call", st.name, want, got)
		}
	}
	return fmt.Sprintf("%d streams", len(streams)), nil
}

func (o *outcome) String() string {
	if o.declared != "" {
		return "the declared error " + quote(o.declared)
	}
	b, _ := json.Marshal(o.Aggregate) // it is made of what JSON has
	return string(b)
}

// checkLater makes calls with members that version 1 does not have, and wants the same answers.
func checkLater(s *subject) (string, error) {
	streams, _, err := s.streams()
	if err != nil {
		return "", err
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	st := streams[0]
	for _, more := range []struct {
		name   string
		change func(in []byte) []byte
	}{
		{"a flag of a later version", func(in []byte) []byte { in[4] |= 0x80; return in }},
		{"bytes behind the flags that are not 0", func(in []byte) []byte { in[5], in[7] = 1, 0xff; return in }},
		{"bytes behind the events", func(in []byte) []byte { return append(in, 1, 2, 3, 4, 5, 6, 7) }},
	} {
		in := input{st.name, abi.AppendDecodeInput(nil, nil, abi.FlagFirst|abi.FlagLast, st.events)}
		want, err := g.call(abi.FuncDecode, in)
		if err != nil {
			return "", err
		}
		got, err := g.call(abi.FuncDecode, input{more.name, more.change(slices.Clone(in.in))})
		if err != nil {
			return "", err
		}
		if !got.equal(want) {
			return "", fmt.Errorf("%s gave %s, and, with %s, %s", st.name, want, more.name, got)
		}
	}
	// A type that nobody knows must not end the stream badly.
	odd := stream{name: "events of a type of a later version"}
	for _, e := range st.events {
		odd.events = append(odd.events, abi.Event{Type: "x-new", Data: []byte(`{"type":"x-new","x_new":[1]}`)}, e)
	}
	if _, _, err := odd.run(g); err != nil {
		return "", err
	}
	return "3 additions and an event type", addedMembers(s, g)
}

// addedMembers adds members to what is JSON.
func addedMembers(s *subject, g *guest) error {
	for export, in := range map[string]input{abi.FuncEncode: question(s.manifest), abi.FuncError: errorInput(429, "{}")} {
		want, err := g.call(export, in)
		if err != nil {
			return err
		}
		with := slices.Concat([]byte(`{"x_new":{"a":[null,1.5,"}"]},`), in.in[1:len(in.in)-1], []byte(`,"x_last":"\u00e9"}`))
		got, err := g.call(export, input{in.name + " with new members", with})
		if err != nil {
			return err
		}
		if !got.equal(want) {
			return fmt.Errorf("%s of %s gave %s, and, with members that version 1 does not have, %s", export, in.name, want, got)
		}
	}
	return nil
}
