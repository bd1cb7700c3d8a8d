package openai

import (
	"bytes"

	"github.com/parley-search/parley/sdk/provider"
)

// Some servers leave a model's reasoning in its text: an answer that begins with
// <think> is reasoning up to </think>. The tags may come in pieces.
const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// A tagState is how far an answer is with its tags.
type tagState struct {
	At   uint8
	Held uint8 // bytes of a tag that came, and are not written before it is whole
	Drop bool  // the reasoning came under a name of its own, too
}

const (
	tagsStart = iota // there was nothing but space
	tagsInside
	tagsPast // what follows is text
)

// tagged takes a piece of text, and reports whether it wrote it: else it is text,
// and so is all that follows.
func (s *State) tagged(text []byte, p *piece, out *provider.Out) bool {
	t := &s.Tags
	if t.At == tagsStart && t.Held == 0 {
		if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 {
			return false
		} else if trimmed[0] != '<' {
			t.At = tagsPast
			return false
		} else if n := len(text) - len(trimmed); n > 0 {
			out.Text(text[:n])
			text = trimmed
		}
	}
	p.more = true
	if t.At == tagsStart {
		text = s.openTags(text, out)
	}
	for t.At == tagsInside && len(text) > 0 {
		text = s.reason(text, out)
	}
	if t.At == tagsPast {
		out.Text(text)
	}
	return true
}

// openTags takes text that may be the opening tag, and returns what is behind it.
func (s *State) openTags(text []byte, out *provider.Out) []byte {
	t := &s.Tags
	n := min(len(openTag)-int(t.Held), len(text))
	if string(text[:n]) != openTag[t.Held:int(t.Held)+n] {
		held := t.Held
		t.At, t.Held = tagsPast, 0
		return append([]byte(openTag[:held]), text...)
	}
	if t.Held += uint8(n); int(t.Held) == len(openTag) {
		t.At, t.Held, t.Drop = tagsInside, 0, s.Names != 0
		s.called(textTags, out)
	}
	return text[n:]
}

// reason takes a piece of text before the closing tag, and returns what is behind it.
func (s *State) reason(text []byte, out *provider.Out) []byte {
	t := &s.Tags
	if t.Held == 0 {
		n := bytes.IndexByte(text, closeTag[0])
		if n < 0 {
			n = len(text)
		}
		s.tell(text[:n], out)
		if n == len(text) {
			return nil
		}
		t.Held = 1
		return text[n+1:]
	}
	if text[0] != closeTag[t.Held] {
		s.tell([]byte(closeTag[:t.Held]), out)
		t.Held = 0
		return text
	}
	if t.Held++; int(t.Held) == len(closeTag) {
		t.At, t.Held = tagsPast, 0
	}
	return text[1:]
}

// tell writes reasoning.
func (s *State) tell(text []byte, out *provider.Out) {
	if !s.Tags.Drop {
		out.Reasoning(text)
	}
}

// endTags writes what was held of a tag that never was one.
func (s *State) endTags(out *provider.Out) {
	if t := &s.Tags; t.At == tagsStart {
		out.Text([]byte(openTag[:t.Held]))
	} else {
		s.tell([]byte(closeTag[:t.Held]), out)
	}
}
