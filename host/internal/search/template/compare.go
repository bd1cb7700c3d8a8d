package template

import (
	"cmp"
	"strings"
)

func (e empty) equals(v any) bool {
	switch v := v.(type) {
	case string:
		return v == "" || e.spaces && strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case nil, bool:
		return e.spaces && !truth(v)
	}
	return false
}

// equal reports whether two values are the same, whatever kind of number they
// are.
func (r *run) equal(a, b any, depth int) bool {
	r.spend(1)
	if depth >= MaxDepth {
		fail(errDepth)
	}
	if e, ok := a.(empty); ok {
		return b == a || e.equals(b)
	}
	if e, ok := b.(empty); ok {
		return e.equals(a)
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		if !ok || len(a) != len(b) {
			return false
		}
		r.read(len(a))
		return a == b
	case int64:
		if b, ok := b.(int64); ok {
			return a == b
		}
		b, ok := b.(float64)
		return ok && float64(a) == b
	case float64:
		if b, ok := b.(int64); ok {
			return a == float64(b)
		}
		b, ok := b.(float64)
		return ok && a == b
	case []any, numbers:
		x, n := r.elements(a)
		switch b.(type) {
		case []any, numbers:
		default:
			return false
		}
		y, m := r.elements(b)
		for i := 0; i < n && n == m; i++ {
			if !r.equal(x(i), y(i), depth+1) {
				return false
			}
		}
		return n == m
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		at, n := r.elements(a) // in order, so that equal values cost the same each time
		for i := range n {
			pair, _ := at(i).([]any)
			key, _ := pair[0].(string)
			if other, has := b[key]; !has || !r.equal(pair[1], other, depth+1) {
				return false
			}
		}
		return true
	}
	return a == b
}

// less reports whether a is before b: of two numbers, texts or truth values.
func (r *run) less(a, b any) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		r.read(min(len(a), len(b)))
		return ok && a < b
	case int64:
		if b, ok := b.(int64); ok {
			return a < b
		}
		b, ok := b.(float64)
		return ok && float64(a) < b
	case float64:
		if b, ok := b.(int64); ok {
			return a < float64(b)
		}
		b, ok := b.(float64)
		return ok && cmp.Less(a, b)
	case bool:
		b, ok := b.(bool)
		return ok && !a && b
	}
	return false
}

// contains reports whether a text has b in it, an array b as an element, or an
// object b as a key.
func (r *run) contains(a, b any) bool {
	switch a := a.(type) {
	case string:
		part := r.text(b)
		r.read(len(a) + len(part))
		return strings.Contains(a, part)
	case []any, numbers:
		at, n := r.elements(a)
		for i := range n {
			if r.equal(at(i), b, 0) {
				return true
			}
		}
	case map[string]any:
		key, ok := b.(string)
		if _, has := a[key]; ok && has {
			return true
		}
	}
	return false
}
