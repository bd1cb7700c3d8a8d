package plugintest

import (
	"bytes"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Frame cuts a body into events: messages of AWS's event stream where it begins
// as one does, JSON values one after the other or in an array where it begins as
// JSON does, server-sent events else. It knows as much as tests need; the host
// has its own.
func Frame(body []byte) []abi.Event {
	if isAWS(body) {
		return frameAWS(body)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if len(text) == 0 {
		return nil
	}
	switch text[0] {
	case '{':
		return frameJSON(text)
	case '[':
		return frameJSON(bytes.Trim(text, "[]"))
	case '<':
		return []abi.Event{{Data: text}}
	}
	var f Framer
	f.Write(body)
	return f.Close()
}

// frameJSON cuts JSON values apart by their brackets. A value that is cut off
// comes as it is, also where a line ends within one of its strings.
func frameJSON(b []byte) (events []abi.Event) {
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case quoted && (c == '\n' || c == '\r'):
			events = append(events, abi.Event{Data: b[start:i]})
			depth, quoted = 0, false
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth == 0 {
				start = i
			}
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				events = append(events, abi.Event{Data: b[start : i+1]})
				start = i + 1
			}
		}
	}
	if depth > 0 {
		events = append(events, abi.Event{Data: b[start:]})
	}
	return events
}

// A Framer cuts server-sent events that come in pieces.
type Framer struct {
	line   []byte
	afterC bool // the last byte was CR, which LF may follow
	typ    string
	data   []byte
	events []abi.Event
	begun  bool
	bare   []byte // a JSON object under way on lines of its own
}

// Write takes a piece of the body.
func (f *Framer) Write(p []byte) {
	for _, c := range p {
		if c == '\n' && f.afterC {
			f.afterC = false
			continue
		}
		f.afterC = c == '\r'
		if c == '\n' || c == '\r' {
			f.endLine()
			continue
		}
		f.line = append(f.line, c)
	}
}

// Close returns the events. One that the end of the body cut off counts where
// its line was whole.
func (f *Framer) Close() []abi.Event {
	if len(f.line) > 0 {
		f.endLine()
	}
	f.dispatch()
	return f.events
}

func (f *Framer) endLine() {
	line := f.line
	f.line = nil
	if !f.begun {
		f.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if len(f.bare) > 0 || bytes.HasPrefix(line, []byte("{")) {
		f.bareLine(line)
		return
	}
	if len(line) == 0 {
		f.dispatch()
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		f.data = append(append(f.data, value...), '\n')
	case "event":
		f.typ = string(value)
	}
}

// bareLine takes a line of a JSON object among events, as some servers send
// errors. One that does not close before the next event is dropped.
func (f *Framer) bareLine(line []byte) {
	if bytes.HasPrefix(line, []byte("data:")) || bytes.HasPrefix(line, []byte("event:")) {
		f.bare, f.line = nil, line
		f.endLine()
		return
	}
	f.bare = append(append(f.bare, line...), '\n')
	if v, ok := rawjson.Parse(f.bare); ok {
		f.dispatch()
		f.events = append(f.events, abi.Event{Data: v})
		f.bare = nil
	}
}

func (f *Framer) dispatch() {
	if len(f.data) > 0 {
		f.events = append(f.events, abi.Event{Type: f.typ, Data: f.data[:len(f.data)-1]})
	}
	f.typ, f.data = "", nil
}

// Rechunk returns the events of a body of server-sent events whose pieces end
// at the given places, in order.
func Rechunk(body []byte, ends ...int) []abi.Event {
	var f Framer
	from := 0
	for _, end := range ends {
		f.Write(body[from:end])
		from = end
	}
	f.Write(body[from:])
	return f.Close()
}

// LineEnds returns body with each line ended by end; one that is binary stays as
// it is.
func LineEnds(body []byte, end string) []byte {
	if isAWS(body) {
		return body
	}
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	return bytes.ReplaceAll(body, []byte("\n"), []byte(end))
}
