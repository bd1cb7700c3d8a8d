package transport

// A Malformed is what is wrong with the bytes of a request, as the end of a
// sentence that begins with "since".
type Malformed string

// Error implements error.
func (m Malformed) Error() string { return string(m) }

// What a [Framing] refuses. Each of them is read in more than one way by the
// servers and proxies there are, but those that are no HTTP at all.
const (
	badEmptyLine Malformed = "an empty line stands before it"
	badLine      Malformed = "its first line holds a control character"
	badLineEnd   Malformed = "a line of its head ends without a carriage return"
	badReturn    Malformed = "a carriage return stands within a line"
	badFold      Malformed = "a header continues on a second line"
	badSpace     Malformed = "the name of a header holds a space"
	badName      Malformed = "the name of a header is missing or holds a character that none may have"
	badColon     Malformed = "a header has no colon"
	badValue     Malformed = "the value of a header holds a control character"
	badLength    Malformed = "its Content-Length is no number"
	badLengths   Malformed = "it has more than one Content-Length"
	badEncoding  Malformed = "its Transfer-Encoding is not chunked"
	badEncodings Malformed = "it has more than one Transfer-Encoding"
	badBoth      Malformed = "it has both Content-Length and Transfer-Encoding"
	badSize      Malformed = "the size of a chunk is no number of at most 15 hexadecimal digits"
	badSizeEnd   Malformed = "the line of a chunk's size ends without a carriage return"
	badExtension Malformed = "a chunk's extension holds a control character"
	badLong      Malformed = "the extensions of its chunks are too long"
	badChunk     Malformed = "a chunk is not as long as its size says"
)

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

const (
	contentLengthName    = "content-length"
	transferEncodingName = "transfer-encoding"
	chunkedName          = "chunked"
)

// maxExtension bounds the bytes of chunk extensions that a request may have
// beyond twice what is in its chunks: RFC 9112, section 7.1.1, asks for a bound.
const maxExtension = 4000

// maxDigits bounds the digits of a chunk's size.
const maxDigits = 15

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

// reset goes to the start of the next request.
func (f *Framing) reset() { *f = Framing{} }

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
