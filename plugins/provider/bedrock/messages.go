package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A conversation is messages under way to Converse's form: user and assistant in
// turns, the user first, no text empty, and after an assistant's calls the results
// of all of them in the one message that follows. It holds scratch memory.
type conversation struct {
	out    []byte
	role   string // of the message under way; empty before the first
	system []byte // blocks, joined by commas
	calls  []call // of the last assistant, until they are answered
	names  []string
}

// A call waits for its result.
type call struct {
	id       string // as the chat has it
	answered bool
}

// read reads messages. r has what was reasoned in the rounds before.
func (c *conversation) read(messages rawjson.Value, r *provider.Request) error {
	*c = conversation{out: append(c.out[:0], '['), system: c.system[:0], calls: c.calls[:0], names: c.names[:0]}
	carried := r.MatchCarry(messages)
	for it, i := messages.Items(), 0; it.Next(); i++ {
		m := it.Value
		text := openai.ContentText(m.Get("content"))
		switch m.Get("role").String() {
		case "system", "developer":
			if !isBlank(text) {
				c.system = appendText(appendComma(c.system), text)
			}
		case "user":
			c.settle()
			if err := c.user(i, m.Get("content")); err != nil {
				return err
			}
		case "assistant":
			c.settle()
			c.assistant(text+m.Get("refusal").String(), m.Get("tool_calls"), carried.Next(m))
		case "tool":
			if !c.result(m.Get("tool_call_id").String(), text) {
				return provider.Refuse("`messages[" + strconv.Itoa(i) + "].tool_call_id` is that of no call which waits for its answer: send it once, after the assistant's message with the call")
			}
		default:
			return provider.Refuse("`messages[" + strconv.Itoa(i) + "].role` is none that Bedrock can be given: use system, developer, user, assistant or tool")
		}
	}
	c.settle()
	if c.role == "" {
		// Instructions alone are the question.
		c.text("user", ".")
	}
	return nil
}

// messages returns what was read.
func (c *conversation) messages() rawjson.Value {
	c.out = append(c.out, "]}]"...)
	return c.out
}

// begin makes place for a block of a role: neighbours of one role are one message.
func (c *conversation) begin(role string) {
	switch {
	case role == c.role:
		c.out = append(c.out, ',')
		return
	case c.role != "":
		c.out = append(c.out, "]},"...)
	case role == "assistant":
		c.text("user", ".")
		c.out = append(c.out, "]},"...)
	}
	c.role = role
	c.out = append(append(append(c.out, `{"role":"`...), role...), `","content":[`...)
}

// text adds a text; a blank one is refused by Bedrock.
func (c *conversation) text(role, text string) {
	if !isBlank(text) {
		c.begin(role)
		c.out = appendText(c.out, text)
	}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

func appendText(b []byte, text string) []byte {
	return append(rawjson.AppendString(append(b, `{"text":`...), text), '}')
}

func appendComma(joined []byte) []byte {
	if len(joined) > 0 {
		joined = append(joined, ',')
	}
	return joined
}

// assistant adds what the model said, thought and called.
func (c *conversation) assistant(text string, calls rawjson.Value, reasoned []byte) {
	for _, block := range readBlocks(reasoned) {
		c.begin("assistant")
		c.out = append(append(append(c.out, `{"reasoningContent":`...), block...), '}')
	}
	c.text("assistant", text)
	for it := calls.Items(); it.Next(); {
		f := it.Value.Get("function")
		name, id := f.Get("name").String(), it.Value.Get("id").String()
		c.calls = append(c.calls, call{id: id})
		c.names = append(c.names, name)
		c.begin("assistant")
		c.out = rawjson.AppendString(append(c.out, `{"toolUse":{"toolUseId":`...), fitID(id))
		c.out = rawjson.AppendString(append(c.out, `,"name":`...), name)
		c.out = append(append(append(c.out, `,"input":`...), argumentsObject(f.Get("arguments"))...), "}}"...)
	}
}

// argumentsObject returns a call's arguments as an object, an empty one where they are
// none.
func argumentsObject(v rawjson.Value) rawjson.Value {
	if v.Kind() == rawjson.String {
		v, _ = rawjson.Parse([]byte(v.String()))
	}
	if v.Kind() != rawjson.Object {
		return rawjson.Value("{}")
	}
	return v
}

// result adds the result of a call that waits for one.
func (c *conversation) result(id, text string) bool {
	for i := range c.calls {
		if c.calls[i].id == id && !c.calls[i].answered {
			c.calls[i].answered = true
			c.addResult(id, text)
			return true
		}
	}
	return false
}

// settle answers the calls that nobody did: Bedrock wants a result for each.
func (c *conversation) settle() {
	for _, waiting := range c.calls {
		if !waiting.answered {
			c.addResult(waiting.id, "")
		}
	}
	c.calls = c.calls[:0]
}

func (c *conversation) addResult(id, text string) {
	c.begin("user")
	c.out = rawjson.AppendString(append(c.out, `{"toolResult":{"toolUseId":`...), fitID(id))
	c.out = append(c.out, `,"content":[`...)
	if v, ok := rawjson.Parse([]byte(text)); ok && v.Kind() == rawjson.Object {
		c.out = append(append(append(c.out, `{"json":`...), v...), '}')
	} else {
		if isBlank(text) {
			text = "No answer."
		}
		c.out = appendText(c.out, text)
	}
	c.out = append(c.out, "]}}"...)
}

// fitID returns an id in the form that Bedrock takes: itself where it has that,
// else one made of it, the same for the call and its result.
func fitID(id string) string {
	fits := id != "" && len(id) <= 64
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(id) {
		c := id[i]
		fits = fits && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == ':' || c == '-')
		h = (h ^ uint64(c)) * 1099511628211
	}
	if fits {
		return id
	}
	return "call_" + strconv.FormatUint(h, 36)
}
