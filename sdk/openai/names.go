package openai

import (
	"bytes"
	"slices"
	"strings"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// The host gives back what a model reasoned as reasoning_content of its message. A
// server wants it under the name that it gave it, and may refuse any other. So where
// that is another one, decode carries the name to the rounds to come.

// The names, as they are carried, by what the text was found to be.
var reasoningNames = [...]string{
	textReasoning: "reasoning_content;", textReasoningShort: "reasoning;", textThinking: "thinking;", textTags: "tags;",
}

// called notes that there was reasoning of a kind.
func (s *State) called(what uint8, out *provider.Out) {
	bit := uint8(1) << what
	if s.Names&bit != 0 || what == textRefusal {
		return
	}
	if s.Names == 0 && what == textReasoning { // what the host calls it, too
		s.Names = bit
		return
	}
	if s.Names == 1<<textReasoning {
		out.Carry([]byte(reasoningNames[textReasoning]))
	}
	s.Names |= bit
	out.Carry([]byte(reasoningNames[what]))
}

// namesIn reports whether a carry names reasoning: most are empty.
func namesIn(carry [][]byte) bool {
	return slices.ContainsFunc(carry, func(names []byte) bool { return bytes.HasSuffix(names, []byte{';'}) })
}

// renameReasoning returns messages with the reasoning of earlier rounds under the
// names that the server gave it.
func renameReasoning(messages rawjson.Value, r *provider.Request) rawjson.Value {
	b := append(make([]byte, 0, len(messages)+64), '[')
	said := r.MatchCarry(messages)
	for it := messages.Items(); it.Next(); {
		if len(b) > 1 {
			b = append(b, ',')
		}
		m := it.Value
		if names := said.Next(m); len(names) > 0 {
			m = nameReasoning(m, string(names))
		}
		b = append(b, m...)
	}
	return append(b, ']')
}

// nameReasoning gives the reasoning of a message its names.
func nameReasoning(message rawjson.Value, names string) rawjson.Value {
	m := rawjson.EditOf(message)
	text := m.Get("reasoning_content")
	if text.Kind() != rawjson.String {
		return message
	}
	kept := false
	for name := range strings.SplitSeq(names, ";") {
		switch name {
		case "reasoning_content":
			kept = true
		case "reasoning":
			m.Set(name, text)
		case "thinking":
			m.Set("content", withThinking(text, m.Get("content")))
		case "tags":
			m.Set("content", rawjson.Quote(Tagged(text.String(), m.Get("content").String())))
		}
	}
	if !kept {
		m.Drop("reasoning_content")
	}
	return m.Value()
}

// withThinking returns content as a list of parts, with one of reasoning in front.
func withThinking(text, content rawjson.Value) rawjson.Value {
	b := append([]byte(`[{"type":"thinking","thinking":[{"type":"text","text":`), text...)
	b = append(b, "}]}"...)
	if content.Kind() == rawjson.String && len(content) > 2 {
		b = append(append(append(b, `,{"type":"text","text":`...), content...), '}')
	}
	for it := content.Items(); it.Next(); {
		b = append(append(b, ','), it.Value...)
	}
	return append(b, ']')
}
