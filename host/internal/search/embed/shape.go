// Package embed gets vectors of texts from an HTTP API whose requests and
// answers somebody described by example.
package embed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/abi/answer"
)

// What stands in a description of requests where texts go.
const (
	textPlace     = "{{text}}"
	fragmentPlace = "{{fragment}}" // in the place of a text, for a JSON value
)

// A Shape is what an API's requests and answers look like. It never changes.
type Shape struct {
	request   *answer.Pattern
	response  *answer.Vectors
	fragments bool
}

// ParseShape reads a description of requests, with "{{text}}" or "{{fragment}}"
// in it, and of answers, with "{{embedding}}". An error goes on from "the request" or "the
// response".
func ParseShape(request, response json.RawMessage) (*Shape, error) {
	var s Shape
	var err error
	place := textPlace
	var whole any
	if json.Unmarshal(request, &whole) == nil && holds(whole, fragmentPlace) && !holds(whole, textPlace) {
		s.fragments, place = true, fragmentPlace
	}
	if s.request, err = answer.Parse(request, place); err != nil {
		return nil, fmt.Errorf("the request %w", err)
	}
	if s.response, err = answer.ParseVectors(response); err != nil {
		return nil, fmt.Errorf("the response %w", err)
	}
	if s.request.Many() != s.response.Many() {
		return nil, fmt.Errorf("the request and the response must both have %q, or neither: as many vectors come as texts are sent", answer.More)
	}
	return &s, nil
}

// holds reports whether text stands as a value in v.
func holds(v any, text string) bool {
	in := func(v any) bool { return holds(v, text) }
	switch v := v.(type) {
	case string:
		return v == text
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), in)
	case []any:
		return slices.ContainsFunc(v, in)
	}
	return false
}

// Many reports whether one request takes several texts.
func (s *Shape) Many() bool { return s.request.Many() }

// Fragments reports whether requests take JSON values in the place of texts.
func (s *Shape) Fragments() bool { return s.fragments }

// Body returns a request's body for texts, or fragments, which are JSON: one,
// unless [Shape.Many].
func (s *Shape) Body(texts []string) ([]byte, error) {
	values := make([]any, len(texts))
	for i, t := range texts {
		if values[i] = t; s.fragments {
			values[i] = json.RawMessage(t)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s.request.Fill(values)); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return b.Bytes(), nil
}

// Vectors reads n vectors, all of one length, out of an answer's body. An
// error goes on from "the answer" and repeats nothing of it.
func (s *Shape) Vectors(body []byte, n int) ([][]float32, error) { return s.response.Read(body, n) }
