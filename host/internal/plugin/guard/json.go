package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
)

// A Leaf is a string or a number of a document, without the names of members.
type Leaf struct {
	Name     []byte // of the member that it is in, also within an array, as it is written; nil: of none
	Depth    int    // of objects and arrays around it
	From, To int    // in the document
}

// LeavesOf finds the strings and the numbers of a checked document.
func LeavesOf(doc []byte) (all []Leaf) {
	var name []byte
	var around [][]byte // names of the members that objects and arrays are in
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
			if len(next) > 0 && next[0] == ':' {
				name = doc[i+1 : end-1]
			} else {
				all = append(all, Leaf{name, len(around), i, end})
			}
			i = end
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(doc) && strings.IndexByte("0123456789+-.eE", doc[end]) >= 0 {
				end++
			}
			all = append(all, Leaf{name, len(around), i, end})
			i = end
		default:
			switch c {
			case '{', '[':
				around = append(around, name)
			case '}', ']':
				name, around = around[len(around)-1], around[:len(around)-1]
			}
			i++
		}
	}
	return all
}

// Member is the name of the member that l is in; empty: it is in none.
func (l Leaf) Member() string {
	if bytes.IndexByte(l.Name, '\\') < 0 {
		return string(l.Name)
	}
	var s string
	_ = json.Unmarshal(append(append([]byte{'"'}, l.Name...), '"'), &s) // it is a string
	return s
}

// IsString reports whether l is a string of doc.
func (l Leaf) IsString(doc []byte) bool { return doc[l.From] == '"' }

// Text is the leaf's text: of a string what it stands for, of a number its digits.
func (l Leaf) Text(doc []byte) []byte {
	text := doc[l.From:l.To]
	if l.IsString(doc) {
		var s string
		_ = json.Unmarshal(text, &s) // it is a string
		text = []byte(s)
	}
	return text
}

// Texts are the strings and numbers of a document, as guards are given them: without the
// data of media, in which letters mean nothing. One that is not JSON is one text.
func Texts(doc []byte) (texts [][]byte) {
	if !json.Valid(doc) {
		return [][]byte{doc}
	}
	for _, l := range textLeaves(doc) {
		texts = append(texts, l.Text(doc))
	}
	return texts
}

// textLeaves are the leaves of a checked document that guards are given.
func textLeaves(doc []byte) []Leaf {
	return slices.DeleteFunc(LeavesOf(doc), func(l Leaf) bool { return media.Match(doc[l.From:l.To]) })
}

// media is a string of JSON with an image, a sound or a video, and nothing but that.
var media = regexp.MustCompile(`^"data:(?:image|audio|video)\\?/[\w.+-]{1,64};base64,(?:[A-Za-z0-9+/]|\\/)*={0,2}"$`)

// WithTexts is doc with other texts in the place of those of [Texts]. What is as it
// was stays so to the byte.
func WithTexts(doc []byte, texts [][]byte) []byte {
	if !json.Valid(doc) {
		return texts[0]
	}
	return WithLeaves(doc, textLeaves(doc), texts)
}

// WithLeaves is doc with other texts in the place of those of leaves, which are in their order
// there. What is as it was stays so to the byte.
func WithLeaves(doc []byte, leaves []Leaf, texts [][]byte) []byte {
	var b []byte
	at := 0
	for i, l := range leaves {
		if bytes.Equal(l.Text(doc), texts[i]) {
			continue
		}
		var s bytes.Buffer
		e := json.NewEncoder(&s)
		e.SetEscapeHTML(false)
		_ = e.Encode(string(texts[i])) // strings always can be
		b = append(append(b, doc[at:l.From]...), bytes.TrimSpace(s.Bytes())...)
		at = l.To
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
