package main

import (
	"encoding/binary"
	"strconv"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// block is the kind of the content block under way. The API sends one after the
// other.
type block uint8

const (
	blockOther block = iota // of the server's tools, and what is not known
	blockText
	blockThinking
	blockCall
	blockAnswer // a call of answerTool
)

// maxCalls bounds the calls of one response; clients' own bound is near.
const maxCalls = 128

// A call's entry in the memo: the index of its block, a hash of its id, and
// whether some of its arguments are out.
const callSize = 9

const (
	argumentsNone  = 0
	argumentsSome  = 1
	argumentsWhole = 2 // they came with the block's start
)

// blockStart takes the begin of a block, which may have content already.
func (p *anthropic) blockStart(s *state, index int64, v rawjson.Value, out *provider.Out) error {
	word, _ := v.Get("type").Text()
	switch string(word) {
	case "text":
		text := v.Get("text")
		p.textStart(s, text, out)
		p.reading.StringIfAny(foundText, text)
		p.remember(kindText)
		return nil
	case "thinking":
		var members [2]rawjson.Value
		v.Pick(members[:], "thinking", "signature")
		p.thinkingStart(s, members[0], members[1], out)
		p.reading.StringIfAny(foundText, members[0])
		p.reading.StringIfAny(foundSignature, members[1])
		p.remember(kindThinking)
		return nil
	}
	p.blockBegin(s, blockOther, out)
	switch string(word) {
	case "redacted_thinking":
		s.Carry.redacted(v.Get("data"), out)
	case "tool_use":
		return p.callStart(s, index, v, out)
	default:
		s.Carry.own(v, out)
	}
	return nil
}

// blockBegin takes the begin of any block.
func (p *anthropic) blockBegin(s *state, b block, out *provider.Out) {
	s.Seen = true
	p.forget(s, out)
	p.blockStop(s, out)
	s.Block = b
}

func (p *anthropic) textStart(s *state, text rawjson.Value, out *provider.Out) {
	p.blockBegin(s, blockText, out)
	s.Carry.text(text, out)
	p.emit(textAnswer, 0, text, out)
}

func (p *anthropic) thinkingStart(s *state, thinking, signature rawjson.Value, out *provider.Out) {
	p.blockBegin(s, blockThinking, out)
	s.Carry.thinking(thinking, out)
	p.emit(textReasoning, 0, thinking, out)
	s.Carry.signature(signature, out)
}

// blockStop takes the end of a block.
func (p *anthropic) blockStop(s *state, out *provider.Out) {
	s.Carry.close(out)
	if s.Block == blockAnswer && !s.Answered {
		out.Text([]byte("{}"))
	}
	s.Block = blockOther
}

// blockDelta takes a piece of a block. doc is the whole event.
func (p *anthropic) blockDelta(s *state, index int64, v rawjson.Value, doc []byte, out *provider.Out) {
	s.Seen = true
	word, _ := v.Get("type").Text()
	switch string(word) {
	case "text_delta":
		text := v.Get("text")
		p.textDelta(s, text, doc, out)
		p.reading.StringIfAny(foundText, text)
		p.remember(kindTextDelta)
	case "thinking_delta":
		thinking := v.Get("thinking")
		p.thinkingDelta(s, thinking, doc, out)
		p.reading.StringIfAny(foundText, thinking)
		p.remember(kindThinkingDelta)
	case "signature_delta":
		s.Carry.signature(v.Get("signature"), out)
	case "input_json_delta":
		i := callAt(s, index, out)
		switch {
		case s.Block == blockAnswer:
			piece := v.Get("partial_json")
			if p.emit(textAnswer, 0, piece, out) {
				s.Answered = true
				p.learn(s, textAnswer, 0, doc, piece, out)
			}
			return
		case i < 0:
			s.Carry.input(v.Get("partial_json"), out)
			return
		}
		if entry := out.Memo[i*callSize:]; entry[8] == argumentsWhole {
			return
		}
		if piece := v.Get("partial_json"); p.emit(textArguments, i, piece, out) {
			p.mark(s, i, argumentsSome, out)
			p.learn(s, textArguments, i, doc, piece, out)
		}
	}
}

func (p *anthropic) textDelta(s *state, text rawjson.Value, doc []byte, out *provider.Out) {
	s.Seen = true
	s.Carry.more(openText, text, out)
	if p.emit(textAnswer, 0, text, out) && s.Block == blockText {
		p.learn(s, textAnswer, 0, doc, text, out)
	}
}

func (p *anthropic) thinkingDelta(s *state, thinking rawjson.Value, doc []byte, out *provider.Out) {
	s.Seen = true
	s.Carry.more(openThinking, thinking, out)
	if p.emit(textReasoning, 0, thinking, out) && s.Block == blockThinking {
		p.learn(s, textReasoning, 0, doc, thinking, out)
	}
}

// callStart opens a call. One without a name cannot be answered and is left out.
func (p *anthropic) callStart(s *state, index int64, v rawjson.Value, out *provider.Out) error {
	id, name := v.Get("id").String(), v.Get("name").String()
	input := v.Get("input")
	whole := input.Kind() == rawjson.Object && input.Len() > 0 && input.Clean()
	switch name {
	case "":
		return nil
	case answerTool:
		if s.Block, s.Answered = blockAnswer, whole; whole {
			out.Text(input)
		}
		return nil
	}
	i := int(s.Calls)
	if i == maxCalls {
		return newUpstreamError("the model made more than " + strconv.Itoa(maxCalls) + " tool calls in one answer")
	}
	for n := 0; id == "" || hasCall(s, hashBytes([]byte(id)), out); n++ {
		id = "toolu_" + strconv.FormatUint(uint64(s.Response), 36) + "_" + strconv.Itoa(i+n)
	}
	s.Block = blockCall
	s.Carry.call(id, out)
	out.ToolStart(i, id, name)
	arguments := byte(argumentsNone)
	if whole {
		out.ToolArguments(i, input)
		arguments = argumentsWhole
	}
	memo := append(p.memo[:0], out.Memo[:i*callSize]...)
	memo = binary.LittleEndian.AppendUint32(memo, uint32(index))
	memo = binary.LittleEndian.AppendUint32(memo, hashBytes([]byte(id)))
	memo = append(memo, arguments)
	p.memo, out.Memo = memo, memo
	s.Calls++
	return nil
}

// callAt returns the last call of the block index, -1 where there is none.
func callAt(s *state, index int64, out *provider.Out) int {
	for i := int(s.Calls) - 1; i >= 0; i-- {
		if binary.LittleEndian.Uint32(out.Memo[i*callSize:]) == uint32(index) {
			return i
		}
	}
	return -1
}

// hasCall reports whether there is a call whose id has the hash.
func hasCall(s *state, id uint32, out *provider.Out) bool {
	for i := range int(s.Calls) {
		if binary.LittleEndian.Uint32(out.Memo[i*callSize+4:]) == id {
			return true
		}
	}
	return false
}

// mark notes what is out of a call's arguments.
func (p *anthropic) mark(s *state, i int, arguments byte, out *provider.Out) {
	if out.Memo[i*callSize+8] == arguments {
		return
	}
	memo := append(p.memo[:0], out.Memo...)
	memo[i*callSize+8] = arguments
	p.memo, out.Memo = memo, memo
}

// completeCalls writes {} for calls without arguments: they are JSON, and the
// API sends none where there are none.
func completeCalls(s *state, out *provider.Out) {
	for i := range int(s.Calls) {
		if out.Memo[i*callSize+8] == argumentsNone {
			out.ToolArguments(i, []byte("{}"))
		}
	}
}
