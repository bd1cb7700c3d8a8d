package main

import (
	"slices"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/rawjson"
)

// spoken is an assistant's message, with the thinking that was carried of it.
type spoken struct {
	content, refusal, calls rawjson.Value
	thoughts                []byte
}

// assistant takes an assistant's message: its thinking, where it was carried,
// its text and its calls.
func (c *conversation) assistant(m *spoken) {
	if c.replay(m) {
		return
	}
	_ = c.say(assistant, 0, m.content) // an assistant shows nothing
	c.text(assistant, m.refusal, nil)
	for it := m.calls.Items(); it.Next(); {
		c.call(it.Value)
	}
}

// replay says again what the model said in an earlier round, block by block in
// its order: the API checks thinking by its signature and its place. It reports
// false where what was carried is not of this message.
func (c *conversation) replay(m *spoken) bool {
	if len(m.thoughts) == 0 {
		return false
	}
	carried, ok := rawjson.Parse(wrapArray(m.thoughts))
	if !ok || !carried.Clean() {
		return false
	}
	var texts strings.Builder
	n := 0
	for it := carried.Items(); it.Next(); {
		switch it.Value.Get("type").String() {
		case "text":
			texts.WriteString(it.Value.Get("text").String())
		case "tool_use":
			n++
			if callOf(m.calls, it.Value.Get("id").String()) == nil {
				return false
			}
		}
	}
	if n != m.calls.Len() {
		return false
	}
	// What was carried begins with the first thinking; text may stand before.
	if before, ok := strings.CutSuffix(openai.ContentText(m.content), texts.String()); ok {
		c.text(assistant, rawjson.Quote(before), nil)
	}
	for it := carried.Items(); it.Next(); {
		switch b := it.Value; b.Get("type").String() {
		case "thinking":
			if b.Get("signature").String() != "" {
				c.think(b)
			}
		case "redacted_thinking":
			c.think(b)
		case "text":
			c.text(assistant, b.Get("text"), nil)
		case "tool_use":
			c.call(callOf(m.calls, b.Get("id").String()))
		default:
			if c.own { // they are refused without their tools
				c.add(assistant, string(b))
			}
		}
	}
	return true
}

// callOf returns the call with an id, nil where there is none.
func callOf(calls rawjson.Value, id string) rawjson.Value {
	for it := calls.Items(); it.Next(); {
		if it.Value.Get("id").String() == id {
			return it.Value
		}
	}
	return nil
}

func (c *conversation) think(block rawjson.Value) {
	c.open(assistant)
	if len(c.blocks) == 0 {
		c.thought = true
	}
	c.blocks = appendItem(c.blocks, block)
}

// call takes one of a message's tool_calls.
func (c *conversation) call(v rawjson.Value) {
	function := v.Get("function")
	id, name := v.Get("id").String(), fitWord(function.Get("name").String(), 64)
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
	wire := fitWord(id, 0)
	for c.ids[wire] {
		wire += "_" // ids are the conversation's here, a message's there
	}
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	c.ids[wire] = true
	c.open(assistant)
	b := append(appendComma(c.blocks), `{"type":"tool_use","id":`...)
	b = rawjson.AppendString(b, wire)
	b = rawjson.AppendString(append(b, `,"name":`...), name)
	b = append(append(b, `,"input":`...), inputOf(function.Get("arguments"))...)
	c.blocks = append(b, '}')
	c.calls = append(c.calls, call{id: id, wire: wire})
}

// inputOf returns a call's arguments as an object. What is not JSON of one
// stands inside of one, so that the model sees what it wrote.
func inputOf(arguments rawjson.Value) rawjson.Value {
	if arguments.Kind() == rawjson.Object {
		return arguments
	}
	text := arguments.String()
	if v, ok := rawjson.Parse([]byte(text)); ok && v.Kind() == rawjson.Object && v.Clean() {
		return v
	}
	if strings.TrimSpace(text) == "" {
		return rawjson.Value("{}")
	}
	return rawjson.Edit{{Key: "arguments", Value: rawjson.Quote(text)}}.Value()
}

// fitWord makes s fit for ids and names: letters, digits, _ and -, at least one
// and at most so many, where most is not 0.
func fitWord(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "_"
	}
	if most > 0 && len(s) > most {
		s = s[:most]
	}
	return s
}
