package search

import (
	"bytes"
	"encoding/json"
)

// The functions of this file walk JSON that [json.Valid] accepted: they keep
// the order of members, which a Go map would lose, and the text of numbers.

// maxDepth bounds how deep a document may be nested.
const maxDepth = 100

// space is what JSON allows between values.
func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// valueEnd returns the index behind the value that begins at b[i].
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		depth := 0
		for ; i < len(b); i++ {
			switch b[i] {
			case '"':
				i = stringEnd(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(b)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && !space(b[i]) {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipSpace returns the index of the next byte that is none, from b[i].
func skipSpace(b []byte, i int) int {
	for i < len(b) && space(b[i]) {
		i++
	}
	return i
}

// eachMember calls f for each member of an object, in order, until it returns
// false. rawKey is the key with its quotes.
func eachMember(obj []byte, f func(rawKey, value []byte) bool) {
	i := skipSpace(obj, 0) + 1
	for {
		i = skipSpace(obj, i)
		if i >= len(obj) || obj[i] == '}' {
			return
		}
		if obj[i] == ',' {
			i++
			continue
		}
		end := stringEnd(obj, i)
		key := obj[i:end]
		i = skipSpace(obj, end)
		i = skipSpace(obj, i+1) // the colon
		end = valueEnd(obj, i)
		if !f(key, obj[i:end]) {
			return
		}
		i = end
	}
}

// eachElement calls f for each element of an array until it returns false.
// at is its offset.
func eachElement(arr []byte, f func(at int, value []byte) bool) {
	i := skipSpace(arr, 0) + 1
	for {
		i = skipSpace(arr, i)
		if i >= len(arr) || arr[i] == ']' {
			return
		}
		if arr[i] == ',' {
			i++
			continue
		}
		end := valueEnd(arr, i)
		if !f(i, arr[i:end]) {
			return
		}
		i = end
	}
}

// unquote returns the text of a JSON string.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is valid, see above
	return s
}

// walk calls f for the values in v, containers before what they hold, with
// their dotted path below path. The elements of an array have its own path.
func walk(path string, v []byte, f func(path string, v []byte)) {
	if path != "" {
		f(path, v)
	}
	switch v[0] {
	case '{':
		eachMember(v, func(key, value []byte) bool {
			p := unquote(key)
			if path != "" {
				p = path + "." + p
			}
			walk(p, value, f)
			return true
		})
	case '[':
		eachElement(v, func(_ int, value []byte) bool {
			walk(path, value, f)
			return true
		})
	}
}

// depth returns how deep v is nested: 0 for a scalar.
func depth(v []byte) int {
	d, deepest := 0, 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i = stringEnd(v, i) - 1
		case '{', '[':
			d++
			deepest = max(deepest, d)
		case '}', ']':
			d--
		}
	}
	return deepest
}

// merge returns base with the members of patch put over it: what patch does
// not name stays, at the top level only.
func merge(base, patch []byte) []byte {
	over := map[string][]byte{}
	var order []string
	eachMember(patch, func(key, value []byte) bool {
		k := unquote(key)
		if _, again := over[k]; !again {
			order = append(order, k)
		}
		over[k] = value
		return true
	})
	out := make([]byte, 0, len(base)+len(patch))
	out = append(out, '{')
	put := func(key, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	eachMember(base, func(key, value []byte) bool {
		k := unquote(key)
		if v, ok := over[k]; ok {
			value = v
			delete(over, k)
		}
		put(key, value)
		return true
	})
	for _, k := range order {
		if v, ok := over[k]; ok {
			key, _ := json.Marshal(k)
			put(key, v)
		}
	}
	return append(out, '}')
}
