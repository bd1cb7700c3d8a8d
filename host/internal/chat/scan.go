package chat

import (
	"bytes"
	"encoding/json"
)

// What follows reads values of a document that was checked once, each by a walk
// over its bytes: package json would check every part of it again before it
// copies what stands in there, and a conversation has thousands of them.

// objectIn is asObject for a value of a document that was checked.
func objectIn(v []byte) (o object, ok bool) {
	m, ok := membersIn(v)
	if !ok {
		return nil, false
	}
	o = object{}
	for m.next() {
		key, _ := asString(m.key)
		o[key] = m.value
	}
	return o, true
}

// pick is objectIn for the members called names alone, which it puts into into.
func pick(v []byte, into []json.RawMessage, names ...string) (ok bool) {
	m, ok := membersIn(v)
	if !ok {
		return false
	}
	clear(into)
	for m.next() {
		for i, name := range names {
			if m.called(name) {
				into[i] = m.value // of two the last one counts, as in a map
			}
		}
	}
	return true
}

// members walks the members of an object.
type members struct {
	key   []byte // with its quotes
	value json.RawMessage
	rest  []byte
}

// membersIn begins a walk; ok is false where v is no object.
func membersIn(v []byte) (m members, ok bool) {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || v[0] != '{' {
		return m, false
	}
	return members{rest: skipSpace(v[1:])}, true
}

func (m *members) next() bool {
	b := m.rest
	if b[0] == '}' {
		return false
	}
	n := stringLen(b)
	m.key = b[:n]
	b = skipSpace(b[n:])
	b = skipSpace(b[1:]) // behind the colon
	n = valueLen(b)
	m.value, m.rest = b[:n:n], skipComma(b[n:])
	return true
}

func (m *members) called(name string) bool {
	if string(m.key[1:len(m.key)-1]) == name {
		return true
	}
	if bytes.IndexByte(m.key, '\\') < 0 {
		return false
	}
	key, _ := asString(m.key)
	return key == name
}

// arrayIn is asArray for a value of a document that was checked.
func arrayIn(v []byte) (a []json.RawMessage, ok bool) {
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

// appendCompact appends a value of a document that was checked, without the
// space between its parts.
func appendCompact(b, v []byte) []byte {
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
