package pattern

import (
	"bytes"

	"github.com/parley-search/parley/sdk/rawjson"
)

// A Reading is what an event was found to hold: told while it is read in full,
// or found by a pattern that it fits. It is scratch memory: keep one in the
// provider's value. What it says is good as long as the event is.
type Reading struct {
	// Kind is the provider's own: what an event is beside what it holds. It is
	// told and found with the rest.
	Kind uint8

	doc     []byte
	spoiled bool
	count   int
	found   [MaxHoles]Found // in the order in which they stand in doc
	scratch []byte          // unescaped text
}

// A Found is a value that mattered, and will be a hole.
type Found struct {
	What     uint8
	N        uint64 // of a number
	number   bool
	escaped  bool
	from, to int // in the event: the digits, or what stands between the quotes
}

// Begin starts to read an event in full. The values that are told are parts of
// it, and each is told once. The bytes are not copied until [Reading.Learn].
func (r *Reading) Begin(doc []byte) {
	r.Kind, r.doc, r.spoiled, r.count = 0, doc, false, 0
}

// String tells of a string that mattered, and what it is.
func (r *Reading) String(what uint8, v rawjson.Value) {
	from := rawjson.Offset(r.doc, v) + 1
	r.add(Found{What: what, escaped: bytes.IndexByte(v, '\\') >= 0, from: from, to: from + len(v) - 2})
}

// Number tells of a number that mattered, and what it is. An event with one that
// is not written as digits alone makes no pattern.
func (r *Reading) Number(what uint8, v rawjson.Value) {
	n, end := readDigits(v, 0)
	if end != len(v) {
		r.spoiled = true
		return
	}
	from := rawjson.Offset(r.doc, v)
	r.add(Found{What: what, N: n, number: true, from: from, to: from + len(v)})
}

// Vary tells of a value that varies, and what it is. Where it is neither a
// string nor a number as [Reading.Number] wants it, events that fit have the
// same.
func (r *Reading) Vary(what uint8, v rawjson.Value) {
	if v.Kind() == rawjson.String {
		r.String(what, v)
	} else if _, end := readDigits(v, 0); end == len(v) {
		r.Number(what, v)
	}
}

// StringIfAny is String for a value that may be absent. Something else in its place
// spoils the event.
func (r *Reading) StringIfAny(what uint8, v rawjson.Value) {
	switch v.Kind() {
	case rawjson.String:
		r.String(what, v)
	case rawjson.Absent:
	default:
		r.Spoil()
	}
}

// Spoil says that the event held what a pattern has no word for.
func (r *Reading) Spoil() { r.spoiled = true }

// add keeps what was found in its place.
func (r *Reading) add(f Found) {
	if r.count == MaxHoles {
		r.spoiled = true
		return
	}
	i := r.count
	for ; i > 0 && r.found[i-1].from > f.from; i-- {
		r.found[i] = r.found[i-1]
	}
	r.found[i] = f
	r.count++
}

// All returns what was found, in the order in which it stands in the event.
func (r *Reading) All() []Found { return r.found[:r.count] }

// Value returns a string with its quotes, as it stands in the event.
func (r *Reading) Value(f *Found) rawjson.Value { return r.doc[f.from-1 : f.to+1] }

// Digits returns the digits of a number.
func (r *Reading) Digits(f *Found) rawjson.Value { return r.doc[f.from:f.to] }

// Text returns a string as it reads: a part of the event, or, where it has
// escapes, memory that the next call uses again.
func (r *Reading) Text(f *Found) []byte {
	text := r.doc[f.from:f.to]
	if f.escaped {
		text = rawjson.AppendUnescaped(r.scratch[:0], text)
		r.scratch = text
	}
	return text
}

// literals returns how many bytes of the event stand outside of what was found.
func (r *Reading) literals() int {
	size := len(r.doc)
	for i := range r.found[:r.count] {
		size -= r.found[i].to - r.found[i].from
	}
	return size
}

// form is a number that events which make the same pattern have in common, and few others.
// It is never 0.
func (r *Reading) form() uint32 {
	return uint32(r.literals())<<16 | uint32(r.count+1)<<8 | uint32(r.Kind)
}

// Learn makes s the pattern of the event, and appends its literals to memo. It
// leaves both as they were and returns false where the event makes none:
// something was spoiled, it is too long, or it was found by a pattern.
func (r *Reading) Learn(s *State, memo []byte) ([]byte, bool) {
	if r.spoiled || r.literals() > MaxLiterals {
		return memo, false
	}
	*s = State{count: uint8(r.count), kind: r.Kind, known: true}
	at := 0
	for i := range r.found[:r.count] {
		f := &r.found[i]
		s.holes[i] = hole{before: uint16(f.from - at), number: f.number, what: f.What}
		memo = append(memo, r.doc[at:f.from]...)
		at = f.to
	}
	s.tail = uint16(len(r.doc) - at)
	return append(memo, r.doc[at:]...), true
}
