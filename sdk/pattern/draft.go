package pattern

import "github.com/parley-search/parley/sdk/rawjson"

// A Draft notes what an event was found to hold while it is read in full. The
// values given to it are parts of the event, and each is given once. It is
// scratch memory: keep one in the provider's value.
type Draft struct {
	doc     []byte
	texts   int
	spoiled bool
	count   int
	found   [MaxHoles]found // in the order in which they stand in doc
}

// found is what will be a hole: doc[from:to].
type found struct {
	from, to int
	number   bool
	what     uint8
}

// Begin starts with an event. The bytes are not copied until [Draft.Learn].
func (d *Draft) Begin(doc []byte) {
	d.doc, d.texts, d.spoiled, d.count = doc, 0, false, 0
}

// Text notes the string that mattered, and what it is. A pattern has one: an
// event with a second makes none.
func (d *Draft) Text(what uint8, v rawjson.Value) {
	d.texts++
	from := rawjson.Offset(d.doc, v)
	d.add(found{from + 1, from + len(v) - 1, false, what})
}

// Number notes a number that mattered, and what it is. One that is not written
// as digits alone makes no pattern.
func (d *Draft) Number(what uint8, v rawjson.Value) {
	if !whole(v) {
		d.spoiled = true
		return
	}
	from := rawjson.Offset(d.doc, v)
	d.add(found{from, from + len(v), true, what})
}

// Spoil says that the event held what a pattern has no word for.
func (d *Draft) Spoil() { d.spoiled = true }

// add keeps a hole in its place.
func (d *Draft) add(f found) {
	if d.count == MaxHoles {
		d.spoiled = true
		return
	}
	i := d.count
	for ; i > 0 && d.found[i-1].from > f.from; i-- {
		d.found[i] = d.found[i-1]
	}
	d.found[i] = f
	d.count++
}

// Learn makes the event the pattern and appends its literals to memo. It leaves
// both as they were and returns false where the event makes none: something was
// spoiled, no string mattered, or it is too long.
func (d *Draft) Learn(s *State, memo []byte) ([]byte, bool) {
	size := len(d.doc)
	for _, f := range d.found[:d.count] {
		size -= f.to - f.from
	}
	if d.spoiled || d.texts != 1 || size > MaxLiterals {
		return memo, false
	}
	*s = State{count: uint8(d.count)}
	at := 0
	for i, f := range d.found[:d.count] {
		s.holes[i] = hole{before: uint16(f.from - at), number: f.number, what: f.what}
		memo = append(memo, d.doc[at:f.from]...)
		at = f.to
	}
	return append(memo, d.doc[at:]...), true
}

// whole reports whether v is a number that a hole takes.
func whole(v rawjson.Value) bool {
	_, end := digits(v, 0)
	return end == len(v)
}
