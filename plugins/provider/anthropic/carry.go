package main

import (
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// maxCarry keeps a round's carry under the contract's limit.
const maxCarry = 1<<20 - 64<<10

// A carryState says how far the carry of this round is.
//
// The API wants the thinking before a call back with the call's answer, to the
// byte and in its place. So from the first thinking on, the blocks of the
// response are carried as they come, joined by commas: thinking whole, text
// too, and of calls the id, as the chat has the rest. So are the blocks of the API's own
// tools, from the first one on.
type carryState struct {
	Bytes uint32
	Open  openString
	Off   bool // too long, or out of order: the rounds to come do without
}

// openString says which string of the carry is not closed yet.
type openString uint8

const (
	openNone openString = iota
	openText
	openThinking
	openSignature
	openInput     // of a block of the API's own tools, which comes as JSON
	openInputSome // a piece of it was carried
)

// raw carries a piece of JSON.
func (c *carryState) raw(out *provider.Out, piece []byte) {
	if c.Off {
		return
	}
	if c.Bytes += uint32(len(piece)); c.Bytes > maxCarry {
		c.drop(out)
		return
	}
	out.Carry(piece)
}

// drop spoils the carry: what is not JSON is nobody's.
func (c *carryState) drop(out *provider.Out) {
	c.Off = true
	out.Carry([]byte{'!'})
}

// item begins a block.
func (c *carryState) item(out *provider.Out, begin string) {
	if c.Bytes > 0 {
		c.raw(out, []byte{','})
	}
	c.raw(out, []byte(begin))
}

// quotedBytes returns what stands between a string's quotes.
func quotedBytes(v rawjson.Value) []byte {
	if v.Kind() != rawjson.String {
		return nil
	}
	return v[1 : len(v)-1]
}

func (c *carryState) thinking(text rawjson.Value, out *provider.Out) {
	c.item(out, `{"type":"thinking","thinking":"`)
	c.raw(out, quotedBytes(text))
	c.Open = openThinking
}

func (c *carryState) text(text rawjson.Value, out *provider.Out) {
	if c.Bytes > 0 {
		c.item(out, `{"type":"text","text":"`)
		c.raw(out, quotedBytes(text))
		c.Open = openText
	}
}

func (c *carryState) redacted(data rawjson.Value, out *provider.Out) {
	c.item(out, `{"type":"redacted_thinking","data":"`)
	c.raw(out, quotedBytes(data))
	c.raw(out, []byte(`"}`))
}

func (c *carryState) call(id string, out *provider.Out) {
	if c.Bytes > 0 {
		c.item(out, `{"type":"tool_use","id":`)
		c.raw(out, rawjson.Quote(id))
		c.raw(out, []byte{'}'})
	}
}

// more carries a piece of the open string, which is of text or of thinking.
func (c *carryState) more(to openString, piece rawjson.Value, out *provider.Out) {
	switch {
	case c.Bytes == 0 || len(piece) <= 2:
	case c.Open == to:
		c.raw(out, quotedBytes(piece))
	case !c.Off:
		c.drop(out)
	}
}

// signature carries a signature, or a piece of one.
func (c *carryState) signature(piece rawjson.Value, out *provider.Out) {
	text := quotedBytes(piece)
	switch {
	case len(text) == 0 || c.Open != openThinking && c.Open != openSignature:
		return
	case c.Open == openThinking:
		c.raw(out, []byte(`","signature":"`))
		c.Open = openSignature
	}
	c.raw(out, text)
}

// own carries a block of the API's own tools: whole, or up to its input, where that is
// still to come.
func (c *carryState) own(v rawjson.Value, out *provider.Out) {
	block := rawjson.EditOf(v)
	input := block.Get("input")
	switch {
	case block.Get("type").Kind() != rawjson.String || !v.Clean():
	case input.Kind() == rawjson.Object && input.Len() == 0:
		block.Drop("input")
		begin := block.Value()
		c.item(out, string(begin[:len(begin)-1])+`,"input":`)
		c.Open = openInput
	default:
		c.item(out, string(v))
	}
}

// input carries a piece of the input of such a block.
func (c *carryState) input(piece rawjson.Value, out *provider.Out) {
	text, _ := piece.Text()
	if len(text) > 0 && (c.Open == openInput || c.Open == openInputSome) {
		c.Open = openInputSome
		c.raw(out, text)
	}
}

// close ends the open block.
func (c *carryState) close(out *provider.Out) {
	end := `"}`
	switch c.Open {
	case openNone:
		return
	case openInput:
		end = "{}}"
	case openInputSome:
		end = "}"
	}
	c.raw(out, []byte(end))
	c.Open = openNone
}
