package plugintest

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
)

// RunCases runs the *.case files of a folder.
func RunCases(t *testing.T, d *Driver, dir string) {
	t.Helper()
	cases, err := response.ReadCases(dir)
	if err != nil {
		t.Fatal(err)
	}
	runCases(t, d, cases)
}

// RunCorpus runs the recordings of a source, and skips where there are none.
func RunCorpus(t *testing.T, d *Driver, source string) {
	t.Helper()
	cases, err := ReadCorpus(source)
	if err != nil {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	runCases(t, d, cases)
}

func runCases(t *testing.T, d *Driver, cases []response.Case) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, problem := range d.Check(c) {
				t.Error(problem)
			}
		})
	}
}

// Check runs a case and returns what differs from what it must come to. A
// stream is run in every way in which a host may hand it over: an event a
// call, all events in one call, by patterns, in turns with another stream, cut
// into single bytes, and with each kind of line end.
func (d *Driver) Check(c response.Case) []string {
	if c.Kind == response.KindList {
		got, err := d.List(c)
		if err != nil {
			return []string{err.Error()}
		}
		return c.Compare(got)
	}
	if c.Kind == response.KindError {
		got, err := d.Fail(c)
		if err != nil {
			return []string{err.Error()}
		}
		return c.Compare(got)
	}
	s, err := d.Run(c.Body)
	if err != nil {
		return []string{err.Error()}
	}
	problems := append(c.Compare(s.Aggregate), s.Broken...)
	if len(c.Back) > 0 {
		problems = append(problems, d.checkBack(c, s)...)
	}
	for name, f := range map[string]func([]byte) (*Stream, error){
		"all events in one call": d.runTogether,
		"by patterns":            d.runByPatterns,
		"in turns":               d.runInTurns,
		"byte by byte":           d.runBytes,
		"CRLF":                   func(b []byte) (*Stream, error) { return d.Run(LineEnds(b, "\r\n")) },
		"CR":                     func(b []byte) (*Stream, error) { return d.Run(LineEnds(b, "\r")) },
	} {
		other, err := f(c.Body)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s: %v", name, err))
		case !reflect.DeepEqual(other.Aggregate, s.Aggregate):
			problems = append(problems, fmt.Sprintf("%s: got %+v, want %+v as with an event a call", name, other.Aggregate, s.Aggregate))
		}
	}
	return problems
}

// checkBack asks for the request that follows the stream of a case, and returns what
// it lacks.
func (d *Driver) checkBack(c response.Case, s *Stream) []string {
	in, err := s.NextRequest(c.Input)
	if err != nil {
		return []string{err.Error()}
	}
	out, err := d.Encode(*in)
	if err != nil {
		return []string{err.Error()}
	}
	return c.Lost(out.Body)
}

func (d *Driver) runTogether(body []byte) (*Stream, error) {
	s := d.Stream()
	return s, s.Decode(abi.FlagLast, Frame(body)...)
}

func (d *Driver) runByPatterns(body []byte) (*Stream, error) {
	s := d.patternStream()
	for _, e := range Frame(body) {
		if err := s.Decode(0, e); err != nil {
			return s, err
		}
	}
	return s, s.Decode(abi.FlagLast)
}

// runInTurns decodes the body twice at once, the second stream half a body
// behind, so that anything kept between calls shows.
func (d *Driver) runInTurns(body []byte) (*Stream, error) {
	events := Frame(body)
	a, b := d.Stream(), d.Stream()
	half := len(events) / 2
	for i := range len(events) + half {
		if i < len(events) {
			if err := a.Decode(0, events[i]); err != nil {
				return a, err
			}
		}
		if i >= half {
			if err := b.Decode(0, events[i-half]); err != nil {
				return b, err
			}
		}
	}
	if err := a.Decode(abi.FlagLast); err != nil {
		return a, err
	}
	err := b.Decode(abi.FlagLast)
	if err == nil && !reflect.DeepEqual(a.Aggregate, b.Aggregate) {
		err = fmt.Errorf("the stream behind came to %+v", b.Aggregate)
	}
	return a, err
}

func (d *Driver) runBytes(body []byte) (*Stream, error) {
	events := Frame(body)
	if first := bytes.TrimPrefix(body, []byte("\ufeff")); !isAWS(body) && len(first) > 0 && !bytes.ContainsRune([]byte("{[<"), rune(first[0])) {
		ends := make([]int, len(body))
		for i := range ends {
			ends[i] = i
		}
		events = Rechunk(body, ends...)
	}
	s := d.Stream()
	for _, e := range events {
		if err := s.Decode(0, e); err != nil {
			return s, err
		}
	}
	return s, s.Decode(abi.FlagLast)
}
