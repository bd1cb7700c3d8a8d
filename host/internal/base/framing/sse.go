package framing

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/base/outbound"
)

// sseState is the event under way. Its data is buf[from:to] while has is set:
// lines are joined in place, since what they lose is never less than the LF
// that joins them.
type sseState struct {
	has      bool
	from, to int
	typ      string
	bare     bool     // the data is a JSON value that came without "data:"
	scan     jsonScan // of the bare value
	skipLF   bool     // the last line ended in CR: an LF now belongs to it
	likely   bool     // the content type says so

	// No LF lies in buf[r:lf], no CR in buf[r:cr]: nothing is looked at twice
	// when a line comes in pieces.
	lf, cr int
}

// parseSSE reads the lines that are whole, by the rules of the WHATWG's event
// streams, with four liberties, since providers take them: a last event
// without its blank line counts at the end of the body; a JSON object on lines
// of its own, outside any field, counts as an event; and so does a first line
// after leading space; a field called error is the data of an event of that type.
func (f *Framer) parseSSE(last bool) {
	for f.err == nil {
		if f.sse.skipLF && f.r < f.w {
			f.sse.skipLF = false
			if f.buf[f.r] == '\n' {
				f.r++
			}
		}
		end, whole := f.lineEnd()
		if !whole {
			break
		}
		f.sse.skipLF = f.buf[end] == '\r'
		from := f.r
		f.r = end + 1
		f.line(from, end)
	}
	if f.err == nil && f.w-f.r > f.max {
		f.err = tooLongEvent(f.max)
	}
	if last && f.err == nil {
		if f.r < f.w {
			from := f.r
			f.r = f.w
			f.line(from, f.w)
		}
		if !f.sse.bare {
			f.dispatch()
		}
	}
}

// lineEnd finds the CR or LF that ends the line at r.
func (f *Framer) lineEnd() (end int, whole bool) {
	s := &f.sse
	s.lf = seek(f.buf[:f.w], max(s.lf, f.r), '\n')
	s.cr = seek(f.buf[:s.lf], max(s.cr, f.r), '\r')
	end = min(s.lf, s.cr)
	return end, end < f.w
}

// seek returns where the first c at or after from is, len(b) if nowhere. A
// from past the end is returned as it is.
func seek(b []byte, from int, c byte) int {
	if from >= len(b) || b[from] == c {
		return from
	}
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

// line takes buf[from:end], a line without its end.
func (f *Framer) line(from, end int) {
	b := f.buf[from:end]
	if len(b) > f.max {
		f.err = tooLongEvent(f.max)
		return
	}
	if f.sse.bare {
		if !isField(b) {
			f.bareLine(from, end)
			return
		}
		// An object that never closes must not swallow the events after it.
		f.sse.bare, f.sse.has = false, false
	}
	if len(b) == 0 {
		f.dispatch()
		return
	}
	if b[0] == '{' {
		if f.sse.has {
			f.dispatch()
		}
		f.sse.bare, f.sse.scan = true, jsonScan{}
		f.bareLine(from, end)
		return
	}
	name, value := b, b[len(b):]
	if i := bytes.IndexByte(b, ':'); i >= 0 {
		name, value = b[:i], b[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) {
	case "data":
		f.data(end-len(value), end)
	case "event":
		f.sse.typ = f.typeName(value)
	case "error": // llama.cpp's, of some versions
		f.sse.typ = "error"
		f.data(end-len(value), end)
	}
}

// isField reports whether a line is a field that providers send, or a comment:
// no line of a JSON value begins so.
func isField(b []byte) bool {
	return bytes.HasPrefix(b, []byte("data:")) || bytes.HasPrefix(b, []byte("event:")) || bytes.HasPrefix(b, []byte("error:")) || len(b) > 0 && b[0] == ':'
}

// data adds buf[from:end] to the data of the event under way.
func (f *Framer) data(from, end int) {
	s := &f.sse
	if !s.has {
		s.has, s.from, s.to = true, from, end
	} else {
		f.buf[s.to] = '\n'
		s.to += 1 + copy(f.buf[s.to+1:], f.buf[from:end])
	}
	if s.to-s.from > f.max {
		f.err = tooLongEvent(f.max)
	}
}

// bareLine adds a line to a JSON value that came without "data:", and
// dispatches it once it is whole.
func (f *Framer) bareLine(from, end int) {
	s := &f.sse
	n := s.scan.next(f.buf[from:end])
	if n >= 0 {
		end = from + n
	}
	f.data(from, end)
	switch {
	case f.err != nil:
	case n >= 0:
		f.dispatch()
	case s.scan.str:
		// No JSON text goes on over the end of a line: it was none.
		s.bare, s.has = false, false
	}
}

// dispatch ends the event under way, at a blank line.
func (f *Framer) dispatch() {
	s := &f.sse
	if s.has {
		f.emit(s.typ, f.buf[s.from:s.to:s.to])
	}
	s.has, s.bare, s.typ = false, false, ""
}

// Streams use a handful of types: each is allocated once.
const (
	maxTypes   = 64
	maxTypeLen = 64
)

func (f *Framer) typeName(b []byte) string {
	if s, ok := f.types[string(b)]; ok {
		return s
	}
	s := string(appendMended(nil, b))
	if strings.HasPrefix(s, ":") {
		s = ""
	}
	if len(b) <= maxTypeLen && len(f.types) < maxTypes {
		if f.types == nil {
			f.types = make(map[string]string)
		}
		f.types[string(b)] = s
	}
	return s
}

func tooLongEvent(limit int) error {
	return &outbound.Error{
		Kind:    outbound.TooLong,
		Message: fmt.Sprintf("one event of the provider's answer is longer than %d bytes", limit),
	}
}
