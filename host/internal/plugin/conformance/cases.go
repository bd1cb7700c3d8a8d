package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/base/framing"
)

// streamOfCase is the body as the host would frame it. A body that breaks the
// rules of framing never reaches a plugin whole, and is no stream here.
func streamOfCase(c response.Case, cut string) (stream, error) {
	header := http.Header{}
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	st := stream{name: c.Name}
	f := framing.New(framing.Options{Framing: cut, ContentType: header.Get("content-type")})
	events, err := f.Feed(c.Body)
	st.add(events)
	if err == nil {
		events, err = f.End()
		st.add(events)
	}
	return st, err
}

// runCase gives a case to a guest and compares.
func runCase(c response.Case, g *guest, cut string) error {
	if c.Kind == response.KindList {
		return runListCase(c, g)
	}
	if c.Kind == response.KindError {
		request := c.ErrorRequest()
		r, err := g.call(abi.FuncError, input{"case " + c.Name, mustJSON(&request)})
		if err != nil {
			return err
		}
		if r.declared != nil {
			return fmt.Errorf("case %s is answered with %s", c.Name, r)
		}
		var e abi.ProviderError
		if err := json.Unmarshal(r.answer, &e); err != nil {
			return err
		}
		return differs(c, response.NewFailure(c.Status, e))
	}
	st, broken := streamOfCase(c, cut)
	o, _, err := st.run(g)
	switch {
	case broken != nil:
		return nil // the host ends it by itself
	case err != nil:
		return err
	case o.declared != "":
		return fmt.Errorf("case %s is answered with %s", c.Name, o)
	}
	if err := o.ended(c.Name); err != nil {
		return err
	}
	return differs(c, o.Aggregate)
}

// runListCase asks for the request of a list, and reads the case's response by it.
func runListCase(c response.Case, g *guest) error {
	r, err := g.call(abi.FuncEncode, input{"case " + c.Name, c.Input})
	if err != nil {
		return err
	}
	if r.declared != nil {
		return fmt.Errorf("case %s is answered with %s", c.Name, r)
	}
	var out abi.EncodeResponse
	if err := json.Unmarshal(r.answer, &out); err != nil {
		return err
	}
	got, err := c.Describe(out)
	if err != nil {
		return fmt.Errorf("case %s: %w", c.Name, err)
	}
	return differs(c, got)
}

// differs returns the first difference of got from what a case expects.
func differs(c response.Case, got any) error {
	if d := c.Compare(got); len(d) > 0 {
		return fmt.Errorf("case %s: %s", c.Name, d[0])
	}
	return nil
}
