package transport

// Where a [Framing] is in a request.
type place uint8

const (
	atStart place = iota // of a request
	inLine               // the request line
	atLineEnd
	atHeader // start of a line of the head, or of the trailers
	inName
	inValue
	atValueEnd
	atHeadEnd
	inBody // of a length that is told
	inSize
	inExtension
	atSizeEnd
	inChunk
	atChunkReturn
	atChunkEnd
)

// Which header a [Framing] reads the value of.
type header uint8

const (
	plain header = iota
	contentLength
	transferEncoding
)

// A Framing follows the framing of HTTP/1.1 requests, one behind the other, in
// the bytes of a connection as they come in, and finds those that readers of
// HTTP cut in different ways (RFC 9112, sections 2 to 7). What has passed has one
// reading: lines end in CR LF, no line holds another control character than a tab in
// a value, and a body has one length or chunks. The content of bodies is not
// looked at. Its zero value is at the start of a request. It keeps no bytes.
type Framing struct {
	place   place
	header  header
	trailer bool  // the lines are behind the last chunk
	length  bool  // a Content-Length was there
	chunked bool  // a Transfer-Encoding was there
	ended   bool  // the value of a header that counts is over: only spaces may follow
	matched int   // bytes of the name or value that are as they must be, or digits
	left    int64 // bytes of the body, or of the chunk, that are to come
	extra   int64 // bytes of extensions, less twice those of chunks
	name    header
	fault   error
}

// Check follows b, which comes behind what was checked before, and returns how
// many of its bytes may be passed on: all of them, or those before the byte that is
// wrong with err, a [Malformed]. From then on it returns 0 and that error.
func (f *Framing) Check(b []byte) (n int, err error) {
	if f.fault != nil {
		return 0, f.fault
	}
	for n < len(b) {
		switch f.place {
		case inBody, inChunk:
			skip := min(f.left, int64(len(b)-n))
			n += int(skip)
			if f.left -= skip; f.left == 0 {
				if f.place == inBody {
					f.reset()
				} else {
					f.place = atChunkReturn
				}
			}
			continue
		case inLine:
			n += span(b[n:], lineByte)
		case inName:
			if f.name == plain {
				n += span(b[n:], nameByte)
			}
		case inValue:
			if f.header == plain {
				n += span(b[n:], valueByte)
			}
		case inExtension:
			passed := span(b[n:], valueByte)
			n += passed
			f.extra += int64(passed)
			if f.extra > maxExtension {
				f.fault = badLong
				return n, f.fault
			}
		}
		if n == len(b) {
			break
		}
		if bad := f.step(b[n]); bad != "" {
			f.fault = bad
			return n, f.fault
		}
		n++
	}
	return n, nil
}

// InBody reports whether what has passed ends behind the head of a request, and within it.
func (f *Framing) InBody() bool { return f.place >= inBody || f.trailer }

// BrokenOff reports whether what went wrong follows the last chunk of a body:
// the server takes the end of the connection for that of the body there.
func (f *Framing) BrokenOff() bool { return f.fault != nil && f.trailer }

// step takes one byte, and says what is wrong with it; "" where nothing is.
func (f *Framing) step(c byte) Malformed {
	switch f.place {
	case atStart:
		switch {
		case c == '\r' || c == '\n':
			return badEmptyLine
		case bytesOf[c]&lineByte == 0:
			return badLine
		}
		f.place = inLine
	case inLine: // what is none of its bytes
		return f.endLine(c, atLineEnd, badLine)
	case atLineEnd, atValueEnd:
		if c != '\n' {
			return badReturn
		}
		if f.place == atValueEnd {
			if bad := f.endValue(); bad != "" {
				return bad
			}
		}
		f.place = atHeader
	case atHeader:
		return f.beginHeader(c)
	case inName:
		return f.readName(c)
	case inValue:
		if f.header != plain && bytesOf[c]&valueByte != 0 {
			return f.readValue(c)
		}
		return f.endLine(c, atValueEnd, badValue)
	case atHeadEnd:
		if c != '\n' {
			return badReturn
		}
		return f.endHead()
	case inSize:
		return f.readSize(c)
	case inExtension: // what is none of its bytes
		if c == '\n' {
			return badSizeEnd
		}
		return f.endLine(c, atSizeEnd, badExtension)
	case atSizeEnd:
		if c != '\n' {
			return badReturn
		}
		f.endSize()
	case atChunkReturn:
		if c != '\r' {
			return badChunk
		}
		f.place = atChunkEnd
	case atChunkEnd:
		if c != '\n' {
			return badChunk
		}
		f.place, f.matched = inSize, 0
	}
	return ""
}

// endLine takes what is no byte of a line: next follows a carriage return.
func (f *Framing) endLine(c byte, next place, bad Malformed) Malformed {
	switch c {
	case '\r':
		f.place = next
		return ""
	case '\n':
		return badLineEnd
	}
	return bad
}

// reset goes to the start of the next request.
func (f *Framing) reset() { *f = Framing{} }
