package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxFragmentBytes bounds a fragment as it is sent: images come as texts.
const maxFragmentBytes = 4 << 20

// A Fragment is JSON whose texts are templates.
type Fragment struct {
	Name  string
	value any // in which each text is a *[template.Template]
}

// ParseFragment checks a fragment and makes it ready.
func ParseFragment(name string, raw json.RawMessage) (*Fragment, error) {
	var value any
	if err := DecodeNumbers(raw, &value); err != nil {
		return nil, err
	}
	value, err := eachText(value, func(v any) (any, error) {
		text, ok := v.(string)
		if !ok {
			return v, nil
		}
		return Parse(text)
	})
	return &Fragment{name, value}, err
}

// ParseFragments does so for several, and returns them in the order of their
// names.
func ParseFragments(all map[string]json.RawMessage) ([]*Fragment, error) {
	var out []*Fragment
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f, err := ParseFragment(name, all[name])
		if err != nil {
			return nil, fmt.Errorf("fragment %q: %w", name, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// DecodeNumbers decodes JSON with its numbers as they are written.
func DecodeNumbers(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(v)
}

// eachText returns v with what f makes of each value in it that is not an object
// and no array.
func eachText(v any, f func(any) (any, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			if out[key], err = eachText(member, f); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			if out[i], err = eachText(element, f); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return f(v)
}

// Render returns the fragment as JSON. ok is false where it does not fit: a
// value that it shows is absent or null, but for those with a default, or what
// comes of it is too long or takes more than b has.
func (f *Fragment) Render(b *Budget, with map[string]any) (text string, ok bool) {
	left := maxFragmentBytes
	value, err := eachText(f.value, func(v any) (any, error) {
		t, ok := v.(*Template)
		if !ok {
			return v, nil
		}
		text, err := t.Render(b, with, Output{MaxBytes: left, Demand: true})
		left -= len(text)
		return strings.ToValidUTF8(text, "\uFFFD"), err
	})
	if err != nil {
		return "", false
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil || out.Len() > 2*maxFragmentBytes {
		return "", false
	}
	return strings.TrimSpace(out.String()), true
}

const (
	MaxSource   = 8 << 10 // bytes of a template
	MaxElements = 100     // of an array that a template is given
)

// Plain bounds the arrays in v, and makes whole numbers integers.
func Plain(v any) any {
	switch x := v.(type) {
	case []any:
		x = x[:min(len(x), MaxElements)]
		for i := range x {
			x[i] = Plain(x[i])
		}
		return x
	case map[string]any:
		for k := range x {
			x[k] = Plain(x[k])
		}
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		f, _ := x.Float64() // infinite where it is beyond a float
		return f
	}
	return v
}
