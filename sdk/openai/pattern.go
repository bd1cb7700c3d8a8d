package openai

import (
	"bytes"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Most events of a stream are alike to the byte but for one string: the next
// few letters. So when an event has been read in full and nothing but one
// string of it mattered, the bytes before and after that string are kept in the
// memo, as a pattern. An event that begins and ends with the same bytes, with a
// string in between, is the same JSON with another string, so it needs no
// parsing: in a guest that is about a fifth of the time. An event that differs
// anywhere is held against the patterns that the instance keeps, or read in full,
// and makes the next pattern.

// The strings that may vary.
const (
	textAnswer    = 1 + iota
	textReasoning // under reasoning_content
	textRefusal
	textArguments
	textReasoningShort // under reasoning
	textThinking       // in a part of content
	textTags           // in content, between tags
)

// recordOf is the kind of record that such a string makes.
var recordOf = [...]abi.RecordKind{
	textAnswer: abi.RecordText, textReasoning: abi.RecordReasoning,
	textRefusal: abi.RecordRefusal, textArguments: abi.RecordToolArguments,
	textReasoningShort: abi.RecordReasoning, textThinking: abi.RecordReasoning,
}

// patternState is the part of the state that says how the memo is cut: head,
// middle, tail, which have the quotes of the strings between them. The varying
// string stands between head and middle. Between middle and tail stands a string
// of padding; without one the pattern ends with middle.
type patternState struct {
	Head, Middle, Tail uint16
	What               uint8
	Padded             bool
	Typed              bool   // its event had a type
	Call               uint16 // of textArguments
}

const maxPattern = 2 << 10

// TellPattern is a provider's Pattern, see [provider.Patterned]: the host matches
// what the next calls would, and the memo need not travel. It is for providers
// that do nothing else with the events of a text: those which are matched do
// not come to Decode.
func (d *Decoder) TellPattern(s *State, out *provider.Out) {
	p := &s.Pattern
	if p.Head == 0 || p.Typed || s.Done {
		return
	}
	calls := s.aboutCalls()
	memo := out.Memo[calls:]
	head, memo := memo[:p.Head], memo[p.Head:]
	middle, tail := memo[:p.Middle], memo[p.Middle:]
	holes := [2]abi.Hole{{What: abi.HoleText, Before: head}, {What: abi.HoleString, Before: middle}}
	told := abi.Pattern{Kind: recordOf[p.What], Index: uint32(p.Call), Holes: holes[:], Tail: tail}
	if !p.Padded {
		told.Holes, told.Tail = holes[:1], middle
	}
	out.Pattern(&told)
	out.Memo, s.Pattern = out.Memo[:calls], patternState{}
}

// match takes an event that fits the pattern, and reports whether it did.
func (d *Decoder) match(s *State, data []byte, out *provider.Out) bool {
	p := &s.Pattern
	memo := out.Memo[s.aboutCalls():]
	head, memo := memo[:p.Head], memo[p.Head:]
	if !bytes.HasPrefix(data, head) {
		return false
	}
	data = data[len(head):]
	end := bytes.IndexByte(data, '"')
	if end < 0 {
		return false
	}
	text := data[:end]
	if bytes.IndexByte(text, '\\') >= 0 {
		if end, text = d.unescape(data); end < 0 {
			return false
		}
	}
	data = data[end:]
	middle, tail := memo[:p.Middle], memo[p.Middle:]
	if !bytes.HasPrefix(data, middle) {
		return false
	}
	data = data[len(middle):]
	if p.Padded {
		end := bytes.IndexByte(data, '"')
		if end < 0 || bytes.IndexByte(data[:end], '\\') >= 0 {
			return false
		}
		data = data[end:]
	}
	if !bytes.Equal(data, tail) {
		return false
	}
	emitText(p.What, int(p.Call), text, out)
	return true
}

// unescape reads a string with escapes from after its opening quote; end is
// where its closing quote stands, -1 where it is none that is right.
func (d *Decoder) unescape(data []byte) (end int, text []byte) {
	end = rawjson.EndOfString(data)
	if end < 0 {
		return -1, nil
	}
	text = rawjson.AppendUnescaped(d.scratch[:0], data[:end])
	d.scratch = text
	return end, text
}

// emitText writes a text as the record it belongs to.
func emitText(what uint8, call int, text []byte, out *provider.Out) {
	switch what {
	case textAnswer:
		out.Text(text)
	case textReasoning, textReasoningShort, textThinking:
		out.Reasoning(text)
	case textRefusal:
		out.Refusal(text)
	case textArguments:
		out.ToolArguments(call, text)
	}
}

// A piece is what an event was found to hold, to see whether it makes a pattern.
type piece struct {
	doc             []byte
	id, time, model rawjson.Value
	text            rawjson.Value // the one string that mattered
	free            rawjson.Value // a string of padding
	what            uint8
	call            uint16
	finish          finish
	usages          int // that were found
	count           [maxCounts]found
	counts          int               // of count that are of use
	member          [maxMembers]found // of the chunk, passed on
	members         int               // of member that are of use
	choice          bool              // there was something to pass on of the choice
	odd             bool              // there was something to pass on that no pattern has a hole for
	called          bool              // there was something about tool calls
	typed           bool              // the event had a type
	more            bool              // something else mattered, too
}

// A found value is one that a pattern which an instance keeps has a hole for.
type found struct {
	what  uint8
	value rawjson.Value
}

// The most of their kind that such a pattern has holes for.
const (
	maxCounts  = 5
	maxMembers = 3
)

// add notes a string that mattered.
func (p *piece) add(what uint8, call int, v rawjson.Value) {
	if len(p.text) > 0 {
		p.more = true
	}
	p.what, p.call, p.text = what, uint16(call), v
}

// simple reports whether one string mattered, and nothing else.
func (p *piece) simple() bool {
	return len(p.text) > 0 && !p.more && p.usages == 0 && p.finish == finishNone
}

// learn makes the event a pattern.
func (d *Decoder) learn(s *State, p *piece, out *provider.Out) {
	from := rawjson.Offset(p.doc, p.text) + 1
	to := from + len(p.text) - 2
	middle, tail := p.doc[to:], []byte(nil)
	padded := false
	if p.free.Kind() == rawjson.String {
		if i := rawjson.Offset(p.doc, p.free); i > to {
			middle, tail, padded = p.doc[to:i+1], p.doc[i+len(p.free)-1:], true
		}
	}
	if from+len(middle)+len(tail) > maxPattern {
		s.Pattern = patternState{}
		return
	}
	memo := append(slices.Grow(d.memo[:0], roomForMemo), out.Memo[:s.aboutCalls()]...)
	memo = append(append(append(memo, p.doc[:from]...), middle...), tail...)
	d.memo, out.Memo = memo, memo
	s.Pattern = patternState{
		Head: uint16(from), Middle: uint16(len(middle)), Tail: uint16(len(tail)),
		What: p.what, Padded: padded, Typed: p.typed, Call: p.call,
	}
}
