package main

import (
	"bytes"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// The deltas of a block are alike to the byte but for one string, and for the
// spaces with which the API pads some events before their last bracket. So when
// one has been read in full, what stands before and after its string is kept in
// the memo, as a pattern: an event that begins and ends with the same bytes is
// the same JSON with another string and needs no parsing, which in a guest is
// most of the work. Each block makes its own.

// The strings that may vary.
const (
	textAnswer = 1 + iota
	textReasoning
	textArguments
)

// recordOf is the kind of record that such a string makes.
var recordOf = [...]abi.RecordKind{
	textAnswer: abi.RecordText, textReasoning: abi.RecordReasoning, textArguments: abi.RecordToolArguments,
}

// patternState says how the memo is cut, after the calls: head and tail, which
// have the quotes of the string between them.
type patternState struct {
	Head, Tail uint16
	Call       uint16 // of textArguments
	What       uint8
	Type       eventType
}

const maxPattern = 1 << 10

// deltaEvent is the type of a delta, as the API names it.
const deltaEvent = "content_block_delta"

// An eventType is what matters of the type of an event of a pattern.
type eventType uint8

const (
	typeNone eventType = iota // as some servers send it
	typeDelta
	typeOther
)

func typeOf(e provider.Event) eventType {
	switch string(e.Type) {
	case "":
		return typeNone
	case deltaEvent:
		return typeDelta
	}
	return typeOther
}

// Pattern implements [provider.Patterned], unless what the event says has to be
// carried as well.
func (p *anthropic) Pattern(s *state, out *provider.Out) {
	if s.Pattern.Head == 0 || s.Pattern.Type == typeOther || s.Carry.Bytes > 0 {
		return
	}
	memo := out.Memo[int(s.Calls)*callSize:]
	head, tail := memo[:s.Pattern.Head], memo[s.Pattern.Head:]
	last := len(tail) - 1
	holes := [...]abi.Hole{{What: abi.HoleText, Before: head}, {What: abi.HoleSpaces, Before: tail[:last]}}
	told := abi.Pattern{
		Kind: recordOf[s.Pattern.What], Index: uint32(s.Pattern.Call), Holes: holes[:], Tail: tail[last:],
	}
	if s.Pattern.Type == typeDelta {
		told.Type = []byte(deltaEvent)
	}
	out.Pattern(&told)
	p.forget(s, out)
}

// match takes an event that fits the pattern, and reports whether it did.
func (p *anthropic) match(s *state, data []byte, out *provider.Out) bool {
	memo := out.Memo[int(s.Calls)*callSize:]
	head, tail := memo[:s.Pattern.Head], memo[s.Pattern.Head:]
	if !bytes.HasPrefix(data, head) {
		return false
	}
	text := data[len(head):]
	end := bytes.IndexByte(text, '"')
	if end > 0 && bytes.IndexByte(text[:end], '\\') >= 0 {
		end = rawjson.EndOfString(text)
	}
	if end < 0 || !sameTail(text[end:], tail) {
		return false
	}
	// With its quotes, as it stands in a document that was parsed.
	piece := rawjson.Value(data[len(head)-1 : len(head)+end+1])
	if s.Carry.Bytes > 0 {
		switch s.Pattern.What {
		case textAnswer:
			s.Carry.more(openText, piece, out)
		case textReasoning:
			s.Carry.more(openThinking, piece, out)
		}
	}
	p.emit(s.Pattern.What, int(s.Pattern.Call), piece, out)
	return true
}

// sameTail reports whether rest is tail, but for spaces before its last byte.
func sameTail(rest, tail []byte) bool {
	n := len(tail) - 1
	if len(rest) <= n || rest[len(rest)-1] != tail[n] || !bytes.Equal(rest[:n], tail[:n]) {
		return false
	}
	for _, c := range rest[n : len(rest)-1] {
		if c != ' ' {
			return false
		}
	}
	return true
}

// learn makes an event the pattern. text is the string in it that varies.
func (p *anthropic) learn(s *state, what uint8, call int, doc []byte, text rawjson.Value, out *provider.Out) {
	from := rawjson.Offset(doc, text) + 1
	tail, ok := bytes.CutSuffix(doc[from+len(text)-2:], []byte{'}'})
	if !ok || from+len(tail) > maxPattern {
		return
	}
	tail = bytes.TrimRight(tail, " ")
	memo := append(p.memo[:0], out.Memo[:int(s.Calls)*callSize]...)
	memo = append(append(append(memo, doc[:from]...), tail...), '}')
	p.memo, out.Memo = memo, memo
	s.Pattern = patternState{Head: uint16(from), Tail: uint16(len(tail) + 1), What: what, Call: uint16(call), Type: p.typ}
}

// forget gives up the pattern.
func (p *anthropic) forget(s *state, out *provider.Out) {
	if s.Pattern.Head > 0 {
		memo := append(p.memo[:0], out.Memo[:int(s.Calls)*callSize]...)
		p.memo, out.Memo, s.Pattern = memo, memo, patternState{}
	}
}

// emit writes a string as the record it belongs to, and reports whether it held
// anything.
func (p *anthropic) emit(what uint8, call int, v rawjson.Value, out *provider.Out) bool {
	text, ok := v.AppendText(p.scratch[:0])
	if !ok || len(text) == 0 {
		return false
	}
	p.scratch = text
	switch what {
	case textAnswer:
		out.Text(text)
	case textReasoning:
		out.Reasoning(text)
	case textArguments:
		out.ToolArguments(call, text)
	}
	return true
}
