package conformance

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// encoded asks for the requests of all encode inputs, without the refused.
func (s *subject) encoded(g *guest) (all []abi.EncodeResponse, err error) {
	for _, in := range encodeInputs(s.manifest) {
		r, err := g.call(abi.FuncEncode, in)
		if err != nil {
			return nil, err
		}
		if r.declared != nil {
			continue
		}
		var e abi.EncodeResponse
		if err := json.Unmarshal(r.answer, &e); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// framing is what the plugin says of its responses.
func (s *subject) framing(g *guest) (string, error) {
	answers, err := s.encoded(g)
	if err != nil || len(answers) == 0 {
		return "", err
	}
	return answers[0].Framing, nil
}

// streams are those that the plugin is tried with: its cases and the responses of
// its self-test; and its own
// replies, where it sends no request, or whatever the APIs of this world send.
func (s *subject) streams() (all []stream, sends bool, err error) {
	g, err := s.fresh()
	if err != nil {
		return nil, false, err
	}
	answers, err := s.encoded(g)
	if err != nil {
		return nil, false, err
	}
	framing, replies := "", map[string]bool{}
	for _, e := range answers {
		switch {
		case e.Reply == nil:
			framing, sends = e.Framing, true
		case !replies[*e.Reply]:
			replies[*e.Reply] = true
			st := streamOf("a reply of its own", *e.Reply)
			st.whole = true
			all = append(all, st)
		}
	}
	for _, c := range s.options.Cases {
		if c.Kind == "stream" {
			// The events before a break in the framing are as good as others.
			st, _ := streamOfCase(c, framing)
			all = append(all, st)
		}
	}
	all = append(all, s.testedStreams()...)
	if sends {
		all = append(all, shapes()...)
	}
	return all, sends, nil
}

// testedStreams are the responses of the manifest's self-test.
func (s *subject) testedStreams() (all []stream) {
	for n, t := range s.manifest.SelfTest {
		var in struct {
			Events []struct{ Type, Data string }
		}
		if t.Call != abi.SelfTestDecode || json.Unmarshal(t.Input, &in) != nil {
			continue // the check of the self-test says what is wrong with it
		}
		st := stream{name: fmt.Sprintf("the self-test %q", cmp.Or(t.Name, fmt.Sprint("number ", n+1)))}
		for _, e := range in.Events {
			st.events = append(st.events, abi.Event{Type: e.Type, Data: []byte(e.Data)})
		}
		all = append(all, st)
	}
	return all
}

// checkDecode runs the streams, an event a call.
func checkDecode(s *subject) (string, error) {
	streams, sends, err := s.streams()
	if err != nil {
		return "", err
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	understood := map[string]bool{}
	for _, st := range streams {
		o, _, err := st.run(g)
		if err == nil {
			err = o.ended(st.name)
		}
		if err != nil {
			return "", err
		}
		if o.Text != "" || len(o.ToolCalls) > 0 {
			understood[st.name] = true
		}
	}
	if len(understood) == 0 && !sends {
		return "", errors.New("no reply of its own came to any text or tool call")
	}
	if len(understood) == 0 {
		// It may be right: its API may have a form that the kit does not know.
		return skip(fmt.Sprintf("%d streams came to their ends, and none to text or a tool call: give a response of the plugin's API, in a self-test of decode or by --cases DIR", len(streams)))
	}
	return fmt.Sprintf("%d streams, %d with text or calls", len(streams), len(understood)), nil
}

// checkEmptyResponse ends a response that had no event.
func checkEmptyResponse(s *subject) (string, error) {
	_, sends, err := s.streams()
	if err != nil {
		return "", err
	}
	if !sends {
		return skip("it sends no requests")
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	o, _, err := streamOf("a response without events").run(g)
	if err == nil {
		err = o.ended("a response without events")
	}
	if err != nil {
		return "", err
	}
	if o.FinishReason != nil {
		return "", fmt.Errorf("a response without events came to the finish %q", *o.FinishReason)
	}
	return "an error", nil
}
