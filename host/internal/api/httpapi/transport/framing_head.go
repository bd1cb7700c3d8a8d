package transport

const (
	contentLengthName    = "content-length"
	transferEncodingName = "transfer-encoding"
	chunkedName          = "chunked"
)

func (f *Framing) beginHeader(c byte) Malformed {
	switch {
	case c == '\r':
		f.place = atHeadEnd
		return ""
	case c == '\n':
		return badLineEnd
	case c == ' ' || c == '\t':
		return badFold
	}
	f.place, f.matched, f.header = inName, 0, plain
	switch c | 0x20 { // where no other header begins so, the rest of the name is compared
	case contentLengthName[0]:
		f.name = contentLength
	case transferEncodingName[0]:
		f.name = transferEncoding
	default:
		f.name = plain
	}
	if c == ':' {
		return badName
	}
	return f.readName(c)
}

func (f *Framing) readName(c byte) Malformed {
	switch {
	case bytesOf[c]&nameByte != 0:
		if f.name != plain {
			if whole := f.name.text(); f.matched < len(whole) && c|0x20 == whole[f.matched] {
				f.matched++
			} else {
				f.name = plain
			}
		}
	case c == ':':
		if f.name != plain && f.matched == len(f.name.text()) && !f.trailer {
			f.header = f.name
		}
		f.place, f.matched, f.ended = inValue, 0, false
		switch f.header {
		case contentLength:
			if f.length {
				return badLengths
			}
			f.length = true
		case transferEncoding:
			if f.chunked {
				return badEncodings
			}
			f.chunked = true
		}
	case c == ' ' || c == '\t':
		return badSpace
	case c == '\r' || c == '\n':
		return badColon
	default:
		return badName
	}
	return ""
}

// text is the name of a header that counts, in small letters.
func (h header) text() string {
	if h == contentLength {
		return contentLengthName
	}
	return transferEncodingName
}

// readValue takes a byte of a header that counts.
func (f *Framing) readValue(c byte) Malformed {
	if c == ' ' || c == '\t' {
		f.ended = f.matched > 0
		return ""
	}
	if f.header == transferEncoding {
		if f.ended || f.matched == len(chunkedName) || c|0x20 != chunkedName[f.matched] {
			return badEncoding
		}
		f.matched++
		return ""
	}
	const most = (1<<63 - 1 - 9) / 10
	if f.ended || c < '0' || c > '9' || f.left > most {
		return badLength
	}
	f.left = f.left*10 + int64(c-'0')
	f.matched++
	return ""
}

// endValue is the end of a header's line.
func (f *Framing) endValue() Malformed {
	switch {
	case f.header == contentLength && f.matched == 0:
		return badLength
	case f.header == transferEncoding && f.matched != len(chunkedName):
		return badEncoding
	}
	return ""
}

// endHead is the end of a head or of the trailers.
func (f *Framing) endHead() Malformed {
	switch {
	case f.length && f.chunked:
		return badBoth
	case f.trailer:
		f.reset()
	case f.chunked:
		f.place, f.matched, f.left = inSize, 0, 0
	case f.left > 0:
		f.place = inBody
	default:
		f.reset()
	}
	return ""
}
