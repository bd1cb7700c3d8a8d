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
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			i++
		case c < ' ' && inside:
			return false
		}
	}
	return utf8.Valid(v)
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	dst = append(slices.Grow(dst, len(s)+2), '"')
	start := 0
	for i := 0; i < len(s); {
		if i += plain(s[i:]); i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// plain returns how many bytes at the start of s stand for themselves in a JSON
// string, but for up to seven at the end of s: eight at a time, since each turn
// of a loop is dear in a guest.
func plain[T string | []byte](s T) (n int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(s); n += 8 {
		v := uint64(s[n]) | uint64(s[n+1])<<8 | uint64(s[n+2])<<16 | uint64(s[n+3])<<24 |
			uint64(s[n+4])<<32 | uint64(s[n+5])<<40 | uint64(s[n+6])<<48 | uint64(s[n+7])<<56
		quote, slash := v^ones*'"', v^ones*'\\'
		// Of each byte the highest bit: it is one itself, it is below a space, it is
		// a quote or a backslash. A carry sets it too often, never too seldom.
		if (v|(v-ones*' ')|(quote-ones)|(slash-ones))&highs != 0 {
			break
		}
	}
	return n
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
		i := n + 1
		switch c := s[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, ok := hex4(s[i+1:])
			if !ok {
				r = utf8.RuneError
			} else {
				i += 4
			}
			if utf16.IsSurrogate(r) {
				var low rune
				if i+2 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
					low, _ = hex4(s[i+3:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
		s = s[i+1:]
	}
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (r rune, ok bool) {
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
