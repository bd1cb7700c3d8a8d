// Package answer reads lists out of responses by example: a template is the JSON
// of a response with a place in it for what is wanted. Plugins describe answers
// so, and index embedders of the source rest.
package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// More, as the second element of an array whose first has a place, says that
// there may be any number of the first.
const More = "{{..}}"

// A Pattern is a JSON value with one place in it. It never changes.
type Pattern struct {
	whole any
	// outer leads to the place or, where many is set, to the array of which
	// each element has one, by inner.
	outer, inner []any // keys and positions
	many         bool
	element      any // of that array
	prefix       string
}

// Parse reads a template that has place once as a value. An error goes on from
// the name of the template.
func Parse(template []byte, place string) (*Pattern, error) { return parse(template, place, false) }

// parse is Parse; within: text may stand before place, in the same value.
func parse(template []byte, place string, within bool) (*Pattern, error) {
	p := &Pattern{}
	dec := json.NewDecoder(bytes.NewReader(template))
	dec.UseNumber() // numbers go out as they were written
	if err := dec.Decode(&p.whole); err != nil {
		return nil, errors.New("is not JSON")
	}
	f := finder{p: p, place: place, within: within}
	if err := f.find(p.whole, nil); err != nil {
		return nil, err
	}
	if f.found != 1 {
		return nil, fmt.Errorf("must have %q once as a value in it, but has it %d times", place, f.found)
	}
	return p, nil
}

// A finder looks for the place of a pattern.
type finder struct {
	p      *Pattern
	place  string
	within bool
	found  int
}

// find looks for the place in v, which stands at path.
func (f *finder) find(v any, path []any) error {
	switch v := v.(type) {
	case string:
		return f.findText(v, path)
	case map[string]any:
		// In order, so that of two mistakes the same one is told each time.
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := f.find(v[key], step(path, key)); err != nil {
				return err
			}
		}
	case []any:
		if len(v) == 2 && v[1] == any(More) && !f.p.many {
			before := f.found
			f.p.many, f.p.outer, f.p.element = true, path, v[0]
			if err := f.find(v[0], step(path, 0)); err != nil {
				return err
			}
			if f.found != before+1 {
				return fmt.Errorf("has %q behind an element without %q", More, f.place)
			}
			return nil
		}
		for i, element := range v {
			if err := f.find(element, step(path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *finder) findText(text string, path []any) error {
	before, ok := strings.CutSuffix(text, f.place)
	switch {
	case text == More:
		return fmt.Errorf("has %q where no array repeats: it goes behind an element with %q, as the second and last one", More, f.place)
	case !ok || before != "" && !f.within:
		return nil
	}
	f.found++
	f.p.prefix = before
	if f.found > 1 {
		return nil // which is a mistake, wherever it stands
	}
	if f.p.many {
		f.p.inner = path[len(f.p.outer)+1:]
	} else {
		f.p.outer = path
	}
	return nil
}

// step returns path with one more step, in an array of its own.
func step(path []any, next any) []any { return append(path[:len(path):len(path)], next) }

// Many reports whether there may be several values in the pattern's place.
func (p *Pattern) Many() bool { return p.many }

// Fill returns the template with values in the place: one, unless [Pattern.Many].
func (p *Pattern) Fill(values []any) any {
	if !p.many {
		return with(p.whole, p.outer, values[0])
	}
	elements := make([]any, len(values))
	for i, v := range values {
		elements[i] = with(p.element, p.inner, v)
	}
	return with(p.whole, p.outer, elements)
}

// with returns v with x at path, sharing what does not change.
func with(v any, path []any, x any) any {
	if len(path) == 0 {
		return x
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		key := path[0].(string)
		out[key] = with(v[key], path[1:], x)
		return out
	case []any:
		out := slices.Clone(v)
		i := path[0].(int)
		out[i] = with(v[i], path[1:], x)
		return out
	}
	return x
}

// Find returns the value of body at the pattern's mark, or all of them where
// [Pattern.Many] is true. An error goes on from "the answer" and repeats nothing of it.
func (p *Pattern) Find(body []byte) ([]json.RawMessage, error) {
	at, err := descend(body, p.outer)
	if err != nil || !p.many {
		return []json.RawMessage{at}, err
	}
	var list []json.RawMessage
	if json.Unmarshal(at, &list) != nil {
		return nil, fmt.Errorf("has no array at %s", written(p.outer))
	}
	for i := range list {
		if list[i], err = descend(list[i], p.inner); err != nil {
			return nil, err
		}
	}
	return list, nil
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
