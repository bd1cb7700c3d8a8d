package main

import (
	"cmp"
	"strconv"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// A conversation is messages under way to Converse's form. It holds scratch memory.
type conversation struct {
	walk      turns.Walker
	out       []byte
	system    []byte // blocks, joined by commas
	names     []string
	begun     bool
	documents int  // of the turn, and
	said      bool // whether it has a text
}

// read reads the messages of r.
func (c *conversation) read(r *provider.Request) error {
	*c = conversation{walk: c.walk, out: append(c.out[:0], '['), system: c.system[:0], names: c.names[:0]}
	for c.walk.Of(r); c.walk.Next(); {
		switch p := c.walk.Part; p.Kind {
		case turns.System:
			c.system = appendText(appendComma(c.system), p.Text)
		case turns.Text:
			c.begin(p)
			c.said = true
			c.out = appendText(c.out, p.Text)
		case turns.Media:
			if err := c.media(p); err != nil {
				return err
			}
		case turns.Call:
			c.names = append(c.names, p.Name)
			c.begin(p)
			c.out = rawjson.AppendString(append(c.out, `{"toolUse":{"toolUseId":`...), fitID(p.ID))
			c.out = rawjson.AppendString(append(c.out, `,"name":`...), p.Name)
			c.out = append(append(append(c.out, `,"input":`...), p.Value...), "}}"...)
		case turns.Result:
			c.begin(p)
			c.addResult(p.ID, p.Text)
		}
	}
	return c.walk.Err()
}

// messages returns what was read.
func (c *conversation) messages() rawjson.Value {
	c.endTurn()
	c.out = append(c.out, "]}]"...)
	return c.out
}

// begin makes place for a block, behind what was reasoned before it.
func (c *conversation) begin(p turns.Part) {
	if p.New {
		if c.begun {
			c.endTurn()
			c.out = append(c.out, "]},"...)
		}
		c.begun, c.documents, c.said = true, 0, false
		role := "assistant"
		if p.User {
			role = "user"
		}
		c.out = append(append(append(c.out, `{"role":"`...), role...), `","content":[`...)
	} else {
		c.out = append(c.out, ',')
	}
	for _, block := range readBlocks(p.Carried) {
		c.out = append(append(append(c.out, `{"reasoningContent":`...), block...), "},"...)
	}
}

// endTurn gives documents the text that Bedrock wants beside them.
func (c *conversation) endTurn() {
	if c.documents > 0 && !c.said {
		c.out = appendText(append(c.out, ','), ".")
	}
}

func appendText(b []byte, text string) []byte {
	return append(rawjson.AppendString(append(b, `{"text":`...), text), '}')
}

func appendComma(joined []byte) []byte {
	if len(joined) > 0 {
		joined = append(joined, ',')
	}
	return joined
}

// addResult adds the result of a call.
func (c *conversation) addResult(id, text string) {
	c.out = rawjson.AppendString(append(c.out, `{"toolResult":{"toolUseId":`...), fitID(id))
	c.out = append(c.out, `,"content":[`...)
	if v, ok := rawjson.Parse([]byte(text)); ok && v.Kind() == rawjson.Object {
		c.out = append(append(append(c.out, `{"json":`...), v...), '}')
	} else {
		c.out = appendText(c.out, cmp.Or(text, "No answer."))
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
