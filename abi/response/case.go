package response

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
)

// The kinds of a [Case].
const (
	KindStream = "stream" // a response that decode is given
	KindError  = "error"  // one that is not a success, which error is given
	KindList   = "list"   // one that the host reads by the template of encode's answer
)

// A Case is a recorded or written response with what it must come to.
type Case struct {
	Name    string            `json:"-"`
	Kind    string            `json:"kind"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"response_headers"`
	// Input, of a list, is what encode is asked; of a stream with Back, what it is
	// asked beside the conversation.
	Input json.RawMessage `json:"input"`
	// Back, of a stream, are texts that the provider wants back: they must be in the
	// request that answers its calls, or that follows it.
	Back []string `json:"back"`
	// Expected has members of an [Aggregate], of a [Failure], or of a [Described].
	Expected json.RawMessage `json:"expected"`
	Body     []byte          `json:"-"`
	Request  []byte          `json:"-"` // the body of the request, where it was recorded
}

// ReadCases reads the *.case files of dir, in the order of their names. A folder
// without any is an error.
func ReadCases(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.case"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, file := range files {
		c, err := ReadCase(file)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("read cases: no *.case file in %s", dir)
	}
	return cases, nil
}

// ReadCase reads a case that is one file: a JSON object, a line of three dashes,
// and the body, to the byte.
func ReadCase(file string) (Case, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return Case{}, fmt.Errorf("read case: %w", err)
	}
	head, body, ok := bytes.Cut(b, []byte("\n---\n"))
	if !ok {
		return Case{}, fmt.Errorf("read case %s: no line of three dashes between what it is and the body", file)
	}
	c, err := NewCase(strings.TrimSuffix(filepath.Base(file), ".case"), head, body)
	if err != nil {
		err = fmt.Errorf("read case %s: %w", file, err)
	}
	return c, err
}

// NewCase returns a case of head, the JSON object that says what it is.
func NewCase(name string, head, body []byte) (Case, error) {
	c := Case{Name: name, Body: body, Status: http.StatusOK}
	if err := json.Unmarshal(head, &c); err != nil {
		return c, err
	}
	if c.Kind != KindStream && c.Kind != KindError && c.Kind != KindList {
		return c, fmt.Errorf("its kind is %q and must be %s, %s or %s", c.Kind, KindStream, KindError, KindList)
	}
	return c, nil
}

// A Described is a request that encode described with a template of its response,
// and what that reads.
type Described struct {
	abi.EncodeResponse
	*answer.List
}

// Describe is what the case comes to with out, which encode answered to its input.
func (c Case) Describe(out abi.EncodeResponse) (*Described, error) {
	var in abi.EncodeRequest
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fmt.Errorf("read the case's input: %w", err)
	}
	list, err := answer.Read(&in, out.Answer, c.Body)
	if err != nil {
		return nil, fmt.Errorf("the answer, or its template, %w", err)
	}
	out.Method = cmp.Or(out.Method, http.MethodPost)
	return &Described{out, list}, nil
}

// ErrorRequest is the case as the input of error.
func (c Case) ErrorRequest() abi.ErrorRequest {
	r := abi.ErrorRequest{Status: c.Status, Headers: map[string]string{}, Body: string(c.Body)}
	for name, value := range c.Headers {
		r.Headers[strings.ToLower(name)] = value
	}
	return r
}

// Compare says of each member that the case expects how that of got differs,
// an [Aggregate] or a [Failure].
func (c Case) Compare(got any) (differences []string) {
	b, err := json.Marshal(got)
	if err != nil {
		return []string{err.Error()}
	}
	var g, w map[string]any
	if err := errors.Join(json.Unmarshal(b, &g), json.Unmarshal(c.Expected, &w)); err != nil {
		return []string{fmt.Sprintf("read what is expected: %v", err)}
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if !matchesValue(g[name], w[name]) {
			got, _ := json.Marshal(g[name]) // both came from JSON
			want, _ := json.Marshal(w[name])
			differences = append(differences, fmt.Sprintf("%s is %.400s, want %.400s", name, got, want))
		}
	}
	return differences
}

// matchesValue compares two values of JSON. Of an object in got, only the members
// that want has count, and no text is an empty one.
func matchesValue(got, want any) bool {
	if want == nil && got == "" {
		return true
	}
	w, ok := want.(map[string]any)
	g, ok2 := got.(map[string]any)
	if !ok || !ok2 {
		return reflect.DeepEqual(got, want)
	}
	for name, value := range w {
		if !matchesValue(g[name], value) {
			return false
		}
	}
	return true
}
