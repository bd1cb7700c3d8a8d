// Package rawjson reads and writes JSON as it stands, value by value. It keeps the
// order of members, which a Go map would lose, and the text of numbers. It is the
// only JSON walker of the host.
//
// All but [String] read values of a document that was checked once, each by a walk
// over its bytes: package json would check every part of it again before it
// copies what stands in there, and a conversation has thousands of them. What was
// not checked must not be given to them.
package rawjson

import (
	"bytes"
	"encoding/json"
)

// String reads a JSON string. ok is false for any other value, and for what is no
// JSON.
func String(v []byte) (s string, ok bool) {
	if v = bytes.TrimSpace(v); len(v) < 2 || v[0] != '"' {
		return "", false
	}
	// What stands for itself, as nearly all strings do, needs no decoder.
	inner, itself := v[1:len(v)-1], v[len(v)-1] == '"'
	for i := 0; i < len(inner) && itself; i++ {
		itself = plain[inner[i]]
	}
	if itself {
		return string(inner), true
	}
	return unescape(v)
}

// unescape is apart, since package json has its s outlive the call.
func unescape(v []byte) (s string, ok bool) { return s, json.Unmarshal(v, &s) == nil }

// Members walks the members of an object:
//
//	for m, ok := MembersOf(v); ok && m.Next(); {
//		… m.Key, m.Value …
//	}
type Members struct {
	Key   []byte // with its quotes
	Value []byte
	rest  []byte
}

// MembersOf begins a walk; ok is false where v is not an object.
func MembersOf(v []byte) (m Members, ok bool) {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || v[0] != '{' {
		return m, false
	}
	return Members{rest: skipSpace(v[1:])}, true
}

// Next goes to the next member and reports whether there is one.
func (m *Members) Next() bool {
	b := m.rest
	if b[0] == '}' {
		return false
	}
	n := stringLen(b)
	m.Key = b[:n]
	b = skipSpace(b[n:])
	b = skipSpace(b[1:]) // behind the colon
	n = valueLen(b)
	m.Value, m.rest = b[:n:n], skipComma(b[n:])
	return true
}

// Called reports whether the member is called name.
func (m *Members) Called(name string) bool {
	if string(m.Key[1:len(m.Key)-1]) == name {
		return true
	}
	if bytes.IndexByte(m.Key, '\\') < 0 {
		return false
	}
	key, _ := String(m.Key)
	return key == name
}

// Items returns the items of an array; ok is false where v is none.
func Items(v []byte) (a []json.RawMessage, ok bool) {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || v[0] != '[' {
		return nil, false
	}
	a = []json.RawMessage{}
	for v = skipSpace(v[1:]); v[0] != ']'; v = skipComma(v) {
		n := valueLen(v)
		a, v = append(a, v[:n:n]), v[n:]
	}
	return a, true
}

// AppendCompact appends a value of a document that was checked, without the
// space between its parts.
func AppendCompact(b, v []byte) []byte {
	from := 0
	for i := 0; i < len(v); {
		switch v[i] {
		case '"':
			i += stringLen(v[i:])
		case ' ', '\n', '\t', '\r':
			b = append(b, v[from:i]...)
			i++
			from = i
		default:
			i++
		}
	}
	return append(b, v[from:]...)
}

func skipSpace(b []byte) []byte {
	for b[0] == ' ' || b[0] == '\n' || b[0] == '\t' || b[0] == '\r' {
		b = b[1:]
	}
	return b
}

// skipComma goes to the next member or item, or to the closing bracket.
func skipComma(b []byte) []byte {
	if b = skipSpace(b); b[0] == ',' {
		return skipSpace(b[1:])
	}
	return b
}

// valueLen returns the length of the value at the start of b.
func valueLen(b []byte) int {
	switch b[0] {
	case '"':
		return stringLen(b)
	case '{', '[':
		for i, depth := 0, 0; ; i++ {
			switch b[i] {
			case '"':
				i += stringLen(b[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	if n := bytes.IndexAny(b, ",]} \n\t\r"); n >= 0 {
		return n
	}
	return len(b)
}

// stringLen returns the length of the string at the start of b, with its quotes.
func stringLen(b []byte) int {
	for i := 1; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// Array is the array of items, which are JSON.
func Array(items []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, v := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}
