package conformance

import "fmt"

// checkReset makes the calls of streams on an instance that is brought back to
// its beginning after each, as a host does between answers, and compares each
// reply with that of the stream alone.
func checkReset(s *subject) (string, error) {
	streams, _, err := s.streams()
	if err != nil {
		return "", err
	}
	alone, err := s.fresh()
	if err != nil {
		return "", err
	}
	var g *guest
	calls, grown := 0, 0
	begin := func() (err error) {
		if g, err = s.fresh(); err == nil {
			err = g.p.Freeze()
		}
		return err
	}
	if err := begin(); err != nil {
		return skip(fmt.Sprintf("%s: a host closes its instances between answers", err))
	}
	for _, st := range streams {
		_, want, err := st.run(alone)
		if err != nil {
			return "", err
		}
		o := newOutcome()
		for n, call := range st.steps() {
			r, err := o.feed(g, call)
			if err != nil {
				return "", err
			}
			if !r.equal(want[n]) {
				return "", fmt.Errorf("%s gave %s on an instance that goes on, and %s on one that was brought back", call.name, want[n], r)
			}
			calls++
			if g.p.Reset() {
				continue
			}
			grown++
			g.p.Close()
			if err := begin(); err != nil {
				return "", err
			}
		}
	}
	detail := fmt.Sprintf("%d calls, each after a reset", calls)
	if grown > 0 {
		detail += fmt.Sprintf("; %d grew the memory, after which a host starts a new instance", grown)
	}
	return detail, nil
}
