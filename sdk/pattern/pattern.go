// Package pattern recognises events of a stream that need no parsing.
//
// Most events are alike to the byte but for the next few letters of the answer
// and a number or two. So when a provider has read one in full and found what
// mattered in it, the bytes between are kept as a pattern: literals, and holes
// for what may vary. An event that has the same literals is the same JSON with
// another string and other numbers, and means what the one read in full meant.
// In a guest, seeing that takes a seventh of the time.
//
// It holds because JSON is read from front to back: a reader that has crossed
// the same literal stands in the same place, in the string or the number that
// the hole is for, and the same literal behind it ends that one. What a hole
// takes is therefore checked as the reader would, and no more than that: a
// string has right escapes, a number is a whole one. Anything else does not fit
// and is read in full, which may teach the next pattern.
//
// A [Draft] notes what an event was found to hold and makes the pattern of it. A
// [State] is the part of a provider's state that says how the pattern is cut;
// the literals stand at the end of the memo. A [Match] is what an event had in
// its holes.
//
// The plugin anthropic has a pattern of its own, for one string and padding: made
// for just that, it takes a tenth less time. So has package openai, beside the
// shapes that it keeps.
package pattern

import (
	"bytes"

	"github.com/parley-search/parley/sdk/rawjson"
)

// The bounds of a pattern. Its literals travel with the stream, and an event
// with more is too long to be one of many.
const (
	MaxHoles    = 8
	MaxLiterals = 2 << 10
)

// maxDigits is how long a number may be: a longer one might not fit.
const maxDigits = 18

// A hole is for the string, its bytes without the quotes, or for a number.
type hole struct {
	before uint16 // bytes of the literal before it
	number bool
	what   uint8
}

// A State is a pattern but for its literals. It has no pointers, so that it may
// stand in a provider's state; the zero State fits nothing.
type State struct {
	holes [MaxHoles]hole
	count uint8
}

// Known reports whether there is a pattern.
func (s *State) Known() bool { return s.count > 0 }

// A Match is what an event had in the holes, good as long as the event is. It
// is scratch memory: keep one in the provider's value.
type Match struct {
	Text    rawjson.Value // the string that mattered, with its quotes
	What    uint8         // what it is, as [Draft.Text] was told
	escaped bool
	count   uint8
	numbers [MaxHoles]Number
}

// A Number is one that [Draft.Number] was told of.
type Number struct {
	What uint8
	N    uint64
}

// Numbers returns them in the order in which they stand in the event.
func (m *Match) Numbers() []Number { return m.numbers[:m.count] }

// Plain returns the text as it reads: a part of the event, or, where it has
// escapes, scratch[:0] with the text appended.
func (m *Match) Plain(scratch []byte) []byte {
	text := m.Text[1 : len(m.Text)-1]
	if m.escaped {
		return rawjson.AppendUnescaped(scratch[:0], text)
	}
	return text
}

// Match reports whether doc is of the pattern, and puts what it holds into m.
func (s *State) Match(literals, doc []byte, m *Match) bool {
	if s.count == 0 {
		return false
	}
	m.count = 0
	at, from := 0, 0 // in doc, in literals
	for i := range s.holes[:s.count] {
		h := &s.holes[i]
		n := int(h.before)
		if len(doc)-at < n || string(doc[at:at+n]) != string(literals[from:from+n]) {
			return false
		}
		at, from = at+n, from+n
		if h.number {
			n, end := digits(doc, at)
			if end < 0 {
				return false
			}
			m.numbers[m.count] = Number{h.what, n}
			m.count++
			at = end
			continue
		}
		n = bytes.IndexByte(doc[at:], '"')
		if n < 0 {
			return false
		}
		m.What, m.escaped = h.what, bytes.IndexByte(doc[at:at+n], '\\') >= 0
		if m.escaped {
			if n = rawjson.EndOfString(doc[at:]); n < 0 {
				return false
			}
		}
		m.Text = doc[at-1 : at+n+1]
		at += n
	}
	return string(doc[at:]) == string(literals[from:])
}

// digits reads the whole number at doc[at], and returns where it ends, -1 where
// there is none: a sign, a zero in front and more digits than fit are not read.
// A fraction or an exponent is left for the literal behind, which begins with
// neither.
func digits(doc []byte, at int) (n uint64, end int) {
	for end = at; end < len(doc) && doc[end] >= '0' && doc[end] <= '9'; end++ {
		n = n*10 + uint64(doc[end]-'0')
	}
	if end == at || end-at > maxDigits || doc[at] == '0' && end-at > 1 {
		return 0, -1
	}
	return n, end
}
