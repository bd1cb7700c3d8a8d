package framing

import (
	"bytes"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// begin drops the byte order mark and settles the framing, or leaves the state
// as it is where more bytes are needed for that.
func (f *Framer) begin(last bool) {
	const mark = "\xef\xbb\xbf"
	b := f.buf[f.r:f.w]
	if f.state == atStart {
		if !last && len(b) < len(mark) && string(b) == mark[:len(b)] {
			return
		}
		if bytes.HasPrefix(b, []byte(mark)) {
			f.r += len(mark)
			b = b[len(mark):]
		}
		f.state = afterMark
	}
	n, first := 0, byte(0)
	for n < len(b) && n < maxSniff && rawjson.IsSpace(b[n]) {
		n++
	}
	switch {
	case n < len(b) && n < maxSniff:
		first = b[n]
	case !last && n < maxSniff:
		return
	}
	f.r += n
	f.state = inBody
	switch {
	case first == '<':
		f.err = htmlError()
	case f.framer == framingAuto:
		f.framer = f.sniff(first)
	}
}

// sniff chooses the framing of a body that begins with first.
func (f *Framer) sniff(first byte) framing {
	switch {
	case first == '[':
		return framingArray
	case first == '{' && !f.sse.likely:
		return framingLines
	case f.json.likely && !looksLikeSSE(first):
		return framingLines
	}
	return framingSSE
}

// looksLikeSSE reports whether a line of an event stream may begin with c: a
// comment, or one of the fields data, event, id, retry. Some servers name
// their event streams application/json.
func looksLikeSSE(c byte) bool {
	return c == ':' || c == 'd' || c == 'e' || c == 'i' || c == 'r' || c == 0
}

func htmlError() error {
	return &outbound.Error{
		Kind:    outbound.Broken,
		Message: "the provider answered HTML where a stream was expected; check that baseUrl points at its API",
	}
}
