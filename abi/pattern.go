package abi

import "encoding/binary"

// A Pattern is the payload of a [RecordPattern]: it says of which events of a
// response decode makes one piece of text, and nothing else. An event is of the
// pattern where its type is Type and its data are the literals with what the
// holes are for between them.
type Pattern struct {
	Kind   RecordKind // what the piece is: RecordText, RecordReasoning, RecordRefusal or RecordToolArguments
	Report bool       // the guest is told with the next call what was matched: see [EventMatched]
	Index  uint32     // of RecordToolArguments: the call
	Type   []byte
	Holes  []Hole
	Tail   []byte // the literal behind the last hole
}

// A Hole is a place of a [Pattern] for what may vary.
type Hole struct {
	What   HoleKind
	Before []byte // the literal before it
}

// A HoleKind says what a [Hole] is for.
type HoleKind uint8

// The kinds of holes. A string is what stands between the quotes, which belong
// to the literals; a number is a whole one without sign, of at most [MaxDigits].
const (
	HoleText   HoleKind = 1 // the string that is the piece of text; a pattern has one
	HoleString HoleKind = 2 // a string that does not matter
	HoleNumber HoleKind = 3 // a number that does not matter
	HoleCount  HoleKind = 4 // a number above 0 that is reported
	HoleSpaces HoleKind = 5 // any number of spaces, none as well
)

// The bounds of a pattern.
const (
	MaxHoles   = 16
	MaxDigits  = 18      // of a number
	MaxPattern = 4 << 10 // bytes of the payload
)

// EventMatched is the type of the event that tells what a pattern with Report
// has matched since the last call; see [AppendMatched].
const EventMatched = ":matched"

const patternReport = 1 << 0 // of the flags

// AppendPattern appends a [RecordPattern]:
//
//	u8 kind, u8 holes, u16 flags (1: report), u32 index, u32 n, type,
//	holes × (u8 what, 3 zero bytes, u32 n, literal before it), literal behind
func AppendPattern(b []byte, p *Pattern) []byte {
	n := 12 + len(p.Type) + len(p.Tail)
	for i := range p.Holes {
		n += 8 + len(p.Holes[i].Before)
	}
	b = AppendHead(b, RecordPattern, n)
	flags := byte(0)
	if p.Report {
		flags = patternReport
	}
	b = append(b, byte(p.Kind), byte(len(p.Holes)), flags, 0)
	b = appendBytes(binary.LittleEndian.AppendUint32(b, p.Index), p.Type)
	for i := range p.Holes {
		b = appendBytes(append(b, byte(p.Holes[i].What), 0, 0, 0), p.Holes[i].Before)
	}
	return append(b, p.Tail...)
}

// Pattern reads the payload of a [RecordPattern] into p, whose slices become
// parts of it. It returns [ErrMalformed] where the payload is none, or beyond
// the bounds.
func (r Record) Pattern(p *Pattern) error {
	b := r.Payload
	if len(b) < 12 || len(b) > MaxPattern || b[1] > MaxHoles {
		return ErrMalformed
	}
	p.Kind, p.Report, p.Index = RecordKind(b[0]), b[2]&patternReport != 0, binary.LittleEndian.Uint32(b[4:])
	switch p.Kind {
	case RecordText, RecordReasoning, RecordRefusal, RecordToolArguments:
	default:
		return ErrMalformed
	}
	p.Holes = p.Holes[:0]
	texts, n, ok := 0, int(b[1]), true
	if p.Type, b, ok = cutBytes(b[8:]); !ok {
		return ErrMalformed
	}
	for range n {
		if len(b) < 4 {
			return ErrMalformed
		}
		h := Hole{What: HoleKind(b[0])}
		if h.Before, b, ok = cutBytes(b[4:]); !ok || h.What < HoleText || h.What > HoleSpaces {
			return ErrMalformed
		}
		if h.What == HoleText {
			texts++
		}
		p.Holes = append(p.Holes, h)
	}
	p.Tail = b
	if texts != 1 || !p.quoted() {
		return ErrMalformed
	}
	return nil
}

// quoted reports whether the literals around each string have its quotes.
func (p *Pattern) quoted() bool {
	for i := range p.Holes {
		if w := p.Holes[i].What; w != HoleText && w != HoleString {
			continue
		}
		behind := p.Tail
		if i+1 < len(p.Holes) {
			behind = p.Holes[i+1].Before
		}
		before := p.Holes[i].Before
		if len(before) == 0 || before[len(before)-1] != '"' || len(behind) == 0 || behind[0] != '"' {
			return false
		}
	}
	return true
}

// AppendMatched appends the data of an [EventMatched] event: u64 events that
// were matched, u64 bytes of their text, and u64 each the counts of the last one.
func AppendMatched(b []byte, events, text uint64, counts []uint64) []byte {
	b = binary.LittleEndian.AppendUint64(b, events)
	b = binary.LittleEndian.AppendUint64(b, text)
	for _, n := range counts {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// Matched reads the data of an [EventMatched] event; counts holds u64 each. ok is
// false where it is cut off.
func Matched(data []byte) (events, text uint64, counts []byte, ok bool) {
	if len(data) < 16 || len(data)%8 != 0 {
		return 0, 0, nil, false
	}
	return binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]), data[16:], true
}
