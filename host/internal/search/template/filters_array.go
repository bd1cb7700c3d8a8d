package template

import (
	"math/bits"
	"slices"
	"strings"
)

func compact(r *run, v any, _ []any) any {
	list := r.array(v)
	out := r.makeArray(len(list))
	for _, e := range list {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

func concat(r *run, v any, a []any) any {
	x, y := r.array(v), r.array(argument(a, 0))
	return append(append(r.makeArray(len(x)+len(y)), x...), y...)
}

func join(r *run, v any, a []any) any {
	separator := " "
	if len(a) > 0 {
		separator = r.text(a[0])
	}
	w := writer{run: r}
	first := true
	for _, e := range r.array(v) {
		if e == nil {
			continue
		}
		if !first {
			w.write(separator)
		}
		first = false
		r.show(e, w.write, 0)
	}
	return w.String()
}

func mapElements(r *run, v any, a []any) any {
	list := r.array(v)
	out := r.makeArray(len(list))
	for _, e := range list {
		out = append(out, r.member(e, argument(a, 0)))
	}
	return out
}

func reverse(r *run, v any, _ []any) any {
	out := r.copyArray(v)
	slices.Reverse(out)
	return out
}

func (r *run) copyArray(v any) []any {
	list := r.array(v)
	return append(r.makeArray(len(list)), list...)
}

// sortBy sorts a copy of v by what key makes of its elements; what has no key
// is first.
func (r *run) sortBy(v any, key func(any) any) any {
	out := r.copyArray(v)
	r.spend(len(out) * bits.Len(uint(len(out))))
	slices.SortStableFunc(out, func(a, b any) int {
		a, b = key(a), key(b)
		switch {
		case a == nil || b == nil:
			return order(a == nil && b != nil, a != nil && b == nil)
		default:
			return order(r.less(a, b), r.less(b, a))
		}
	})
	return out
}

func order(before, after bool) int {
	switch {
	case before:
		return -1
	case after:
		return 1
	}
	return 0
}

func sortElements(r *run, v any, a []any) any {
	by := argument(a, 0)
	return r.sortBy(v, func(e any) any {
		if by == nil {
			return e
		}
		return r.member(e, by)
	})
}

// sortNaturally sorts texts without regard to case.
func sortNaturally(r *run, v any, a []any) any {
	by := argument(a, 0)
	return r.sortBy(v, func(e any) any {
		if by != nil {
			e = r.member(e, by)
		}
		if s, ok := e.(string); ok {
			r.makeText(len(s))
			return strings.ToLower(s)
		}
		return e
	})
}

func uniq(r *run, v any, _ []any) any {
	list := r.array(v)
	out := r.makeArray(len(list))
	r.hold(64 * len(list))
	seen := make(map[any]bool, len(list))
	for _, e := range list {
		switch e.(type) {
		case []any, map[string]any:
			if slices.ContainsFunc(out, func(o any) bool { return r.equal(o, e, 0) }) {
				continue
			}
		default:
			if s, ok := e.(string); ok {
				r.read(len(s))
			}
			if seen[e] {
				continue
			}
			seen[e] = true
		}
		out = append(out, e)
	}
	return out
}
