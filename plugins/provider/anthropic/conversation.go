package main

import (
	"bytes"
	"strconv"
	"strings"

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

// The roles of a turn.
const (
	user      = 'u'
	assistant = 'a'
)

// A conversation is messages on their way to this API's form: instructions
// apart, roles in turn, the user first and last, each call answered in the turn
// after it.
type conversation struct {
	system []byte // text blocks, joined by commas
	turns  []byte // messages that are whole
	names  []string
	bare   bool // the calls that were answered last have no thinking before them

	role    byte   // of the open turn, 0 before the first
	results []byte // of the open turn; the API wants them before its blocks
	blocks  []byte
	scratch []byte          // of blocks on their way
	thought bool            // the open turn begins with thinking
	calls   []call          // of the last assistant's turn
	ids     map[string]bool // of all calls
}

// A call is one that the turn after it must answer.
type call struct {
	id, wire string // as the client has it, and as it is sent
	answered bool
}

// conversationOf reads messages. carry has the thinking of the rounds before:
// what the host added last are those rounds' calls.
func conversationOf(messages rawjson.Value, carry [][]byte) (*conversation, error) {
	c := &conversation{ids: map[string]bool{}, turns: make([]byte, 0, len(messages)+len(messages)/2)}
	round := len(carry) // of the next message with calls; negative: before this answer
	for it := messages.Items(); len(carry) > 0 && it.Next(); {
		if it.Value.Get("tool_calls").Len() > 0 {
			round--
		}
	}
	var members [4]rawjson.Value
	i := 0
	for it := messages.Items(); it.Next(); i++ {
		it.Value.Pick(members[:], "role", "content", "tool_calls", "refusal")
		content := members[1]
		role, _ := members[0].Text(nil)
		switch string(role) {
		case "system", "developer":
			c.system = appendTexts(c.system, content)
		case "user":
			c.say(user, content)
		case "assistant":
			m := spoken{content: content, calls: members[2], refusal: members[3]}
			if m.calls.Len() > 0 {
				if round >= 0 && round < len(carry) {
					m.thoughts = carry[round]
				}
				round++
			}
			c.assistant(&m)
		case "tool":
			if !c.answer(it.Value.Get("tool_call_id").String(), content) {
				return nil, provider.Refuse("`messages[" + strconv.Itoa(i) + "].tool_call_id` is of no call of the assistant's message before it: leave the message out, or send that one too")
			}
		default:
			return nil, provider.Refuse("`messages[" + strconv.Itoa(i) + "].role` must be system, developer, user, assistant or tool")
		}
	}
	c.end()
	return c, nil
}

// say adds the texts of a message's content to the turn of a role.
func (c *conversation) say(role byte, content rawjson.Value) {
	c.scratch = appendTexts(c.scratch[:0], content)
	c.add(role, c.scratch)
}

// add adds blocks to the turn of a role, and opens it where need be.
func (c *conversation) add(role byte, blocks []byte) {
	if len(blocks) > 0 {
		c.open(role)
		c.blocks = appendItem(c.blocks, blocks)
	}
}

func (c *conversation) open(role byte) {
	if c.role == role {
		return
	}
	if c.role == 0 && role == assistant {
		c.add(user, []byte(opening))
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
		c.add(user, []byte(opening))
	case c.role == assistant && len(c.calls) > 0:
		c.open(user)
	case c.role == assistant:
		// To go on from an assistant's words is refused by newer models, and not
		// what the client of a chat completion means.
		c.add(user, []byte(closing))
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
	text := openai.ContentText(content)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return rawjson.Quote(text)
}

func (c *conversation) result(wire string, content rawjson.Value, failed bool) {
	r := rawjson.Edit{
		{Key: "type", Value: rawjson.Value(`"tool_result"`)},
		{Key: "tool_use_id", Value: rawjson.Quote(wire)},
	}
	set(&r, "content", content)
	if failed {
		r.Set("is_error", rawjson.Value("true"))
	}
	c.results = appendItem(c.results, r.Value())
}

// appendTexts appends the texts of a message's content as blocks, with their
// marks for the cache. The API refuses blank ones.
func appendTexts(blocks []byte, content rawjson.Value) []byte {
	if content.Kind() == rawjson.String {
		return appendText(blocks, content, nil)
	}
	for it := content.Items(); it.Next(); {
		text := it.Value.Get("text")
		if text.Kind() != rawjson.String {
			text = it.Value.Get("refusal")
		}
		blocks = appendText(blocks, text, it.Value.Get("cache_control"))
	}
	return blocks
}

func appendText(blocks []byte, text, cache rawjson.Value) []byte {
	s, _ := text.Text(nil)
	if len(bytes.TrimSpace(s)) == 0 {
		return blocks
	}
	blocks = appendItem(blocks, rawjson.Value(`{"type":"text","text":`))
	if len(s)+2 != len(text) && text.Clean() { // with escapes, which stay as they are
		blocks = append(blocks, text...)
	} else {
		blocks = rawjson.AppendString(blocks, s)
	}
	if cache.Kind() == rawjson.Object {
		blocks = append(append(blocks, `,"cache_control":`...), cache...)
	}
	return append(blocks, '}')
}
