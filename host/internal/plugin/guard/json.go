package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/parley-search/parley/abi"
)

// A leaf is a string or a number of a document.
type leaf struct{ from, to int }

// leavesOf finds the strings and the numbers of a checked document, but for the
// names of members.
func leavesOf(doc []byte) (all []leaf) {
	for i := 0; i < len(doc); {
		switch c := doc[i]; {
		case c == '"':
			end := i + 1
			for doc[end] != '"' {
				if doc[end] == '\\' {
					end++
				}
				end++
			}
			end++
			next := bytes.TrimLeft(doc[end:], " \t\r\n")
			if len(next) == 0 || next[0] != ':' {
				all = append(all, leaf{i, end})
			}
			i = end
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(doc) && strings.IndexByte("0123456789+-.eE", doc[end]) >= 0 {
				end++
			}
			all = append(all, leaf{i, end})
			i = end
		default:
			i++
		}
	}
	return all
}

// Texts are the strings and numbers of a document, as guards are given them. One
// that is not JSON is one text.
func Texts(doc []byte) (texts [][]byte) {
	if !json.Valid(doc) {
		return [][]byte{doc}
	}
	for _, l := range leavesOf(doc) {
		text := doc[l.from:l.to]
		if text[0] == '"' {
			var s string
			_ = json.Unmarshal(text, &s) // it is a string
			text = []byte(s)
		}
		texts = append(texts, text)
	}
	return texts
}

// WithTexts is doc with other texts in the place of those of [Texts]. What is as it
// was stays so to the byte.
func WithTexts(doc []byte, texts [][]byte) []byte {
	was := Texts(doc)
	if !json.Valid(doc) {
		return texts[0]
	}
	var b []byte
	at := 0
	for i, l := range leavesOf(doc) {
		if bytes.Equal(was[i], texts[i]) {
			continue
		}
		var s bytes.Buffer
		e := json.NewEncoder(&s)
		e.SetEscapeHTML(false)
		_ = e.Encode(string(texts[i])) // strings always can be
		b = append(append(b, doc[at:l.from]...), bytes.TrimSpace(s.Bytes())...)
		at = l.to
	}
	if at == 0 {
		return doc
	}
	return append(b, doc[at:]...)
}

// JSON gives the texts of a document to the guards of a stage, whole, and returns
// what they make of it. A stage of streams is given each as a stream of its own.
func (c *Chain) JSON(ctx context.Context, stage string, kind uint32, doc []byte) ([]byte, error) {
	if !c.Has(stage) {
		return doc, nil
	}
	texts := Texts(doc)
	if stage == abi.StageAnswer || stage == abi.StageReasoning {
		for i := range texts {
			out, err := c.Text(ctx, stage, kind, texts[i])
			if err != nil {
				return nil, err
			}
			texts[i] = out
		}
		return WithTexts(doc, texts), nil
	}
	items := make([]abi.Item, len(texts))
	for i, t := range texts {
		items[i] = abi.Item{Kind: kind, Text: t}
	}
	if _, err := c.Whole(ctx, stage, items); err != nil {
		return nil, err
	}
	for i := range items {
		texts[i] = items[i].Text
	}
	return WithTexts(doc, texts), nil
}

// Text takes a whole text through the guards of a stage of streams.
func (c *Chain) Text(ctx context.Context, stage string, kind uint32, text []byte) ([]byte, error) {
	s := c.Stream(stage, kind)
	if s == nil {
		return text, nil
	}
	out, err := s.Next(ctx, text)
	if err != nil {
		return nil, err
	}
	out = append([]byte(nil), out...)
	rest, err := s.End(ctx)
	return append(out, rest...), err
}
