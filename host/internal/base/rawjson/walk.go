package rawjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// IsSpace reports whether c may stand between values.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// EachMember calls f for each member of an object, in order, until f returns
// false. key has its quotes.
func EachMember(obj []byte, f func(key, value []byte) bool) {
	for m, ok := MembersOf(obj); ok && m.Next() && f(m.Key, m.Value); {
	}
}

// EachElement calls f for each element of an array, in order, until f returns
// false.
func EachElement(arr []byte, f func(value []byte) bool) {
	v := bytes.TrimSpace(arr)
	if len(v) == 0 || v[0] != '[' {
		return
	}
	for v = skipSpace(v[1:]); v[0] != ']'; v = skipComma(v) {
		n := valueLen(v)
		if !f(v[:n:n]) {
			return
		}
		v = v[n:]
	}
}

// Unquote returns the text of a JSON string.
func Unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is valid, see above
	return s
}

// Walk calls f for the values in v, containers before what they hold, with
// their dotted path below path. The elements of an array have its own path.
func Walk(path string, v []byte, f func(path string, v []byte)) {
	if path != "" {
		f(path, v)
	}
	switch v[0] {
	case '{':
		EachMember(v, func(key, value []byte) bool {
			p := Unquote(key)
			if path != "" {
				p = path + "." + p
			}
			Walk(p, value, f)
			return true
		})
	case '[':
		EachElement(v, func(value []byte) bool {
			Walk(path, value, f)
			return true
		})
	}
}

// Repeated returns the dotted path of the first member within v whose object has one of
// that name before it, empty where there is none.
func Repeated(v []byte) (path string) {
	v = bytes.TrimSpace(v)
	switch {
	case len(v) > 0 && v[0] == '{':
		seen := map[string]bool{}
		EachMember(v, func(key, value []byte) bool {
			name := Unquote(key)
			if seen[name] {
				path = name
			} else if inner := Repeated(value); inner != "" {
				path = name + "." + inner
			}
			seen[name] = true
			return path == ""
		})
	case len(v) > 0 && v[0] == '[':
		EachElement(v, func(value []byte) bool {
			path = Repeated(value)
			return path == ""
		})
	}
	return path
}

// Depth returns how deep v is nested: 0 for a scalar.
func Depth(v []byte) int {
	d, deepest := 0, 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i += stringLen(v[i:]) - 1
		case '{', '[':
			d++
			deepest = max(deepest, d)
		case '}', ']':
			d--
		}
	}
	return deepest
}

// Merge returns base with the members of patch put over it: what patch does
// not name stays, at the top level only.
func Merge(base, patch []byte) []byte {
	over := map[string][]byte{}
	var order []string
	EachMember(patch, func(key, value []byte) bool {
		k := Unquote(key)
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
	EachMember(base, func(key, value []byte) bool {
		k := Unquote(key)
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

// ScalarText returns a string, number or boolean as text.
func ScalarText(v []byte) (string, bool) {
	switch v[0] {
	case '"':
		return Unquote(v), true
	case '{', '[', 'n':
		return "", false
	case 't', 'f':
		return string(v), true
	}
	if f, ok := Number(v); ok {
		return FormatNumber(f), true
	}
	return string(v), true
}

// IsEmpty reports whether v is "", [] or {}.
func IsEmpty(v []byte) bool {
	switch v[0] {
	case '"':
		return len(v) == 2
	case '[', '{':
		return len(bytes.TrimSpace(v[1:len(v)-1])) == 0
	}
	return false
}

// Number returns the value of a JSON number that is finite as a float64.
func Number(v []byte) (float64, bool) {
	if c := v[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil
}

// FormatNumber is f as text: without an exponent where people write none.
func FormatNumber(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-9 || a >= 1e18) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
