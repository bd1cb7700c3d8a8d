package gemini

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// ownID begins the ids of calls that came without one. Gemini is not told of
// them.
const ownID = "call_parley_"

// A conversation is messages under way to being contents. Gemini wants turns of
// user and model, none empty, the user first, and after a turn of calls the
// answers to all of them at once.
type conversation struct {
	body   []byte // of the request, which the contents are written to
	role   string // of the content under way, empty before the first
	system []byte // parts, joined by commas
	calls  []call // of the last message, until they are answered
	signed bool   // calls need a signature
}

// reset begins another conversation in the memory of the last.
func (c *conversation) reset(signed bool) {
	*c = conversation{body: c.body, system: c.system[:0], calls: c.calls[:0], signed: signed}
}

// A call waits for its answer.
type call struct {
	id     string        // as the chat has it
	named  rawjson.Edit  // name, and id where Gemini gave one
	answer rawjson.Value // a functionResponse's response
}

// read reads messages. r has the parts that were kept of the rounds before.
func (c *conversation) read(messages rawjson.Value, r *provider.Request) error {
	var members [4]rawjson.Value
	carried := r.MatchCarry(messages)
	for it, i := messages.Items(), 0; it.Next(); i++ {
		it.Value.Pick(members[:], "role", "content", "tool_calls", "refusal")
		content, at := members[1], place(i)
		role, _ := members[0].Text()
		if len(c.calls) > 0 && (string(role) == "user" || string(role) == "assistant") {
			return newUnansweredError(at.String()+"` comes", c.calls)
		}
		var err error
		switch string(role) {
		case "system", "developer":
			if text := textOf(content); len(text) > 2 {
				c.system = appendText(appendComma(c.system), text)
			}
		case "user":
			err = c.user(at, content)
		case "assistant":
			err = c.assistant(at, joinSaid(content, members[3]), members[2], carried.Next(it.Value))
		case "tool":
			err = c.tool(at, it.Value.Get("tool_call_id").String(), content)
		default:
			err = provider.Refuse(at.String() + ".role` is none that Gemini can be given: use system, developer, user, assistant or tool")
		}
		if err != nil {
			return err
		}
	}
	if len(c.calls) > 0 {
		return newUnansweredError("The conversation ends", c.calls)
	}
	switch {
	case c.role != "":
	case len(c.system) > 0: // instructions alone are the question
		c.add("user", c.system)
		c.system = c.system[:0]
	default:
		c.add("user", nothing)
	}
	c.body = append(c.body, "]}"...)
	return nil
}

// nothing is the part of a user who says nothing.
var nothing = rawjson.Value(`{"text":"."}`)

// A place is a message's among the messages. It is put into words where
// something is wrong.
type place int

func (at place) String() string { return "`messages[" + strconv.Itoa(int(at)) + "]" }

func newUnansweredError(what string, calls []call) error {
	var ids []string
	for _, c := range calls {
		if c.answer == nil {
			ids = append(ids, c.id)
		}
	}
	return provider.Refuse(what + " before the tool calls " + strings.Join(ids, ", ") + " are answered: send a message of role tool for each")
}

// add appends a part to the content under way, or begins the next one.
func (c *conversation) add(role string, part rawjson.Value) {
	c.begin(role)
	c.body = append(c.body, part...)
}

// begin makes place for a part of a role. A conversation that the model begins
// gets a user's word in front.
func (c *conversation) begin(role string) {
	switch {
	case role == c.role:
		c.body = append(c.body, ',')
		return
	case c.role != "":
		c.body = append(c.body, "]},"...)
	case role == "model":
		c.add("user", nothing)
		c.body = append(c.body, "]},"...)
	}
	c.role = role
	c.body = append(append(append(c.body, `{"role":"`...), role...), `","parts":[`...)
}

// text adds a text; an empty one is refused by Gemini.
func (c *conversation) text(role string, text rawjson.Value) {
	if text.Kind() == rawjson.String && len(text) > 2 {
		c.begin(role)
		c.body = appendText(c.body, text)
	}
}

// appendText appends a part with a text.
func appendText(b []byte, text rawjson.Value) []byte {
	return append(rawjson.AppendQuoted(append(b, `{"text":`...), text), '}')
}

// textOf returns the text of a message's content as one string.
func textOf(content rawjson.Value) rawjson.Value {
	if content.Kind() == rawjson.String {
		return content
	}
	return rawjson.Quote(openai.ContentText(content))
}

// user adds what a user said or showed.
func (c *conversation) user(at place, content rawjson.Value) error {
	c.text("user", content)
	for it, i := content.Items(), 0; it.Next(); i++ {
		switch p := it.Value; p.Get("type").String() {
		case "text":
			c.text("user", p.Get("text"))
		case "image_url", "input_audio", "file":
			m := openai.MediaOf(p)
			if m.Data != "" && m.MIME == "" || m.Data == "" && m.URL == "" {
				return provider.Refuse(at.String() + ".content[" + strconv.Itoa(i) + "]." + m.Type + "` must be a data URI such as data:image/png;base64,…, or an address")
			}
			c.begin("user")
			c.body = appendMedia(c.body, &m)
		default:
			return provider.Refuse(at.String() + ".content[" + strconv.Itoa(i) + "].type` is none that Gemini can be given: send text, image_url, input_audio or file")
		}
	}
	return nil
}

// appendMedia appends a part that holds an image, a sound or a file, or says where it
// is.
func appendMedia(b []byte, m *openai.Media) []byte {
	begin, name, value := `{"inlineData":{`, `"data":`, m.Data
	if m.URL != "" {
		begin, name, value = `{"fileData":{`, `"fileUri":`, m.URL
	}
	b = append(b, begin...)
	if m.MIME != "" {
		b = append(rawjson.AppendString(append(b, `"mimeType":`...), m.MIME), ',')
	}
	return append(rawjson.AppendString(append(b, name...), value), "}}"...)
}

// joinSaid returns the text of an assistant's message, which may be a refusal, as
// one string.
func joinSaid(content, refusal rawjson.Value) rawjson.Value {
	if content.Kind() == rawjson.String && refusal.IsNull() {
		return content
	}
	text := openai.ContentText(content) + refusal.String()
	for it := content.Items(); it.Next(); {
		text += it.Value.Get("refusal").String()
	}
	return rawjson.Quote(text)
}

// assistant adds what the model said: to the byte where it was carried, else made anew
// from the message.
func (c *conversation) assistant(at place, text, calls rawjson.Value, carried []byte) error {
	if len(carried) > 0 {
		if said, parts := text.String(), readCarry(carried); areOf(parts, said, calls) {
			c.replay(said, parts)
			return nil
		}
	}
	c.text("model", text)
	for it, i := calls.Items(), 0; it.Next(); i++ {
		f := it.Value.Get("function")
		name, id := f.Get("name"), it.Value.Get("id").String()
		if name.String() == "" {
			return provider.Refuse(at.String() + ".tool_calls[" + strconv.Itoa(i) + "]` has no function.name")
		}
		named := rawjson.Edit{{Key: "name", Value: name}}
		if id != "" && !strings.HasPrefix(id, ownID) {
			named.Set("id", rawjson.Quote(id))
		}
		c.calls = append(c.calls, call{id: id, named: named})
		whole := append(slices.Clip(named), rawjson.Member{Key: "args", Value: appendCompact(nil, turns.Arguments(f.Get("arguments")))})
		part := rawjson.Edit{{Key: "functionCall", Value: whole.Value()}}
		switch s := thoughtSignature(it.Value); {
		case s != "":
			part.Set("thoughtSignature", rawjson.Quote(s))
		case c.signed && i == 0: // parallel calls are signed on the first
			part.Set("thoughtSignature", rawjson.Quote(skipValidator))
		}
		c.add("model", part.Value())
	}
	return nil
}

// tool takes the answer to a call. All of a turn's go out together, in the
// order of the calls: Gemini tells those without id by it.
func (c *conversation) tool(at place, id string, content rawjson.Value) error {
	waiting := -1
	for i := len(c.calls) - 1; i >= 0; i-- {
		if c.calls[i].id == id && c.calls[i].answer == nil {
			waiting = i
		}
	}
	if waiting < 0 {
		return provider.Refuse(at.String() + ".tool_call_id` is that of no call which waits for its answer: send it once, after the assistant's message with the call")
	}
	c.calls[waiting].answer = responseObject(openai.ContentText(content))
	for i := range c.calls {
		if c.calls[i].answer == nil {
			return nil
		}
	}
	for _, call := range c.calls {
		call.named.Set("response", call.answer)
		c.add("user", newObject("functionResponse", call.named.Value()))
	}
	c.calls = c.calls[:0]
	return nil
}

// responseObject returns a tool's answer as an object.
func responseObject(text string) rawjson.Value {
	v, ok := rawjson.Parse([]byte(text))
	switch {
	case ok && v.Kind() == rawjson.Object:
		return appendCompact(nil, v)
	case ok && v.Kind() == rawjson.Array:
		return newObject("output", appendCompact(nil, v))
	}
	return newObject("output", rawjson.Quote(text))
}
