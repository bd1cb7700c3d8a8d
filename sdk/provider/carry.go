package provider

import "github.com/parley-search/parley/sdk/rawjson"

// A CarryMatch finds what was carried of each message of a chat.
type CarryMatch struct {
	carry, text     [][]byte
	atCarry, atText int // of the next message; negative: nothing is known of it
}

// MatchCarry returns a match for messages, which r has as Carry and TextCarry.
func (r *Request) MatchCarry(messages rawjson.Value) CarryMatch {
	m := CarryMatch{carry: r.Carry, text: r.TextCarry, atCarry: len(r.Carry), atText: len(r.TextCarry)}
	if m.atCarry+m.atText == 0 {
		return m
	}
	for it := messages.Items(); it.Next(); {
		switch {
		case !it.Value.Get("tool_calls").Empty():
			m.atCarry--
		case it.Value.Get("role").Is("assistant"):
			m.atText--
		}
	}
	return m
}

// Next returns what was carried of the next message, which is m; nothing where that is
// not known.
func (c *CarryMatch) Next(m rawjson.Value) []byte {
	if len(c.carry)+len(c.text) == 0 {
		return nil
	}
	switch {
	case !m.Get("tool_calls").Empty():
		c.atCarry++
		return entryAt(c.carry, c.atCarry-1)
	case m.Get("role").Is("assistant"):
		c.atText++
		return entryAt(c.text, c.atText-1)
	}
	return nil
}

func entryAt(entries [][]byte, i int) []byte {
	if i < 0 || i >= len(entries) {
		return nil
	}
	return entries[i]
}
