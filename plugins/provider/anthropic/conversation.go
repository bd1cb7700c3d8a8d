package main

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// What is said where the API wants a user's message and the client has none:
// at the beginning, and after an assistant's last word.
const (
	opening = `{"type":"text","text":"Begin."}`
	closing = `{"type":"text","text":"Continue."}`
)

// The roles of a turn, and of what is said apart.
const (
	user      = 'u'
	assistant = 'a'
	system    = 's'
)

// A conversation is messages on their way to this API's form: instructions
// apart, roles in turn, the user first and last, each call answered in the turn
// after it.
type conversation struct {
	system []byte // text blocks, joined by commas
	turns  []byte // messages that are whole
	names  []string
	files  bool // a block names one that the provider was given before
	own    bool // the request has some of the API's own tools
	bare   bool // the calls that were answered last have no thinking before them

	role    byte   // of the open turn, 0 before the first
	results []byte // of the open turn; the API wants them before its blocks
	blocks  []byte
	thought bool            // the open turn begins with thinking
	calls   []call          // of the last assistant's turn
	ids     map[string]bool // of all calls
}

// A call is one that the turn after it must answer.
type call struct {
	id, wire string // as the client has it, and as it is sent
	answered bool
}

// reset begins another conversation, of messages of so many bytes, in the memory
// of the last. What a new instance needs more it takes here, once, and not deep
// in other calls, for which its stack would have to grow too.
func (c *conversation) reset(size int) {
	clear(c.ids)
	part := min(size, 16<<10) // of a long conversation no one message is most
	*c = conversation{
		system: slices.Grow(c.system[:0], part), turns: slices.Grow(c.turns[:0], size+size/2), blocks: slices.Grow(c.blocks[:0], part),
		names: c.names[:0], results: c.results[:0], calls: c.calls[:0], ids: c.ids,
	}
}

// read reads messages. r has the thinking of the rounds before.
func (c *conversation) read(messages rawjson.Value, r *provider.Request) error {
	carried := r.MatchCarry(messages)
	var members [4]rawjson.Value
	i := 0
	for it := messages.Items(); it.Next(); i++ {
		it.Value.Pick(members[:], "role", "content", "tool_calls", "refusal")
		content := members[1]
		role, _ := members[0].Text()
		switch string(role) {
		case "system", "developer":
			if err := c.say(system, i, content); err != nil {
				return err
			}
		case "user":
			if err := c.say(user, i, content); err != nil {
				return err
			}
		case "assistant":
			c.assistant(&spoken{content: content, calls: members[2], refusal: members[3], thoughts: carried.Next(it.Value)})
		case "tool":
			if !c.answer(it.Value.Get("tool_call_id").String(), content) {
				return provider.Refuse("`messages[" + strconv.Itoa(i) + "].tool_call_id` is of no call of the assistant's message before it: leave the message out, or send that one too")
			}
		default:
			return provider.Refuse("`messages[" + strconv.Itoa(i) + "].role` must be system, developer, user, assistant or tool")
		}
	}
	c.end()
	return nil
}

// say adds the content of the message at index i to the turn of a role, or its texts to
// the instructions, with their marks for the cache.
func (c *conversation) say(role byte, i int, content rawjson.Value) error {
	if content.Kind() == rawjson.String {
		c.text(role, content, nil)
		return nil
	}
	for it, j := content.Items(), 0; it.Next(); j++ {
		text := it.Value.Get("text")
		if text.Kind() != rawjson.String {
			text = it.Value.Get("refusal")
		}
		if text.Kind() == rawjson.String || role != user {
			c.text(role, text, it.Value.Get("cache_control"))
			continue
		}
		block, why := mediaBlock(it.Value)
		if why != "" {
			return provider.Refuse("`messages[" + strconv.Itoa(i) + "].content[" + strconv.Itoa(j) + "]." + why)
		}
		c.files = c.files || block.Path("source", "type").Is("file")
		c.add(user, string(block))
	}
	return nil
}

// text adds one text. The API refuses blank ones.
func (c *conversation) text(role byte, text, cache rawjson.Value) {
	switch {
	case isBlank(text):
	case role == system:
		c.system = appendText(appendComma(c.system), text, cache)
	default:
		c.open(role)
		c.blocks = appendText(appendComma(c.blocks), text, cache)
	}
}

// add adds a block to the turn of a role, and opens it where need be.
func (c *conversation) add(role byte, block string) {
	c.open(role)
	c.blocks = append(appendComma(c.blocks), block...)
}

func (c *conversation) open(role byte) {
	if c.role == role {
		return
	}
	if c.role == 0 && role == assistant {
		c.add(user, opening)
	}
	c.close()
	c.role = role
}

// close ends the open turn.
func (c *conversation) close() {
	name := `"user"`
	switch c.role {
	case 0:
		return
	case assistant:
		name = `"assistant"`
		c.bare = len(c.calls) > 0 && !c.thought
		c.thought = false
	case user:
		for _, call := range c.calls {
			if !call.answered {
				c.result(call.wire, rawjson.Value(`"This call was not answered."`), true)
			}
		}
		c.calls = c.calls[:0]
		if len(c.results) == 0 {
			c.bare = false // a new question
		}
	}
	c.turns = appendItem(c.turns, rawjson.Value(`{"role":`))
	c.turns = append(append(c.turns, name...), `,"content":[`...)
	c.turns = append(c.turns, c.results...)
	if len(c.results) > 0 && len(c.blocks) > 0 {
		c.turns = append(c.turns, ',')
	}
	c.turns = append(append(c.turns, c.blocks...), "]}"...)
	c.results, c.blocks = c.results[:0], c.blocks[:0]
}

// end closes the last turn, which is the user's.
func (c *conversation) end() {
	switch {
	case c.role == 0:
		c.add(user, opening)
	case c.role == assistant && len(c.calls) > 0:
		c.open(user)
	case c.role == assistant:
		// To go on from an assistant's words is refused by newer models, and not
		// what the client of a chat completion means.
		c.add(user, closing)
	}
	c.close()
}

// answer takes the content of a tool message for a call's id, and reports whether
// there is such a call.
func (c *conversation) answer(id string, content rawjson.Value) bool {
	known := false
	for i := range c.calls {
		call := &c.calls[i]
		if call.id != id {
			continue
		}
		known = true
		if !call.answered {
			call.answered = true
			c.open(user)
			c.result(call.wire, contentOf(content), false)
			return true
		}
	}
	return known // a second answer is one too many for the API
}

// contentOf returns a tool message's content as one string, absent where it is
// blank.
func contentOf(content rawjson.Value) rawjson.Value {
	if content.Kind() != rawjson.String {
		content = rawjson.Quote(openai.ContentText(content))
	}
	if isBlank(content) {
		return nil
	}
	return content
}

// result adds the result of a call, whose content is a string or absent.
func (c *conversation) result(wire string, content rawjson.Value, failed bool) {
	b := append(appendComma(c.results), `{"type":"tool_result","tool_use_id":`...)
	b = rawjson.AppendString(b, wire)
	if len(content) > 0 {
		b = rawjson.AppendQuoted(append(b, `,"content":`...), content)
	}
	if failed {
		b = append(b, `,"is_error":true`...)
	}
	c.results = append(b, '}')
}

// isBlank reports whether v is no string, or one of nothing but space.
func isBlank(v rawjson.Value) bool {
	if v.Kind() != rawjson.String {
		return true
	}
	if c := v[1]; c > ' ' && c < utf8.RuneSelf && c != '\\' && c != '"' {
		return false // as most are
	}
	text, _ := v.Text()
	return len(bytes.TrimSpace(text)) == 0
}

// appendText appends a block with a text of the chat, or of a carry that was
// found clean: it stays as it is.
func appendText(b []byte, text, cache rawjson.Value) []byte {
	b = append(append(b, `{"type":"text","text":`...), text...)
	if cache.Kind() == rawjson.Object {
		b = append(append(b, `,"cache_control":`...), cache...)
	}
	return append(b, '}')
}
