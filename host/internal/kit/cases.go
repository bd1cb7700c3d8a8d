package kit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/upstream"
)

// A Case is a response and what a provider must make of it.
type Case struct {
	Name     string            `json:"-"`
	Kind     string            `json:"kind"` // stream or error
	Status   int               `json:"status"`
	Headers  map[string]string `json:"response_headers"`
	Expected json.RawMessage   `json:"expected"` // members of an [Aggregate], or of a [Failure]
	Body     []byte            `json:"-"`
}

// ReadCases reads the *.case files of dir: a JSON object, a line of three
// dashes, and the body to the byte. They are those of package plugintest of the
// SDK.
func ReadCases(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.case"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read case: %w", err)
		}
		head, body, ok := bytes.Cut(b, []byte("\n---\n"))
		if !ok {
			return nil, fmt.Errorf("read case %s: no line of three dashes between what it is and the body", file)
		}
		c := Case{Name: strings.TrimSuffix(filepath.Base(file), ".case"), Body: body, Status: http.StatusOK}
		if err := json.Unmarshal(head, &c); err != nil {
			return nil, fmt.Errorf("read case %s: %w", file, err)
		}
		if c.Kind != "stream" && c.Kind != "error" {
			return nil, fmt.Errorf("read case %s: its kind is %q and must be stream or error", file, c.Kind)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("read cases: no *.case file in %s", dir)
	}
	return cases, nil
}

// stream is the body as the host would frame it. A body that breaks the rules
// of framing never reaches a plugin whole, and is no stream here.
func (c Case) stream(framing string) (stream, error) {
	header := http.Header{}
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	st := stream{name: c.Name}
	f := upstream.NewFramer(upstream.FramerOptions{Framing: framing, ContentType: header.Get("content-type")})
	events, err := f.Feed(c.Body)
	st.add(events)
	if err == nil {
		events, err = f.End()
		st.add(events)
	}
	return st, err
}

// run gives the case to a guest and compares.
func (c Case) run(g *guest, framing string) error {
	if c.Kind == "error" {
		request := c.request()
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
		f := NewFailure(&e)
		f.Status = c.Status
		return c.differs(f)
	}
	st, broken := c.stream(framing)
	o, _, err := st.run(g)
	if broken != nil {
		return nil // the host ends it by itself
	}
	if err == nil && o.declared != "" {
		err = fmt.Errorf("case %s is answered with %s", c.Name, o)
	}
	return cmp.Or(err, o.ended(c.Name), c.differs(o.Aggregate))
}

// request is the case as an error request.
func (c Case) request() abi.ErrorRequest {
	r := abi.ErrorRequest{Status: c.Status, Headers: map[string]string{}, Body: string(c.Body)}
	for name, value := range c.Headers {
		r.Headers[strings.ToLower(name)] = value
	}
	return r
}

// differs says how got differs from the members that the case expects; nil
// where it does not.
func (c Case) differs(got any) error {
	b, err := json.Marshal(got)
	if err != nil {
		return err
	}
	var g, w map[string]any
	if err := errors.Join(json.Unmarshal(b, &g), json.Unmarshal(c.Expected, &w)); err != nil {
		return fmt.Errorf("case %s: read what is expected: %w", c.Name, err)
	}
	for name, want := range w {
		if !matches(g[name], want) {
			got, _ := json.Marshal(g[name]) // both came from JSON
			want, _ := json.Marshal(want)
			return fmt.Errorf("case %s: %s is %s, want %s", c.Name, name, quote(got), quote(want))
		}
	}
	return nil
}

// matches compares two values of JSON. Of an object in got, only the members
// that want has count, and no text is an empty one.
func matches(got, want any) bool {
	if want == nil && got == "" {
		return true
	}
	w, ok := want.(map[string]any)
	g, ok2 := got.(map[string]any)
	if !ok || !ok2 {
		return reflect.DeepEqual(got, want)
	}
	for name, value := range w {
		if !matches(g[name], value) {
			return false
		}
	}
	return true
}
