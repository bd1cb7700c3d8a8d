package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
)

// triggers finds in a stream what its guard must see.
type triggers struct {
	marks    [256]byte // of each byte: what it may be
	texts    [][]byte
	holdBack int
}

// What a byte may be.
const (
	isTrigger   = 1 << iota
	beginsText  // of a trigger
	endsWord    // a byte up to a space
	beginsBreak // the first byte of a code point from U+3000 on, behind which a word ends
)

// triggersOf is nil where the guard sees everything.
func triggersOf(m *abi.Manifest, set map[string]json.RawMessage) *triggers {
	if len(m.Triggers) == 0 {
		return nil
	}
	t := &triggers{holdBack: m.HoldBack}
	for i := range 0x21 {
		t.marks[i] = endsWord
	}
	for i := 0xe3; i < 0x100; i++ {
		t.marks[i] = beginsBreak
	}
	for _, trigger := range m.Triggers {
		switch {
		case trigger.Option != "":
			v := bytes.TrimSpace(set[trigger.Option])
			if len(v) > 0 && !bytes.Equal(v, bytes.TrimSpace(m.Options[trigger.Option].Default)) && string(v) != `""` {
				return nil
			}
		case trigger.Text != "":
			t.texts = append(t.texts, []byte(trigger.Text))
			t.marks[trigger.Text[0]] |= beginsText
		default:
			class, _ := manifest.ByteClass(trigger.Bytes) // checked with the manifest
			for b, in := range class {
				if in {
					t.marks[b] |= isTrigger
				}
			}
		}
	}
	return t
}

// find looks for the first trigger in text. found: the guard's text begins at from.
// Else what is before from can never be a part of it.
func (t *triggers) find(text []byte, last bool) (from int, found bool) {
	word := 0   // where the word begins
	begun := -1 // where a trigger's text may have begun that text does not have whole
	keep := 0   // where the guard's text would begin then
	for i := 0; i < len(text); i++ {
		mark := t.marks[text[i]]
		if mark == 0 {
			continue
		}
		if mark&isTrigger != 0 {
			return t.begin(text, word, i), true
		}
		if mark&beginsText != 0 {
			for _, s := range t.texts {
				if bytes.HasPrefix(text[i:], s) {
					return t.begin(text, word, i), true
				}
				if begun < 0 && !last && bytes.HasPrefix(s, text[i:]) {
					begun, keep = i, t.begin(text, word, i)
				}
			}
		}
		switch {
		case mark&endsWord != 0:
			word = i + 1
		case mark&beginsBreak != 0:
			word = i + 3
			if text[i] >= 0xf0 {
				word = i + 4
			}
		}
	}
	if last {
		return len(text), false
	}
	from = len(text)
	if t.holdBack > 0 {
		from = t.begin(text, min(word, len(text)), len(text))
	}
	if begun >= 0 {
		from = min(from, keep)
	}
	return from, false
}

// begin is where the guard's text begins for a trigger at i in the word at word.
func (t *triggers) begin(text []byte, word, i int) int {
	from := max(min(word, i), i-t.holdBack)
	for from < i && !utf8.RuneStart(text[from]) {
		from++
	}
	return from
}

// A Stream is text of one kind that passes the guards of a stage as it comes.
type Stream struct {
	chain *Chain
	stage string
	kind  uint32
	steps []step
	rune  []byte // the beginning of a code point that is not whole
}

// A step is a stream at one guard.
type step struct {
	link   *link
	held   []byte
	begun  bool // it was called
	active bool // it must see what comes next
}

// Stream begins a stream of items of a kind; nil: no guard stands there.
func (c *Chain) Stream(stage string, kind uint32) *Stream {
	links := c.at(stage)
	if len(links) == 0 {
		return nil
	}
	s := &Stream{chain: c, stage: stage, kind: kind}
	for _, l := range links {
		s.steps = append(s.steps, step{link: l})
	}
	return s
}

// Next takes a piece of text, and returns what may go out: good until the next call.
// An error is a [*Blocked], or ctx's; what is returned beside it goes out before it.
func (s *Stream) Next(ctx context.Context, piece []byte) ([]byte, error) {
	whole := piece
	if len(s.rune) > 0 {
		whole = append(s.rune, piece...)
	}
	n := wholeRunes(whole)
	text, rest := whole[:n], whole[n:]
	if !utf8.Valid(text) {
		text = []byte(mended(text))
	}
	out, err := s.pass(ctx, 0, text, false)
	s.rune = slices.Clone(rest)
	return out, err
}

// End ends the stream: it returns what was held. Another one may follow.
func (s *Stream) End(ctx context.Context) ([]byte, error) {
	rest := []byte(mended(s.rune))
	s.rune = nil
	return s.pass(ctx, 0, rest, true)
}

// Holds reports whether a part of the text was not given back yet.
func (s *Stream) Holds() bool {
	return len(s.rune) > 0 || slices.ContainsFunc(s.steps, func(st step) bool { return len(st.held) > 0 })
}

// wholeRunes is how many bytes of b are before a code point that is cut at its end.
func wholeRunes(b []byte) int {
	for i := 1; i <= min(3, len(b)); i++ {
		c := b[len(b)-i]
		if utf8.RuneStart(c) {
			if c >= 0xc0 && !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// pass takes text through the guards from the n'th on.
func (s *Stream) pass(ctx context.Context, n int, text []byte, last bool) ([]byte, error) {
	for i := n; i < len(s.steps); i++ {
		out, err := s.step(ctx, &s.steps[i], text, last)
		if err != nil {
			// What went out before goes through the guards behind, whatever they hold.
			rest, later := s.pass(ctx, i+1, out, true)
			if later != nil {
				err = later
			}
			return rest, err
		}
		text = out
	}
	return text, nil
}

// step takes text to one guard.
func (s *Stream) step(ctx context.Context, st *step, text []byte, last bool) ([]byte, error) {
	if st.link.off {
		if len(st.held) > 0 {
			text = append(st.held, text...)
			st.held = nil
		}
		return text, nil
	}
	if len(text) == 0 && !last {
		return nil, nil
	}
	var out []byte
	if t := st.link.triggers; t != nil && !st.active {
		if len(st.held) > 0 {
			text = append(st.held, text...)
		}
		from, found := t.find(text, last)
		if !found {
			if from < len(text) {
				// The next text is put behind what is held, and must not be in its place.
				st.held = append([]byte(nil), text[from:]...)
			} else {
				st.held = nil
			}
			return text[:from], nil
		}
		out, text, st.held, st.active = text[:from:from], text[from:], nil, true
	}
	if last && len(text) == 0 && len(st.held) == 0 && (!st.begun || st.link.triggers != nil) {
		st.begun, st.active = false, false
		return out, nil
	}
	for {
		// A piece that is more than the guard's memory bears comes in parts.
		part := text
		if room := st.link.room() / 2; len(part) > room {
			part = part[:room]
			part = part[:wholeRunes(part)]
		}
		text = text[len(part):]
		more, err := s.call(ctx, st, part, last && len(text) == 0)
		out = append(out, more...)
		if err != nil || len(text) == 0 {
			return out, err
		}
	}
}

// call gives a guard what is held and more.
func (s *Stream) call(ctx context.Context, st *step, text []byte, last bool) ([]byte, error) {
	flags := byte(0)
	if !st.begun {
		flags |= abi.GuardFirst
	}
	if last {
		flags |= abi.GuardLast
	}
	st.held = append(st.held, text...)
	v, err := s.chain.call(ctx, st.link, s.stage, flags, []abi.Item{{Kind: s.kind, Text: st.held}})
	if err != nil {
		st.held = nil
		return nil, err
	}
	if v == nil { // it failed, and is passed by
		out := st.held
		st.held = nil
		return out, nil
	}
	st.begun = !last
	if v.blocked != nil {
		st.held = nil
		return v.out, v.blocked
	}
	st.held = append([]byte(nil), st.held[v.released:]...)
	st.active = len(st.held) > 0 && !last
	return v.out, nil
}
