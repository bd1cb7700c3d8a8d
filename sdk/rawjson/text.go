package rawjson

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean reports whether v is JSON to the letter: no control characters inside
// strings, and UTF-8 throughout.
func (v Value) Clean() bool {
	inside := false
	for i := 0; ; i++ {
		if i += countPlain([]byte(v[i:])); i == len(v) {
			return true
		}
		switch c := v[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			i++ // what it escapes
		case c < ' ' && !inside:
		default: // a control character, or no UTF-8
			return false
		}
	}
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	n := countPlain(s)
	if n == len(s) { // as nearly all are
		return append(append(append(dst, '"'), s...), '"')
	}
	return appendQuoted(dst, s, n)
}

// appendQuoted is AppendString for an s of which n bytes at the start stand for
// themselves, and more do not.
func appendQuoted[T string | []byte](dst []byte, s T, n int) []byte {
	dst = append(dst, '"')
	for n < len(s) {
		dst = appendEscape(append(dst, s[:n]...), s[n])
		s = s[n+1:]
		n = countPlain(s)
	}
	return append(append(dst, s...), '"')
}

// countPlain returns how many bytes at the start of s stand for themselves in a JSON
// string: eight at a time where it can, since each turn of a loop is dear in a
// guest.
func countPlain[T string | []byte](s T) (n int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for n < len(s) {
		if at := min(n, len(s)-8); at >= 0 { // the last eight may overlap those before
			v := uint64(s[at]) | uint64(s[at+1])<<8 | uint64(s[at+2])<<16 | uint64(s[at+3])<<24 |
				uint64(s[at+4])<<32 | uint64(s[at+5])<<40 | uint64(s[at+6])<<48 | uint64(s[at+7])<<56
			quote, slash := v^ones*'"', v^ones*'\\'
			// Of each byte the highest bit: it is one itself, it is below a space, it is
			// a quote or a backslash. A carry sets it too often, never too seldom.
			if (v|(v-ones*' ')|(quote-ones)|(slash-ones))&highs == 0 {
				n = at + 8
				continue
			}
		}
		switch c := s[n]; {
		case c < ' ' || c == '"' || c == '\\':
			return n
		case c < utf8.RuneSelf:
			n++
		default:
			r, size := utf8.DecodeRuneInString(string(s[n:min(len(s), n+utf8.UTFMax)]))
			if r == utf8.RuneError && size == 1 {
				return n
			}
			n += size
		}
	}
	return n
}

// appendEscape appends what stands for a byte that cannot stand for itself.
func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch {
	case c >= utf8.RuneSelf:
		return append(dst, "\ufffd"...)
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// AppendQuoted appends the string v as [AppendString] would append its text:
// mended, and with no escapes but those that it needs.
func AppendQuoted(dst []byte, v Value) []byte {
	from := 0 // what stands before is in dst
	for i := 1; ; {
		i += countPlain([]byte(v[i:]))
		switch c := v[i]; {
		case c == '"': // its last byte, as those before have a backslash
			return append(dst, v[from:]...)
		case c == '\\' && hasShortEscape(v[i+1]):
			i += 2
		default:
			dst = append(dst, v[from:i]...)
			dst, i = appendAnew(dst, v, i)
			from = i
		}
	}
}

// hasShortEscape reports whether [AppendString] writes the escape of a backslash and c.
func hasShortEscape(c byte) bool { return c == 'n' || c == '"' || c == '\\' || c == 'r' || c == 't' }

// appendAnew appends what AppendString writes for the byte or the escape at
// v[i], and returns what follows it.
func appendAnew(dst []byte, v Value, i int) (b []byte, next int) {
	var text [utf8.UTFMax]byte
	code := text[:1]
	switch {
	case v[i] != '\\':
		return appendEscape(dst, v[i]), i + 1
	case v[i+1] == 'u':
		var rest []byte
		code, rest = appendCode(text[:0], v[i+2:])
		i = len(v) - len(rest)
	default:
		text[0] = escapedByte(v[i+1])
		i += 2
	}
	if countPlain(code) == 0 {
		return appendEscape(dst, code[0]), i
	}
	return append(dst, code...), i
}

// Quote returns s as a JSON string.
func Quote[T string | []byte](s T) Value {
	return AppendString(make([]byte, 0, len(s)+2), s)
}

// AppendUnescaped appends the text of a checked string, given without its
// quotes. Half a surrogate pair becomes U+FFFD.
func AppendUnescaped(dst, s []byte) []byte {
	dst = slices.Grow(dst, len(s)) // a text is never longer than it is quoted
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 || n+1 == len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:n]...)
		c := s[n+1]
		s = s[n+2:]
		if c == 'u' {
			dst, s = appendCode(dst, s)
		} else {
			dst = append(dst, escapedByte(c))
		}
	}
}

// escapedByte returns what a backslash and c stand for.
func escapedByte(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// appendCode appends the character whose code in UTF-16 begins s, behind its
// \u, and returns what follows it.
func appendCode(dst, s []byte) (text, rest []byte) {
	r, ok := readHex4(s)
	if !ok {
		return utf8.AppendRune(dst, utf8.RuneError), s
	}
	s = s[4:]
	if utf16.IsSurrogate(r) {
		var low rune
		if len(s) > 2 && s[0] == '\\' && s[1] == 'u' {
			low, _ = readHex4(s[2:])
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			s = s[6:]
		}
	}
	return utf8.AppendRune(dst, r), s
}

// readHex4 reads four hexadecimal digits.
func readHex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
