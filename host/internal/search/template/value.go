package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Values are those of JSON, see [Template.Render], and of the types here.

// numbers are the whole numbers of a range, its ends among them.
type numbers struct{ from, to int }

// empty is the word empty: what is equal to it has nothing in it. With spaces
// it is the word blank.
type empty struct{ spaces bool }

// elements returns what a loop over v runs over, and how many they are.
func (r *run) elements(v any) (at func(int) any, n int) {
	switch v := v.(type) {
	case []any:
		return func(i int) any { return v[i] }, len(v)
	case numbers:
		return func(i int) any { return int64(v.from + i) }, max(0, v.to-v.from+1)
	case map[string]any:
		r.holdArray(len(v))
		r.spend(len(v) * bits.Len(uint(len(v)))) // for sorting
		keys := slices.Sorted(maps.Keys(v))
		return func(i int) any { return append(r.makeArray(2), keys[i], v[keys[i]]) }, len(v)
	}
	return nil, 0
}

// array is v as an array: what is none is one of itself, nil one of nothing.
// The array is not to be changed.
func (r *run) array(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case numbers, map[string]any:
		at, n := r.elements(v)
		list := r.makeArray(n)
		for i := range n {
			list = append(list, at(i))
		}
		return list
	}
	return append(r.makeArray(1), v)
}

// number is v as a number. What is none ends the rendering.
func (r *run) number(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case int64:
		return float64(v)
	case float64:
		return v
	case string:
		if f, err := strconv.ParseFloat(strings.TrimSpace(v[:min(len(v), 400)]), 64); err == nil && len(v) < 400 {
			return f
		}
	}
	fail(fmt.Errorf("a number is needed, not a %s", kind(v)))
	return 0
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case []any, numbers:
		return "array"
	case bool:
		return "truth value"
	case map[string]any, place:
		return "object"
	}
	return "number"
}

// text is v as it is shown.
func (r *run) text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any, map[string]any, numbers:
		w := writer{run: r}
		r.show(v, w.write, 0)
		return w.String()
	}
	var s string
	r.show(v, func(part string) { s = part }, 0)
	return s
}

// show writes v: arrays as their elements one after the other, objects as JSON.
func (r *run) show(v any, write func(string), depth int) {
	r.spend(1)
	switch v := v.(type) {
	case string:
		write(v)
	case bool:
		write(strconv.FormatBool(v))
	case int64:
		write(strconv.FormatInt(v, 10))
	case float64:
		write(fmt.Sprint(v))
	case map[string]any:
		r.showJSON(v, write, depth)
	case numbers:
		for i := v.from; i <= v.to; i++ {
			r.show(int64(i), write, depth)
		}
	case []any:
		if depth >= MaxDepth {
			fail(errDepth)
		}
		for _, e := range v {
			r.show(e, write, depth+1)
		}
	}
}

// showJSON writes v as JSON, objects in the order of their keys.
func (r *run) showJSON(v any, write func(string), depth int) {
	r.spend(1)
	if depth >= MaxDepth {
		fail(errDepth)
	}
	separator := ""
	switch v := v.(type) {
	case map[string]any:
		write("{")
		at, n := r.elements(v)
		for i := range n {
			pair, _ := at(i).([]any)
			write(separator)
			r.showJSON(pair[0], write, depth+1)
			write(":")
			r.showJSON(pair[1], write, depth+1)
			separator = ","
		}
		write("}")
	case []any, numbers:
		write("[")
		at, n := r.elements(v)
		for i := range n {
			write(separator)
			r.showJSON(at(i), write, depth+1)
			separator = ","
		}
		write("]")
	case string:
		r.makeText(len(v))
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // a string can be encoded
		write(strings.TrimSuffix(b.String(), "\n"))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			write("null")
			return
		}
		r.show(v, write, depth)
	case bool, int64:
		r.show(v, write, depth)
	default:
		write("null")
	}
}

// member returns what v has at a key or place, nil where it has nothing.
func (r *run) member(v, at any) any {
	key, _ := at.(string)
	switch v := v.(type) {
	case map[string]any:
		if found, ok := v[key]; ok || key != "size" {
			return found
		}
		return int64(len(v))
	case string:
		if key == "size" {
			r.read(len(v))
			return int64(utf8.RuneCountInString(v))
		}
	case place:
		return v.property(key)
	case []any, numbers:
		elementAt, n := r.elements(v)
		i := n
		switch at := at.(type) {
		case int64:
			i = int(max(min(at, math.MaxInt32), math.MinInt32))
		case float64:
			i = r.integer(at)
		case string:
			switch key {
			case "size":
				return int64(n)
			case "first":
				i = 0
			case "last":
				i = -1
			}
		}
		if i < 0 {
			i += n
		}
		if i >= 0 && i < n {
			return elementAt(i)
		}
	}
	return nil
}

// A writer makes a text of parts, charged to a run.
type writer struct {
	run *run
	strings.Builder
}

func (w *writer) write(s string) {
	if w.Len()+len(s) > MaxText {
		fail(errText)
	}
	w.run.makeText(len(s))
	w.WriteString(s)
}
