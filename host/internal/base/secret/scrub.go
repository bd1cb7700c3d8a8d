package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const (
	// shortest is the length in bytes from which a text is a secret. Servers that
	// ask for no key are given words such as "EMPTY", and every text has those.
	shortest = 6
	// leastPart is how long a part of a secret is at least that is taken out.
	leastPart = 16
)

// A Scrubber puts [Redacted] in place of secrets: as they are, and in the forms
// that they have in JSON, in a URL and in base64. Nil finds none. Safe for
// concurrent use.
type Scrubber struct {
	forms []form
	first [256]bool // the bytes that blocks begin with
}

// A form is one that a secret may have.
type form struct {
	text []byte
	// part is how many bytes of text in a row are taken out. Each part has one of
	// the blocks in it that text is made of.
	part, block int
}

// NewScrubber returns one that takes secrets of 6 bytes and more out of texts, nil
// where there are none. Half of a secret goes too, from 16 bytes on: two halves that
// overlap are all of it.
func NewScrubber(secrets ...string) *Scrubber {
	return newScrubber(secrets, shortest, func(n int) (part, block int) {
		if n <= leastPart {
			return n, n
		}
		part = max(leastPart, (n+1)/2)
		return part, part / 2
	})
}

// NewWholeScrubber returns one that takes whole secrets of least bytes and more out of
// texts, for where they come in pieces or often: nil where there are none.
func NewWholeScrubber(least int, secrets ...string) *Scrubber {
	return newScrubber(secrets, max(least, shortest), func(n int) (part, block int) { return n, n })
}

func newScrubber(secrets []string, least int, parts func(n int) (part, block int)) *Scrubber {
	var s *Scrubber // most often there is none to make, and each answer comes by here
	for _, secret := range secrets {
		if len(secret) < least {
			continue
		}
		if s == nil {
			s = &Scrubber{}
		}
		for _, text := range forms(secret) {
			part, block := parts(len(text))
			s.forms = append(s.forms, form{[]byte(text), part, block})
			for at := 0; at+block <= len(text); at += block {
				s.first[text[at]] = true
			}
		}
	}
	return s
}

// forms lists what a secret looks like when quoted, each once.
func forms(secret string) []string {
	out := []string{
		secret,
		base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
	// Nearly all keys look the same elsewhere, and each answer comes by here.
	if strings.ContainsFunc(secret, quotable) {
		out = append(out,
			url.QueryEscape(secret),
			url.PathEscape(secret),
			strings.ReplaceAll(quoted(secret, false), "/", `\/`),
			quoted(secret, false),
			quoted(secret, true),
		)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// quotable reports whether r may look otherwise in JSON or in a URL.
func quotable(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' && r != '~'
}

// quoted returns s as JSON has it, without the quotes.
func quoted(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if e.Encode(s) != nil {
		return s
	}
	line := strings.TrimSuffix(b.String(), "\n")
	return line[1 : len(line)-1]
}

// Longest is the length in bytes of the longest form of a secret.
func (s *Scrubber) Longest() (n int) {
	if s == nil {
		return 0
	}
	for i := range s.forms {
		n = max(n, len(s.forms[i].text))
	}
	return n
}

// A cut is what goes out of a text: from the byte at from to the one before to.
type cut struct{ from, to int }

// cuts finds what is to go out of text, first to last. Cuts do not touch.
func (s *Scrubber) cuts(text []byte) (all []cut) {
	for i := range s.forms {
		all = s.forms[i].appendCuts(all, text)
	}
	if len(all) < 2 {
		return all
	}
	slices.SortFunc(all, func(a, b cut) int { return a.from - b.from })
	merged := all[:1]
	for _, c := range all[1:] {
		if last := &merged[len(merged)-1]; c.from <= last.to {
			last.to = max(last.to, c.to)
		} else {
			merged = append(merged, c)
		}
	}
	return merged
}

func (f *form) appendCuts(all []cut, text []byte) []cut {
	for at := 0; at+f.block <= len(f.text); at += f.block {
		if len(text) < f.block {
			return all
		}
		block := f.text[at : at+f.block]
		for from := 0; ; {
			found := bytes.Index(text[from:], block)
			if found < 0 {
				break
			}
			c := f.around(text, from+found, at)
			if c.to-c.from >= f.part {
				all = append(all, c)
			}
			from += found + 1
		}
	}
	return all
}

// around is as much of f as stands in text, where text[in:] begins as f.text[at:].
func (f *form) around(text []byte, in, at int) cut {
	c := cut{in, in}
	for shift := in - at; c.from > 0 && c.from > shift && text[c.from-1] == f.text[c.from-1-shift]; {
		c.from--
	}
	for shift := in - at; c.to < len(text) && c.to-shift < len(f.text) && text[c.to] == f.text[c.to-shift]; {
		c.to++
	}
	return c
}

// mayBegin reports whether a secret may begin in text.
func (s *Scrubber) mayBegin(text []byte) bool {
	for _, c := range text {
		if s.first[c] {
			return true
		}
	}
	return false
}

// Begun returns how many bytes at the end of text may be the beginning of a secret; all
// of that secret is more.
func (s *Scrubber) Begun(text []byte) (n int) {
	if s == nil {
		return 0
	}
	for i := range s.forms {
		f := s.forms[i].text
		for k := min(len(text), len(f)-1); k > n; k-- {
			if text[len(text)-k] == f[0] && bytes.Equal(text[len(text)-k:], f[:k]) {
				n = k
			}
		}
	}
	return n
}

// Find returns where the first secret in text begins, -1 where there is none.
func (s *Scrubber) Find(text []byte) int {
	if s == nil {
		return -1
	}
	if cuts := s.cuts(text); cuts != nil {
		return cuts[0].from
	}
	return -1
}

// Bytes returns text without the secrets in it: text itself where there are none.
func (s *Scrubber) Bytes(text []byte) []byte {
	if s == nil {
		return text
	}
	cuts := s.cuts(text)
	if cuts == nil {
		return text
	}
	return appendWithout(nil, text, 0, cuts)
}

// Text is [Scrubber.Bytes] for a text that may have been cut: where it ends with the
// first 6 bytes of a secret or more, these go too.
func (s *Scrubber) Text(text string) string {
	if s == nil || text == "" {
		return text
	}
	b := []byte(text)
	cuts := s.cuts(b)
	if n := s.Begun(b); n >= shortest {
		if last := len(cuts) - 1; last >= 0 && cuts[last].to >= len(b)-n {
			cuts[last].to = len(b)
		} else {
			cuts = append(cuts, cut{len(b) - n, len(b)})
		}
	}
	if cuts == nil {
		return text
	}
	return string(appendWithout(nil, b, 0, cuts))
}

// appendWithout appends text from the byte at from on to b, with [Redacted] in place of cuts.
func appendWithout(b, text []byte, from int, cuts []cut) []byte {
	for _, c := range cuts {
		if c.to <= from {
			continue
		}
		b = append(b, text[from:max(c.from, from)]...)
		b = append(b, Redacted...)
		from = c.to
	}
	return append(b, text[from:]...)
}

// A Stream takes secrets out of one text that comes in pieces, wherever these end.
// Not safe for concurrent use; its zero value lets everything through.
type Stream struct {
	scrub *Scrubber
	// begun is what the text ends with that a secret begins with; of it, the first
	// done bytes were passed on, or are gone.
	begun []byte
	done  int
	text  []byte // begun with the piece behind it
}

// Stream returns a new one.
func (s *Scrubber) Stream() Stream { return Stream{scrub: s} }

// Next returns what may be shown of the text with its next piece, good until the next
// call: all but what may be the beginning of a secret, of which up to five bytes are
// shown.
func (t *Stream) Next(piece []byte) []byte {
	if t.scrub == nil || len(t.begun) == 0 && !t.scrub.mayBegin(piece) {
		return piece
	}
	text := piece
	if len(t.begun) > 0 {
		t.text = append(append(t.text[:0], t.begun...), piece...)
		text = t.text
	}
	cuts, begun := t.scrub.cuts(text), t.scrub.Begun(text)
	gone := len(text)
	if begun >= shortest {
		gone = max(gone-begun, t.done)
	}
	var out []byte
	if cuts == nil {
		out = text[t.done:gone]
	} else {
		gone = max(gone, cuts[len(cuts)-1].to)
		out = appendWithout(nil, text[:gone], t.done, cuts)
	}
	t.begun = append(t.begun[:0], text[len(text)-begun:]...)
	t.done = max(0, gone-(len(text)-begun))
	return out
}

// Holds reports whether the text ends with the beginning of a secret that is held.
func (t *Stream) Holds() bool { return t.done < len(t.begun) }

// End returns what the text ends with, and begins a new one: half of a secret goes as
// all of it does.
func (t *Stream) End() []byte {
	held := t.Holds()
	t.begun, t.done = t.begun[:0], 0
	if !held {
		return nil
	}
	return []byte(Redacted)
}
