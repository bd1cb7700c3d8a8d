// Package embed gets vectors of texts from an HTTP API whose requests and
// answers somebody described by example.
package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// What stands in a description where texts and vectors go. In an array,
// morePlace as its second element says that there may be as many of the first
// as there are texts.
const (
	textPlace      = "{{text}}"
	fragmentPlace  = "{{fragment}}" // in the place of a text, for a JSON value
	embeddingPlace = "{{embedding}}"
	morePlace      = "{{..}}"
)

// A Shape is what an API's requests and answers look like. It never changes.
type Shape struct {
	request, response pattern
	fragments         bool
}

// A pattern is a JSON value with a place in it.
type pattern struct {
	whole any
	// outer leads to the place or, where many is set, to the array of which
	// each element has one, by inner.
	outer, inner []any // keys and positions
	many         bool
	element      any // of that array
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
	if s.request, err = parsePattern(request, place); err != nil {
		return nil, fmt.Errorf("the request %w", err)
	}
	if s.response, err = parsePattern(response, embeddingPlace); err != nil {
		return nil, fmt.Errorf("the response %w", err)
	}
	if s.request.many != s.response.many {
		return nil, fmt.Errorf("the request and the response must both have %q, or neither: as many vectors come as texts are sent", morePlace)
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

func parsePattern(raw json.RawMessage, place string) (p pattern, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // numbers go out as they were written
	if err := dec.Decode(&p.whole); err != nil {
		return p, errors.New("is no JSON")
	}
	found := 0
	if err := p.find(p.whole, nil, place, &found); err != nil {
		return p, err
	}
	if found != 1 {
		return p, fmt.Errorf("must have %q once as a value in it, but has it %d times", place, found)
	}
	return p, nil
}

// find looks for place in v, which stands at path.
func (p *pattern) find(v any, path []any, place string, found *int) error {
	switch v := v.(type) {
	case string:
		switch v {
		case place:
			*found++
			if p.many {
				p.inner = path[len(p.outer)+1:]
			} else {
				p.outer = path
			}
		case morePlace:
			return fmt.Errorf("has %q where no array repeats: it goes behind an element with %q, as the second and last one", morePlace, place)
		}
	case map[string]any:
		// In order, so that of two mistakes the same one is told each time.
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := p.find(v[key], step(path, key), place, found); err != nil {
				return err
			}
		}
	case []any:
		if len(v) == 2 && v[1] == any(morePlace) && !p.many {
			before := *found
			p.many, p.outer, p.element = true, path, v[0]
			if err := p.find(v[0], step(path, 0), place, found); err != nil {
				return err
			}
			if *found != before+1 {
				return fmt.Errorf("has %q behind an element without %q", morePlace, place)
			}
			return nil
		}
		for i, element := range v {
			if err := p.find(element, step(path, i), place, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// step returns path with one more step, in an array of its own.
func step(path []any, next any) []any {
	return append(path[:len(path):len(path)], next)
}

// Many reports whether one request takes several texts.
func (s *Shape) Many() bool { return s.request.many }

// Fragments reports whether requests take JSON values in the place of texts.
func (s *Shape) Fragments() bool { return s.fragments }

// Body returns a request's body for texts, or fragments, which are JSON: one,
// unless [Shape.Many].
func (s *Shape) Body(texts []string) ([]byte, error) {
	asValue := func(text string) any {
		if s.fragments {
			return json.RawMessage(text)
		}
		return text
	}
	var filled any
	if s.request.many {
		elements := make([]any, len(texts))
		for i, t := range texts {
			elements[i] = with(s.request.element, s.request.inner, asValue(t))
		}
		filled = with(s.request.whole, s.request.outer, elements)
	} else {
		filled = with(s.request.whole, s.request.outer, asValue(texts[0]))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(filled); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return b.Bytes(), nil
}

// with returns v with x at path, sharing what does not change.
func with(v any, path []any, x any) any {
	if len(path) == 0 {
		return x
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[key] = member
		}
		key := path[0].(string)
		out[key] = with(v[key], path[1:], x)
		return out
	case []any:
		out := append([]any(nil), v...)
		i := path[0].(int)
		out[i] = with(v[i], path[1:], x)
		return out
	}
	return x
}

// Vectors reads n vectors, all of one length, out of an answer's body. An
// error goes on from "the answer" and repeats nothing of it.
func (s *Shape) Vectors(body []byte, n int) ([][]float32, error) {
	at, err := descend(body, s.response.outer)
	if err != nil {
		return nil, err
	}
	list := []json.RawMessage{at}
	if s.response.many {
		if json.Unmarshal(at, &list) != nil {
			return nil, fmt.Errorf("has no array at %s", written(s.response.outer))
		}
		if len(list) != n {
			return nil, fmt.Errorf("has %d vectors for %d texts", len(list), n)
		}
	}
	out := make([][]float32, n)
	for i, raw := range list {
		if s.response.many {
			if raw, err = descend(raw, s.response.inner); err != nil {
				return nil, err
			}
		}
		if out[i], err = Vector(raw); err != nil {
			return nil, err
		}
		if len(out[i]) != len(out[0]) {
			return nil, fmt.Errorf("has vectors of %d and of %d numbers", len(out[0]), len(out[i]))
		}
	}
	return out, nil
}

// descend returns what stands at path in a JSON value.
func descend(raw json.RawMessage, path []any) (json.RawMessage, error) {
	for i, s := range path {
		var next json.RawMessage
		switch s := s.(type) {
		case string:
			var object map[string]json.RawMessage
			if json.Unmarshal(raw, &object) == nil {
				next = object[s]
			}
		case int:
			var array []json.RawMessage
			if json.Unmarshal(raw, &array) == nil && s < len(array) {
				next = array[s]
			}
		}
		if next == nil {
			return nil, fmt.Errorf("has nothing at %s", written(path[:i+1]))
		}
		raw = next
	}
	return raw, nil
}

// written is a path for a person.
func written(path []any) string {
	out := ""
	for _, s := range path {
		switch s := s.(type) {
		case string:
			if out != "" {
				out += "."
			}
			out += s
		case int:
			out += "[" + strconv.Itoa(s) + "]"
		}
	}
	if out == "" {
		return "its top"
	}
	return "`" + out + "`"
}

// Vector reads an array of at least one number, none beyond 32 bits. An error
// goes on from the name of what it was read from.
func Vector(raw json.RawMessage) ([]float32, error) {
	var wide []float64
	if json.Unmarshal(raw, &wide) != nil {
		return nil, errors.New("has something else than an array of numbers where a vector should be")
	}
	if len(wide) == 0 {
		return nil, errors.New("has a vector without numbers")
	}
	v := make([]float32, len(wide))
	for i, x := range wide {
		if math.Abs(x) > math.MaxFloat32 {
			return nil, errors.New("has a vector with a number beyond 32 bits")
		}
		v[i] = float32(x)
	}
	return v, nil
}
