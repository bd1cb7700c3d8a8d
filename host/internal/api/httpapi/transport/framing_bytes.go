package transport

// The kinds of bytes, as bits.
const (
	nameByte  = 1 << iota // of a header's name: a token of RFC 9110, section 5.6.2
	valueByte             // of a header's value and of a chunk's extension: no control character but the tab
	lineByte              // of a request line: no control character
)

var bytesOf = func() (kinds [256]uint8) {
	for c := range kinds {
		if c >= 0x20 && c != 0x7f {
			kinds[c] = valueByte | lineByte
		}
	}
	kinds['\t'] = valueByte
	for c := '0'; c <= 'z'; c++ {
		if c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' {
			kinds[c] |= nameByte
		}
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		kinds[c] |= nameByte
	}
	return kinds
}()

// span is how many bytes at the start of b are of a kind.
func span(b []byte, kind uint8) int {
	for i, c := range b {
		if bytesOf[c]&kind == 0 {
			return i
		}
	}
	return len(b)
}
