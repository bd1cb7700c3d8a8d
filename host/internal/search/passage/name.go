package passage

import (
	"cmp"
	"strings"
	"unicode"
)

// Title names a passage of d: its page and the sections that it is in, from the top one down.
func (p *Passage) Title(d *Document) string {
	parts := make([]string, 0, len(p.Headings)+1)
	if d.Title != "" {
		parts = append(parts, d.Title)
	}
	for i, h := range p.Headings {
		if i == 0 && strings.EqualFold(h, d.Title) {
			continue // a page that begins with its title
		}
		parts = append(parts, h)
	}
	return strings.Join(parts, " > ")
}

// URL is where a reader finds a passage of d: the document's URL with the anchor of the last heading, its own
// or the one that sites made of Markdown give it.
func (p *Passage) URL(d *Document) string {
	if d.URL == "" || len(p.Headings) == 0 || strings.Contains(d.URL, "#") {
		return d.URL
	}
	return d.URL + "#" + cmp.Or(p.Anchor, Anchor(p.Headings[len(p.Headings)-1]))
}

// Anchor is the anchor that generators of sites give a heading: letters, digits, hyphens and underscores
// in lower case, with hyphens for spaces.
func Anchor(heading string) string {
	var b strings.Builder
	b.Grow(len(heading))
	for _, r := range heading {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(unicode.ToLower(r))
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// tellCoverage is how many of the best passages say how much of a question is covered.
const tellCoverage = 2

// Coverage is how much of the question's weight one of the first of list has at most, 0 to 1. Of what a
// document without the answer has, much is spread over it; an answer and its question's words are close
// together.
func Coverage(list []Passage) (most float64) {
	for _, p := range list[:min(len(list), tellCoverage)] {
		most = max(most, p.Cover)
	}
	return most
}
