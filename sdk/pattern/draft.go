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
	kind     uint8
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
	d.add(textHole, what, v)
}

// Number notes a number that mattered, and what it is, which is not 0. One that
// is not written as digits alone makes no pattern.
func (d *Draft) Number(what uint8, v rawjson.Value) {
	if !whole(v) {
		d.spoiled = true
		return
	}
	d.add(numberHole, what, v)
}

// Skip notes a string or a number that never matters, whatever it is.
func (d *Draft) Skip(v rawjson.Value) {
	switch {
	case d.count == MaxHoles: // then it may not vary
	case v.Kind() == rawjson.String:
		d.add(paddingHole, 0, v)
	case whole(v):
		d.add(numberHole, 0, v)
	}
}

// Spaces says that the event may have spaces before its last byte, as some
// providers pad events so.
func (d *Draft) Spaces() {
	to := len(d.doc) - 1
	from := to
	for from > 0 && d.doc[from-1] == ' ' {
		from--
	}
	d.insert(found{from: from, to: to, kind: spacesHole})
}

// Spoil says that the event held what a pattern has no word for.
func (d *Draft) Spoil() { d.spoiled = true }

// add notes a value; of a string, what stands between its quotes.
func (d *Draft) add(kind, what uint8, v rawjson.Value) {
	from := rawjson.Offset(d.doc, v)
	to := from + len(v)
	if kind != numberHole {
		from, to = from+1, to-1
	}
	d.insert(found{from, to, kind, what})
}

func (d *Draft) insert(f found) {
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
		s.holes[i] = hole{before: uint16(f.from - at), kind: f.kind, what: f.what}
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
