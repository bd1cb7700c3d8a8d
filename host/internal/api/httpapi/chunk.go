package httpapi

import (
	"io"
	"sync"
)

// A chunk is the next one of a body in HTTP's chunked coding (RFC 9112, section
// 7.1), as it grows and until it is sent. Its buffer is one of spare's, and its
// own only while there is something to send.
type chunk struct {
	spare *sync.Pool // of *[]byte
	head  []byte     // of the response, which goes out with the first chunk
	plain bool       // what is sent has no size and no end: the client speaks HTTP/1.0
	buf   *[]byte    // room for the size, then the data; nil: no data
}

// chunkHead has the room that a size in hexadecimal needs, and its line's end.
const chunkHead = 8 + len("\r\n")

// lastChunk ends a body.
var lastChunk = []byte("0\r\n\r\n")

// maxKept is how large a buffer is kept for another chunk.
const maxKept = 64 << 10

// add puts a copy of data at the end.
func (c *chunk) add(data []byte) {
	if len(data) == 0 {
		return // an empty chunk would end the body
	}
	if c.buf == nil {
		var ok bool
		if c.buf, ok = c.spare.Get().(*[]byte); !ok {
			c.buf = new([]byte)
		}
		*c.buf = append((*c.buf)[:0], "00000000\r\n"...)
	}
	*c.buf = append(*c.buf, data...)
}

// waits reports whether there is something to send.
func (c *chunk) waits() bool { return len(c.head) > 0 || c.buf != nil }

// send writes what waits by one call, and begins an empty chunk.
func (c *chunk) send(w io.Writer) error {
	if !c.waits() {
		return nil
	}
	var out []byte
	if c.buf != nil && c.plain {
		out = (*c.buf)[chunkHead:]
	} else if c.buf != nil {
		from := chunkHead - len("\r\n")
		for n := len(*c.buf) - chunkHead; n > 0; n >>= 4 {
			from--
			(*c.buf)[from] = "0123456789abcdef"[n&15]
		}
		*c.buf = append(*c.buf, "\r\n"...)
		out = (*c.buf)[from:]
	}
	if len(c.head) > 0 {
		out, c.head = append(c.head, out...), nil
	}
	_, err := w.Write(out)
	if c.buf != nil && cap(*c.buf) <= maxKept {
		c.spare.Put(c.buf)
	}
	c.buf = nil
	return err
}
