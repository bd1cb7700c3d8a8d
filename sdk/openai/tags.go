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

// Tags are how far an answer is with them. The zero value is at its beginning.
type Tags struct {
	At   uint8
	Held uint8 // bytes of a tag that came, and are not said before it is whole
}

const (
	tagsStart = iota // there was nothing but space
	tagsInside
	tagsPast // what follows is text
)

// Past reports whether all that follows is text.
func (t *Tags) Past() bool { return t.At == tagsPast }

// isPlain is Past, where a piece of text that is not empty may show it.
func (t *Tags) isPlain(text []byte) bool {
	if t.At == tagsStart && t.Held == 0 && text[0] > ' ' && text[0] != openTag[0] {
		t.At = tagsPast
	}
	return t.At == tagsPast
}

// Split says what a piece of text is, part by part: text, or what the model thought. It says
// nothing, thought, where the tags open. It returns false, and says nothing, where the whole
// piece is text, as is all that follows.
func (t *Tags) Split(text []byte, say func(text []byte, thought bool)) bool {
	if t.At == tagsStart && t.Held == 0 {
		trimmed := bytes.TrimLeft(text, " \t\r\n")
		if len(trimmed) > 0 && trimmed[0] != '<' {
			t.At = tagsPast
			return false
		}
		if n := len(text) - len(trimmed); n > 0 {
			say(text[:n], false)
			text = trimmed
		}
	}
	if t.At == tagsStart {
		text = t.open(text, say)
	}
	for t.At == tagsInside && len(text) > 0 {
		text = t.think(text, say)
	}
	if t.At == tagsPast && len(text) > 0 {
		say(text, false)
	}
	return true
}

// open takes text that may be the opening tag, and returns what is behind it.
func (t *Tags) open(text []byte, say func([]byte, bool)) []byte {
	n := min(len(openTag)-int(t.Held), len(text))
	if string(text[:n]) != openTag[t.Held:int(t.Held)+n] {
		held := t.Held
		t.At, t.Held = tagsPast, 0
		return append([]byte(openTag[:held]), text...)
	}
	if t.Held += uint8(n); int(t.Held) == len(openTag) {
		t.At, t.Held = tagsInside, 0
		say(nil, true)
	}
	return text[n:]
}

// think takes a piece of text before the closing tag, and returns what is behind it.
func (t *Tags) think(text []byte, say func([]byte, bool)) []byte {
	if t.Held == 0 {
		n := bytes.IndexByte(text, closeTag[0])
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			say(text[:n], true)
		}
		if n == len(text) {
			return nil
		}
		t.Held = 1
		return text[n+1:]
	}
	if text[0] != closeTag[t.Held] {
		say([]byte(closeTag[:t.Held]), true)
		t.Held = 0
		return text
	}
	if t.Held++; int(t.Held) == len(closeTag) {
		t.At, t.Held = tagsPast, 0
	}
	return text[1:]
}

// End says what is held of a tag that never was one.
func (t *Tags) End(say func(text []byte, thought bool)) {
	switch {
	case t.Held == 0:
	case t.At == tagsStart:
		say([]byte(openTag[:t.Held]), false)
	default:
		say([]byte(closeTag[:t.Held]), true)
	}
}

// Tagged is an answer as the model said it: what it thought between tags, and its text.
func Tagged(thought, text string) string { return openTag + thought + closeTag + text }

// sayTagged returns what writes the parts of an answer. Thoughts that came under a name of
// their own, too, are not written again.
func (s *State) sayTagged(out *provider.Out) func([]byte, bool) {
	return func(text []byte, thought bool) {
		switch {
		case !thought:
			out.Text(text)
		case text == nil:
			s.Twice = s.Names != 0
			s.called(textTags, out)
		case !s.Twice:
			out.Reasoning(text)
		}
	}
}
