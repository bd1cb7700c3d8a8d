package gemini

import (
	"strconv"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Gemini validates that its calls come back as it made them, signatures and
// all, and wants the code that it ran and the images that it drew, too. A chat has no place for that, so decode carries such parts to the next
// rounds of the same answer, as they stood but for space between tokens.

// maxCarry bounds what is carried of a round, in bytes; the host's bound is
// near. A round with more is made anew from its message.
const maxCarry = 1000 << 10

// fits reports whether a part that Gemini takes without, too, leaves room for those that
// it must have.
func (s *state) fits(part rawjson.Value) bool {
	return len(part) > 2 && int(s.Carried)+len(part) < maxCarry/2
}

// A kept part stood in the model's text at a place in bytes, and said so many
// bytes of it itself.
type kept struct {
	id      string // of a call
	at, own int
	part    rawjson.Value
}

// carry keeps a part.
func (s *state) carry(id string, own int, part rawjson.Value, out *provider.Out) {
	b := make([]byte, 0, len(part)+len(id)+64)
	b = append(b, `,{"at":`...)
	b = strconv.AppendInt(b, int64(s.Text), 10)
	b = append(b, `,"own":`...)
	b = strconv.AppendInt(b, int64(own), 10)
	b = append(b, `,"id":`...)
	b = rawjson.AppendString(b, id)
	b = append(appendCompact(append(b, `,"part":`...), part), '}')
	if s.Carried += uint32(len(b)); s.Carried <= maxCarry {
		out.Carry(b)
	}
}

// readCarry reads what a round kept.
func readCarry(carried []byte) (parts []kept) {
	v, _ := rawjson.Parse(append(append([]byte("[0"), carried...), ']'))
	for it := v.Items(); it.Next(); {
		at, ok := it.Value.Get("at").Int()
		own, _ := it.Value.Get("own").Int()
		if ok {
			parts = append(parts, kept{it.Value.Get("id").String(), int(at), int(own), it.Value.Get("part")})
		}
	}
	return parts
}

// areOf reports whether parts are of the message with a text and calls.
func areOf(parts []kept, text string, calls rawjson.Value) bool {
	it := calls.Items()
	for _, p := range parts {
		if p.id != "" && (!it.Next() || it.Value.Get("id").String() != p.id) {
			return false
		}
		if p.own > 0 && (p.at < 0 || p.at+p.own > len(text) || text[p.at:p.at+p.own] != p.part.Get("text").String()) {
			return false
		}
	}
	return len(parts) > 0 && !it.Next()
}

// replay adds a round as the model gave it: its text, with the kept parts where
// they stood.
func (c *conversation) replay(text string, parts []kept) {
	from := 0
	for _, p := range parts {
		if p.at >= from && p.at+p.own <= len(text) {
			c.text("model", rawjson.Quote(text[from:p.at]))
			from = p.at + p.own
		}
		c.add("model", p.part)
		if p.id != "" {
			f := p.part.Get("functionCall")
			named := rawjson.Edit{{Key: "name", Value: f.Get("name")}}
			if id := f.Get("id"); len(id) > 2 {
				named.Set("id", id)
			}
			c.calls = append(c.calls, call{id: p.id, named: named})
		}
	}
	c.text("model", rawjson.Quote(text[from:]))
}
