// Package framing cuts the body of a provider's answer into events: server-sent events, JSON
// values, one a line or in an array, and the event streams of AWS.
package framing

import (
	"cmp"
	"sync"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

// DefaultMaxEvent bounds one event, in bytes, where nothing else is said.
const DefaultMaxEvent = 16 << 20

// Options says how a body is cut. The zero value is FramingAuto with the
// default bound.
type Options struct {
	Framing     string // abi.FramingAuto and so on; default auto
	ContentType string // of the response, for auto
	MaxEvent    int    // bytes of one event; default 16 MiB
}

// A Framer cuts a response body into events, whatever the chunks it comes in:
// the same bytes give the same events however they are split.
//
// A caller reads into [Framer.Room], then asks [Framer.Take] for the events
// that are whole by now, and at the body's end [Framer.End] for those held
// back. Events are slices of the framer's buffer, good until the next Room,
// Feed or End. Where a body breaks the rules, the events before the break come
// together with the error, which is a [*outbound.Error].
//
// All framings but awsEventStream, which is binary, drop one byte order mark and
// put U+FFFD in place of invalid UTF-8; a body that begins with "<" is an error
// page and refused. A type of the body's own that begins with a colon is made
// empty: those are the host's.
type Framer struct {
	max    int
	framer framing
	state  framerState
	html   bool // the content type says so

	buf    []byte
	room   *[filledBuffer]byte // of rooms; nil: buf is not from there
	rests  bool                // it may be
	r, w   int                 // buf[r:w] waits to be parsed
	filled bool                // a read filled buf
	events []abi.Event
	types  map[string]string
	mended []byte        // holds the data of events that were not UTF-8, or had half a character
	half   [halfLen]byte // the half that an event ended with; zeros: none
	err    error
	any    bool // an event was found

	sse  sseState
	json jsonState
}

type framing uint8

const (
	framingAuto framing = iota
	framingSSE
	framingLines
	framingArray
	framingAWS
)

type framerState uint8

const (
	atStart framerState = iota
	afterMark
	inBody
)

// Sizes in bytes. Ten thousand open streams have a buffer each, so it starts
// small: enough for the two events that many an answer begins with, the role and
// the first word. It grows where a read fills it, which says that more is
// waiting.
const (
	firstBuffer  = 768
	filledBuffer = 4 << 10
	maxSniff     = 1 << 10 // of leading space before the framing is taken as SSE
)

// New returns a framer at the start of a body. An unknown framing is
// taken as auto.
func New(o Options) *Framer {
	f := &Framer{max: cmp.Or(o.MaxEvent, DefaultMaxEvent)}
	kind := contentKind(o.ContentType)
	f.html = kind == contentHTML
	switch o.Framing {
	case abi.FramingSSE:
		f.framer = framingSSE
	case abi.FramingJSONLines:
		f.framer, f.json.strict = framingLines, true
	case abi.FramingJSONArray:
		f.framer = framingArray
	case abi.FramingAWSEventStream:
		f.framer = framingAWS
	default:
		if kind == contentAWS {
			f.framer = framingAWS
		}
		f.json.likely = kind == contentJSON
		f.sse.likely = kind == contentSSE
	}
	return f
}

// rooms are the buffers of framers that rest, see [Framer.Rest].
var rooms = sync.Pool{New: func() any { return new([filledBuffer]byte) }}

// Rest lets the buffer go where nothing is in it, until the next Room: a stream that
// waits needs none. Events handed out before are no longer good.
func (f *Framer) Rest() {
	f.compact()
	if f.w > 0 || f.sse.has || f.sse.bare {
		return
	}
	f.rests = true
	f.leaveRoom()
}

// leaveRoom gives back the buffer that is of rooms, where there is one.
func (f *Framer) leaveRoom() {
	if f.room != nil {
		rooms.Put(f.room)
		f.buf, f.room = nil, nil
	}
}

// Room returns space to read into, never empty. It moves what is left of the
// body, so events handed out before are no longer good.
func (f *Framer) Room() []byte {
	f.compact()
	if f.rests && f.buf == nil {
		f.room = rooms.Get().(*[filledBuffer]byte)
		f.buf = f.room[:]
	}
	least := firstBuffer
	if f.filled {
		least = filledBuffer
	}
	if cap(f.buf)-f.w < least/2 {
		grown := make([]byte, max(least, 2*cap(f.buf)))
		copy(grown, f.buf[:f.w])
		f.leaveRoom()
		f.buf = grown
	}
	return f.buf[f.w:]
}

// Take says that n bytes were put into the start of Room, and returns the
// events that are whole now; often none.
func (f *Framer) Take(n int) ([]abi.Event, error) {
	f.w += n
	f.filled = f.filled || f.w == cap(f.buf)
	return f.parse(false)
}

// Feed copies p in and returns the events that are whole now.
func (f *Framer) Feed(p []byte) ([]abi.Event, error) {
	f.compact()
	if len(f.buf)-f.w < len(p) {
		grown := make([]byte, max(firstBuffer, 2*(f.w+len(p))))
		copy(grown, f.buf[:f.w])
		f.leaveRoom()
		f.buf = grown
	}
	return f.Take(copy(f.buf[f.w:], p))
}

// End says that the body ended as it should, and returns the events that were
// held back for want of a delimiter. A JSON value or array without an end is
// an error, and so is an HTML page.
func (f *Framer) End() ([]abi.Event, error) { return f.parse(true) }

func (f *Framer) parse(last bool) ([]abi.Event, error) {
	f.events, f.mended = f.events[:0], f.mended[:0]
	if f.err != nil {
		return nil, f.err
	}
	if f.framer == framingAWS {
		f.parseAWS(last)
		return f.events, f.err
	}
	if f.state != inBody {
		f.begin(last)
	}
	if f.err == nil && f.state == inBody {
		if f.framer == framingSSE {
			f.parseSSE(last)
		} else {
			f.parseJSON(last)
		}
	}
	f.any = f.any || len(f.events) > 0
	if last && f.err == nil && f.html && !f.any {
		f.err = htmlError()
	}
	return f.events, f.err
}

// emit adds an event whose type and data are parts of the buffer.
func (f *Framer) emit(typ string, data []byte) {
	if !utf8.Valid(data) {
		from := len(f.mended)
		f.mended = appendMended(f.mended, data)
		data = f.mended[from:len(f.mended):len(f.mended)]
	}
	f.events = append(f.events, abi.Event{Type: typ, Data: f.pair(data)})
}

// compact moves what is still needed to the front of the buffer.
func (f *Framer) compact() {
	keep := f.r
	if f.sse.has {
		// The event under way, then one byte for the LF that joins the next
		// line to it, then what is not parsed. What lies between is used up.
		keep = f.sse.from
		if to := f.sse.to + 1; to < f.r {
			copy(f.buf[to:], f.buf[f.r:f.w])
			f.shift(f.r - to)
		}
	}
	if keep == 0 {
		return
	}
	copy(f.buf, f.buf[keep:f.w])
	f.sse.from -= keep
	f.sse.to -= keep
	f.shift(keep)
}

// shift tells that buf[r:w] now lies n bytes lower.
func (f *Framer) shift(n int) {
	f.r -= n
	f.w -= n
	f.sse.lf -= n
	f.sse.cr -= n
	f.json.at -= n
}
