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
	badLength    Malformed = "its Content-Length is not a number"
	badLengths   Malformed = "it has more than one Content-Length"
	badEncoding  Malformed = "its Transfer-Encoding is not chunked"
	badEncodings Malformed = "it has more than one Transfer-Encoding"
	badBoth      Malformed = "it has both Content-Length and Transfer-Encoding"
	badSize      Malformed = "the size of a chunk is not a number of at most 15 hexadecimal digits"
	badSizeEnd   Malformed = "the line of a chunk's size ends without a carriage return"
	badExtension Malformed = "a chunk's extension holds a control character"
	badLong      Malformed = "the extensions of its chunks are too long"
	badChunk     Malformed = "a chunk is not as long as its size says"
)
