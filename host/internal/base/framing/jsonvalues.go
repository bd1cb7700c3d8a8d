package framing

import (
	"bytes"
	"encoding/json"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// jsonScan finds where a JSON value that begins with a bracket or a quote
// ends. It checks nothing more: that is for who parses the value.
type jsonScan struct {
	depth    int
	str, esc bool
}

// next takes the next bytes of the value and returns how many of them belong
// to it, or -1 where all do and it goes on.
func (s *jsonScan) next(b []byte) int {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if s.str {
			switch {
			case s.esc:
				s.esc = false
			case c == '\\':
				s.esc = true
			case c == '\n' || c == '\r':
				return i // no string has one: the value was cut off, and the next one follows
			case c == '"':
				s.str = false
				if s.depth == 0 {
					return i + 1
				}
			}
			continue
		}
		switch c {
		case '"':
			s.str = true
		case '{', '[':
			s.depth++
		case '}', ']':
			s.depth--
			if s.depth <= 0 {
				return i + 1
			}
		}
	}
	return -1
}

// jsonState is the value under way: it begins at r and was scanned up to at.
type jsonState struct {
	in     jsonKind
	at     int
	scan   jsonScan
	array  bool // inside the array of a JSON array
	likely bool // the content type says so
	strict bool // the framing was asked for: a line that is not JSON says so by its type
}

type jsonKind uint8

const (
	jsonNone    jsonKind = iota
	jsonNested           // begins with a bracket or a quote
	jsonLiteral          // anything else: up to the end of the line, in an array up to the next comma
)

// parseJSON reads the values that are whole: one after another with space or
// commas between them, over as many lines as they like, and in an array where
// the framing is that.
func (f *Framer) parseJSON(last bool) {
	for f.err == nil && f.value(last) {
	}
	if f.err != nil {
		return
	}
	if f.json.in != jsonNone && f.w-f.r > f.max {
		f.err = tooLongEvent(f.max)
		return
	}
	if last && (f.json.in != jsonNone || f.json.array) {
		f.err = &outbound.Error{
			Kind:    outbound.Broken,
			Message: "the provider's answer ended in the middle of a JSON value",
		}
	}
}

// value reads one value, and reports false where the buffer has no whole one.
func (f *Framer) value(last bool) bool {
	s := &f.json
	if s.in == jsonNone && !f.valueStart() {
		return false
	}
	rest := f.buf[s.at:f.w]
	var n int
	if s.in == jsonNested {
		n = s.scan.next(rest)
	} else {
		n = f.literalEnd(rest)
		if n < 0 && last {
			n = len(rest)
		}
	}
	if n < 0 {
		s.at = f.w
		return false
	}
	b := f.buf[f.r : s.at+n : s.at+n]
	if len(b) > f.max {
		f.err = tooLongEvent(f.max)
		return false
	}
	typ := ""
	if s.in == jsonLiteral {
		b = bytes.TrimRight(b, " \t\r")
		if s.strict && !json.Valid(b) {
			typ = abi.EventText
		}
	}
	f.r = s.at + n
	s.in = jsonNone
	f.emit(typ, b)
	return true
}

// valueStart goes to the first byte of the next value.
func (f *Framer) valueStart() bool {
	s := &f.json
	for ; f.r < f.w; f.r++ {
		c := f.buf[f.r]
		switch {
		case rawjson.IsSpace(c) || c == ',':
			continue
		case f.framer == framingArray && c == '[' && !s.array:
			s.array = true
			continue
		case f.framer == framingArray && c == ']' && s.array:
			s.array = false
			continue
		case c == '{' || c == '[' || c == '"':
			s.in = jsonNested
		default:
			s.in = jsonLiteral
		}
		s.at, s.scan = f.r, jsonScan{}
		return true
	}
	return false
}

// literalEnd returns where a number, a word or what else is not JSON ends.
func (f *Framer) literalEnd(b []byte) int {
	if f.framer == framingArray && f.json.array {
		return bytes.IndexAny(b, ",]\r\n")
	}
	return bytes.IndexAny(b, "\r\n")
}
