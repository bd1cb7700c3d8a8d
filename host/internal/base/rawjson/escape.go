package rawjson

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// plain[c] says that c stands for itself inside a JSON string. Bytes from 0x80
// on are looked at as characters.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, so that what is sent always is.
func AppendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	b = AppendEscaped(b, s)
	return append(b, '"')
}

// AppendEscaped appends s as it stands between the quotes of a JSON string.
func AppendEscaped[T string | []byte](b []byte, s T) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			end := min(i+utf8.UTFMax, len(s))
			r, n := utf8.DecodeRuneInString(string(s[i:end]))
			if r != utf8.RuneError || n != 1 {
				i += n
				continue
			}
		}
		b = append(b, s[start:i]...)
		switch {
		case c == '"', c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, "\ufffd"...)
		}
		i++
		start = i
	}
	return append(b, s[start:]...)
}
