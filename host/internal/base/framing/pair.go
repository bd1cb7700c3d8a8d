package framing

import "bytes"

// A character beyond U+FFFF is escaped in JSON as two halves, \ud83d\ude00. A server that
// cuts text between the two sends one half at the end of a string, and the other at the
// beginning of one in a later event. Alone each would become U+FFFD. So the first half is
// moved from its event to that later one.

// halfLen is how long the escape of a half is.
const halfLen = len(`\ud83d`)

// pair returns data with the first halves at the ends of its strings taken out, and with
// those of an event before put in front of the second halves. Most data have no backslash,
// and are returned as they are.
func (f *Framer) pair(data []byte) []byte {
	if bytes.IndexByte(data, '\\') < 0 {
		return data
	}
	begin, from := len(f.mended), 0 // what stands before from is in f.mended
	half, used, ended := f.half, false, false
	for i := 0; ; {
		n := bytes.IndexByte(data[i:], '\\')
		if n < 0 || i+n+halfLen >= len(data) {
			break
		}
		i += n
		escape := data[i : i+halfLen]
		switch {
		case isHalf(escape, "89abAB") && data[i+halfLen] == '"':
			copy(half[:], escape)
			ended = true
			f.mended = append(f.mended, data[from:i]...)
			i += halfLen
			from = i
		case f.half[0] != 0 && isHalf(escape, "cdefCDEF") && i > 0 && data[i-1] == '"':
			used = true
			f.mended = append(append(f.mended, data[from:i]...), f.half[:]...)
			from = i
			i += halfLen
		default:
			i += 2
		}
	}
	switch {
	case ended:
		f.half = half
	case used:
		f.half = [halfLen]byte{}
	default:
		return data
	}
	f.mended = append(f.mended, data[from:]...)
	return f.mended[begin:len(f.mended):len(f.mended)]
}

// isHalf reports whether b, which begins with a backslash, is the escape of half a
// character: the fourth byte is one of digits.
func isHalf(b []byte, digits string) bool {
	if b[1] != 'u' || b[2]|0x20 != 'd' || bytes.IndexByte([]byte(digits), b[3]) < 0 {
		return false
	}
	for _, c := range b[4:] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}
