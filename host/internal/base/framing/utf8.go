package framing

import "unicode/utf8"

// appendMended appends b to dst with U+FFFD in place of what is not UTF-8: one
// for each longest run of bytes that could have begun a character, as the
// WHATWG's decoder has it. ([bytes.ToValidUTF8] would put one for many.)
func appendMended(dst, b []byte) []byte {
	for len(b) > 0 {
		n := validPrefix(b)
		dst = append(dst, b[:n]...)
		if b = b[n:]; len(b) > 0 {
			dst = append(dst, "\uFFFD"...)
			b = b[brokenPrefix(b):]
		}
	}
	return dst
}

// validPrefix returns how many bytes at the start of b are UTF-8.
func validPrefix(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// brokenPrefix returns how many bytes one replacement stands for, at the start
// of a b that does not begin with a character: the first byte, and those after
// it that it could have been followed by.
func brokenPrefix(b []byte) int {
	var need int
	low, high := byte(0x80), byte(0xbf)
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			low = 0xa0
		}
		if c == 0xed {
			high = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			low = 0x90
		}
		if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for ; n <= need && n < len(b); n++ {
		if b[n] < low || b[n] > high {
			break
		}
		low, high = 0x80, 0xbf
	}
	return n
}
