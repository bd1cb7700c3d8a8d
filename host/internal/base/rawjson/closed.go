package rawjson

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Closed returns b, a JSON document that may have been cut, with an end: a text ends
// where it was cut, another value that is not whole is left out, and what is open is
// closed. What is not the beginning of an object or an array is returned as it is.
func Closed(b []byte) []byte {
	if begin := bytes.TrimSpace(b); len(begin) == 0 || begin[0] != '{' && begin[0] != '[' || Valid(b) {
		return b
	}
	var (
		open   []byte // what closes each bracket that is open
		whole  int    // where the last whole value ends, or the bracket begins that holds none
		name   bool   // the next string is a member's name
		inside bool   // of a string
		escape int    // where the last escape begins
	)
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inside && c == '\\':
			escape = i
			i++ // what it escapes ends nothing
		case inside:
			if inside = c != '"'; !inside && !name {
				whole = i + 1
			}
		case c == '"':
			inside = true
		case c == '{' || c == '[':
			open, name, whole = append(open, c+2), c == '{', i+1 // a closing bracket is two further on in ASCII
		case c == '}' || c == ']':
			if len(open) == 0 {
				return b
			}
			open, name, whole = open[:len(open)-1], false, i+1
		case c == ',':
			name, whole = len(open) > 0 && open[len(open)-1] == '}', i
		case c == ':':
			name = false
		}
	}
	begins := `"-0123456789tfn` // a value
	if name {
		begins = `"`
	}
	if left := bytes.TrimLeft(b[whole:], ", \t\r\n"); len(left) > 0 && bytes.IndexByte([]byte(begins), left[0]) < 0 {
		return b
	}
	end := b[:whole:whole]
	if inside && !name {
		end = append(cutText(b, escape), '"')
	}
	slices.Reverse(open)
	if end = append(end, open...); !Valid(end) {
		return b
	}
	return end
}

// cutText returns b, which ends in a text, without the character at its end that is
// not whole. The last escape of a text in b is at escape.
func cutText(b []byte, escape int) []byte {
	if last := b[escape:]; last[0] == '\\' && (len(last) < 2 || last[1] == 'u' && len(last) < len(`\u0000`)) {
		b = b[:escape]
	}
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRune(b); r == utf8.RuneError && size == 1 {
			b = b[:len(b)-1]
		}
	}
	return slices.Clone(b)
}
