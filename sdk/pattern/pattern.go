// Package pattern recognises events of a stream that need no parsing.
//
// Most events are alike to the byte but for the next few letters of the answer
// and a number or two. So when a provider has read one in full and found what
// mattered in it, the bytes between are kept as a pattern: literals, and holes
// for what may vary. An event that has the same literals is the same JSON with
// other strings and other numbers, and means what the one read in full meant.
// In a guest, seeing that takes a seventh of the time.
//
// It holds because JSON is read from front to back: a reader that has crossed
// the same literal stands in the same place, in the string or the number that
// the hole is for, and the same literal behind it ends that one. What a hole
// takes is therefore checked as the reader would, and no more than that: a
// string has right escapes, a number is a whole one. Anything else does not fit
// and is read in full, which may teach the next pattern.
//
// A [Reading] is what an event holds, whether it was read in full or fits a
// pattern. A [State] is the pattern that a stream carries in its provider's
// state; the literals stand at the end of the memo. [Kept] are the patterns that
// an instance keeps, for events that look as they did in the stream before.
//
// Package openai and the plugin anthropic have a stream carry a pattern made for
// just one string and the padding behind it: it takes a tenth less time.
package pattern

import (
	"bytes"
	"encoding/binary"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// The bounds of a pattern. Its literals travel with the stream, and an event
// with more is too long to be one of many.
const (
	MaxHoles    = 12
	MaxLiterals = 2 << 10
)

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
	tail  uint16 // bytes of the literal behind the last hole
	count uint8
	kind  uint8
	known bool
}

// Known reports whether there is a pattern.
func (s *State) Known() bool { return s.known }

// Tell makes the holes and the tail of p those of the pattern: what is skipped does
// not matter, other numbers are counts that the host reports. text is what the
// one string of it is; ok is false where it has none, or several.
func (s *State) Tell(literals []byte, skipped uint8, p *abi.Pattern) (text uint8, ok bool) {
	texts := 0
	p.Holes = p.Holes[:0]
	for i := range s.holes[:s.count] {
		h := &s.holes[i]
		told := abi.Hole{What: abi.HoleString, Before: literals[:h.before]}
		literals = literals[h.before:]
		switch {
		case h.what == skipped && h.number:
			told.What = abi.HoleNumber
		case h.what == skipped:
		case h.number:
			told.What, p.Report = abi.HoleCount, true
		default:
			told.What, text = abi.HoleText, h.what
			texts++
		}
		p.Holes = append(p.Holes, told)
	}
	p.Tail = literals
	return text, s.known && texts == 1
}

// Has reports whether a hole of the pattern is for that.
func (s *State) Has(what uint8) bool {
	for i := range s.holes[:s.count] {
		if s.holes[i].what == what {
			return true
		}
	}
	return false
}

// Matched reads what the host matched by the pattern: the bytes of text, and for
// each number what it is and what it was at last. ok is false for data that is
// not of the pattern.
func (s *State) Matched(data []byte, count func(what uint8, n uint64)) (text uint64, ok bool) {
	_, text, counts, ok := abi.Matched(data)
	for i := range s.holes[:s.count] {
		if h := &s.holes[i]; ok && h.number {
			if ok = len(counts) > 0; ok {
				count(h.what, binary.LittleEndian.Uint64(counts))
				counts = counts[8:]
			}
		}
	}
	return text, ok
}

// Match reports whether doc is of the pattern, and makes r the reading of it.
func (s *State) Match(literals, doc []byte, r *Reading) bool {
	// The end first: where two patterns begin alike, it mostly tells.
	tail := int(s.tail)
	if !s.known || len(doc) < tail || string(doc[len(doc)-tail:]) != string(literals[len(literals)-tail:]) {
		return false
	}
	at, from := 0, 0 // in doc, in literals
	for i := range s.holes[:s.count] {
		h, f := &s.holes[i], &r.found[i]
		n := int(h.before)
		if len(doc)-at < n || string(doc[at:at+n]) != string(literals[from:from+n]) {
			return false
		}
		at, from = at+n, from+n
		f.What, f.from = h.what, at
		if h.number {
			if f.N, at = readDigits(doc, at); at < 0 {
				return false
			}
			f.to = at
			continue
		}
		if n = bytes.IndexByte(doc[at:], '"'); n < 0 {
			return false
		}
		f.escaped = bytes.IndexByte(doc[at:at+n], '\\') >= 0
		if f.escaped {
			if n = rawjson.EndOfString(doc[at:]); n < 0 {
				return false
			}
		}
		at += n
		f.to = at
	}
	r.doc, r.Kind, r.count, r.spoiled = doc, s.kind, int(s.count), true // it teaches nothing
	return at == len(doc)-tail
}

// readDigits reads the whole number at doc[at], and returns where it ends, -1 where
// there is none: a sign, a zero in front and more digits than fit are not read.
// A fraction or an exponent is left for the literal behind, which begins with
// neither. It is not inlined: in a guest a loop costs by the function that it
// stands in.
//
//go:noinline
func readDigits(doc []byte, at int) (n uint64, end int) {
	for end = at; end < len(doc) && doc[end] >= '0' && doc[end] <= '9'; end++ {
		n = n*10 + uint64(doc[end]-'0')
	}
	if end == at || end-at > abi.MaxDigits || doc[at] == '0' && end-at > 1 {
		return 0, -1
	}
	return n, end
}
