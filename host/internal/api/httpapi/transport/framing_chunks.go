package transport

// maxExtension bounds the bytes of chunk extensions that a request may have
// beyond twice what is in its chunks: RFC 9112, section 7.1.1, asks for a bound.
const maxExtension = 4000

// maxDigits bounds the digits of a chunk's size.
const maxDigits = 15

func (f *Framing) readSize(c byte) Malformed {
	digit := int64(-1)
	switch {
	case c >= '0' && c <= '9':
		digit = int64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		digit = int64(c|0x20-'a') + 10
	case f.matched == 0:
		return badSize
	case c == ';':
		f.place = inExtension
		return ""
	case c == '\r':
		f.place = atSizeEnd
		return ""
	case c == '\n':
		return badSizeEnd
	}
	if digit < 0 || f.matched == maxDigits {
		return badSize
	}
	f.left = f.left<<4 | digit
	f.matched++
	return ""
}

// endSize is the end of the line of a chunk's size.
func (f *Framing) endSize() {
	f.extra = max(0, f.extra-2*f.left)
	if f.left > 0 {
		f.place = inChunk
		return
	}
	f.place, f.trailer = atHeader, true
}
