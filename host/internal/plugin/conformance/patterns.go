package conformance

import (
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/pattern"
)

// checkPatterns hands streams over as a host does that takes patterns, an event a
// call, and compares what they come to with the same without.
func checkPatterns(s *subject) (string, error) {
	streams, _, err := s.streams()
	if err != nil {
		return "", err
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	matched, all := 0, 0
	for _, st := range streams {
		want, _, err := st.run(g)
		if err != nil {
			return "", err
		}
		got, n, err := st.runByPatterns(g)
		if err != nil {
			return "", err
		}
		if got.String() != want.String() {
			return "", fmt.Errorf("%s comes to %s without patterns, and to %s with them", st.name, want, got)
		}
		matched, all = matched+n, all+len(st.events)
	}
	return fmt.Sprintf("%d of %d events", matched, all), nil
}

// runByPatterns is run with a host that takes patterns; matched is of how many
// events it made the records.
func (st stream) runByPatterns(g *guest) (o *outcome, matched int, err error) {
	o = newOutcome()
	var m pattern.Matcher
	for _, call := range st.steps() {
		records, rest := m.AppendRecords(nil, call.events)
		matched += len(call.events) - len(rest)
		if err := o.Add(records); err != nil {
			return o, matched, fmt.Errorf("%s: %w", call.name, err)
		}
		if len(call.events) > 0 && len(rest) == 0 && call.flags&abi.FlagLast == 0 {
			continue
		}
		call.events = m.BeginCall(rest)
		call.flags |= abi.FlagPatterns
		r, err := o.feed(g, call)
		if err != nil {
			return o, matched, err
		}
		if err := learn(&m, r); err != nil {
			return o, matched, fmt.Errorf("%s: its pattern: %w", call.name, err)
		}
	}
	return o, matched, nil
}

// learn takes the pattern among the records of a reply.
func learn(m *pattern.Matcher, r reply) error {
	if r.declared != nil || len(r.answer) == 0 {
		return nil
	}
	_, records, err := abi.DecodeOutput(r.answer)
	if err == nil {
		_, err = m.LearnFrom(records)
	}
	return err
}
