package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-search/parley/abi"
)

// checkState runs a stream of many events.
func checkState(s *subject) (string, error) {
	steps, _, err := s.typical()
	if errors.Is(err, errNoText) {
		return skip(err.Error())
	}
	if err != nil {
		return "", err
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	o, largest := newOutcome(), 0
	for i := range 3000 {
		if _, err := o.feed(g, steps[i%len(steps)]); err != nil {
			return "", err
		}
		largest = max(largest, len(o.state))
		if o.ends() {
			o = newOutcome() // a reply is a whole stream
		}
	}
	if o.declared != "" {
		return "", fmt.Errorf("a stream of 3,000 events is answered with the declared error %s", quote(o.declared))
	}
	const advised = 4 << 10
	if largest > advised {
		return fmt.Sprintf("%d bytes at most: over the %d that it is advised to keep under", largest, advised), nil
	}
	return fmt.Sprintf("%d bytes at most", largest), nil
}

// ends reports whether the stream has come to a finish or an error.
func (o *outcome) ends() bool { return o.FinishReason != nil || o.Error != nil }

// errNoText is of a plugin that knows none of the streams which are tried.
var errNoText = errors.New("no stream came to text: --cases DIR gives responses of the API that the plugin is for")

// typical are decode calls to repeat: of the stream with most of them, those
// that make text and do not end it; of a plugin without requests, its reply.
func (s *subject) typical() (best []step, name string, err error) {
	streams, _, err := s.streams()
	if err != nil {
		return nil, "", err
	}
	g, err := s.fresh()
	if err != nil {
		return nil, "", err
	}
	for _, st := range streams {
		var steps []step
		o := newOutcome()
		for _, call := range st.steps() {
			before := len(o.Text)
			if _, err := o.feed(g, call); err != nil {
				return nil, "", err
			}
			if o.declared != "" || !st.whole && o.ends() {
				break
			}
			if len(o.Text) > before {
				steps = append(steps, call)
			}
		}
		if len(steps) > len(best) {
			best, name = steps, st.name
		}
	}
	if len(best) == 0 {
		return nil, "", errNoText
	}
	return best, name, nil
}

// checkMemory makes many calls, of which eight in ten decode.
func checkMemory(s *subject) (string, error) {
	steps, _, err := s.typical()
	if errors.Is(err, errNoText) {
		return skip(err.Error())
	}
	if err != nil {
		return "", err
	}
	return s.endurance([]string{abi.FuncDecode, abi.FuncEncode, abi.FuncError}, func(g *guest, n int) error { return s.repeat(g, steps, n) })
}

// endurance has one instance make many calls, n with each use of make, and
// watches the memory and the fuel of exports.
//
// Where a collector works the memory grows for a while, in Go for some 40,000
// calls, so a rise alone is no failure: it must come to an end.
func (s *subject) endurance(exports []string, make func(g *guest, n int) error) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	clear(s.fuel)
	part := max(cmp.Or(s.options.Calls, 10_000), 200) / 2
	n, still := 0, 0
	for before := g.p.Memory(); still < 2; before = g.p.Memory() {
		if err := make(g, part); err != nil {
			return "", fmt.Errorf("after %d calls: %w", n, err)
		}
		if n += part; g.p.Memory() == before {
			still++
		} else {
			still = 0
		}
		if n >= patience*part {
			return "", fmt.Errorf("%s after %d calls and still rising: it keeps what calls leave behind", size(g.p.Memory()), n)
		}
	}
	if end, limit := g.p.Memory(), g.p.MaxMemory(); end > limit/4*3 {
		return "", fmt.Errorf("%s after %d calls, of %s that it may have: a host replaces an instance over three quarters of its limit", size(end), n, size(limit))
	}
	detail := fmt.Sprintf("%s after %d calls", size(g.p.Memory()), n)
	for _, export := range exports {
		all := s.fuel[export]
		tenth := len(all) / 10
		early, late := sum(all[:tenth]), sum(all[len(all)-tenth:])
		if late > 2*early {
			return "", fmt.Errorf("the first %d calls of %s spent %s units of fuel and the last %s: calls become slower", tenth, export, count(early), count(late))
		}
	}
	return detail, nil
}

// patience is how many halves of [Options.Calls] the memory may go on rising.
const patience = 24

// repeat makes n calls, of which eight in ten decode.
func (s *subject) repeat(g *guest, steps []step, n int) (err error) {
	requests, failures := encodeInputs(s.manifest), errorInputs()
	for i := range n {
		switch {
		case i%10 == 8:
			_, err = g.call(abi.FuncEncode, requests[i/10%len(requests)])
		case i%10 == 9:
			_, err = g.call(abi.FuncError, failures[i/10%len(failures)])
		default:
			_, err = newOutcome().feed(g, steps[i%len(steps)])
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil
}

func sum(all []int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}

// quantile returns the smallest value that at least p of 100 are not over.
func quantile(all []int64, p int) int64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)*p+99)/100-1]
}
