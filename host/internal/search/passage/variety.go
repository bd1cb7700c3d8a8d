package passage

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// ofText is from which part of its text on a passage is a list, of questions, headings or links.
	ofText = 0.6
	// mostOfFirst is how many passages of the first document come before the first one of another.
	mostOfFirst = 3
	// answered is what the first document has at least of a question that it answers.
	answered = 0.75
	// compared is how many passages are compared with each other: those that may be shown.
	compared = 30
	// alike is the part of their words that two passages share that say the same.
	alike = 0.9
)

// vary orders a list so that what comes first answers: no list of links, of questions or of contents while there
// is something else, and of another document before the fourth passage of the first one.
func vary(list []Passage, docs []Document) []Passage {
	raise(list, 0, func(p *Passage) bool { return !p.List })
	of := func(p *Passage) string { return docs[p.Doc].place(p.Doc) }
	if n := mostOfFirst; len(list) > n && Coverage(list) >= answered && !slices.ContainsFunc(list[:n], func(p Passage) bool { return of(&p) != of(&list[0]) }) {
		first := of(&list[0])
		raise(list, n, func(p *Passage) bool { return of(p) != first })
	}
	return list
}

// raise moves the first passage that is good, from place at on, to that place.
func raise(list []Passage, at int, good func(p *Passage) bool) {
	for i := at; i < len(list); i++ {
		if good(&list[i]) {
			p := list[i]
			copy(list[at+1:i+1], list[at:i])
			list[at] = p
			return
		}
	}
}

// joinAlike keeps the first of passages below the same heading that have nearly the same words, with the places of
// the others. Those that differ in a number or in a word of the question say different things.
func (r *ranking) joinAlike(list []Passage, docs []Document) []Passage {
	s := newScanner(r.question)
	type kept struct {
		at      int
		heading string
		words   map[string]bool
	}
	var seen []kept
	out := list[:0]
	for i, p := range list {
		if i >= compared || p.Row || len(p.Text) < minEqual {
			out = append(out, p)
			continue
		}
		words := map[string]bool{}
		for w := range strings.FieldsFuncSeq(p.Text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			words[strings.ToLower(w)] = true
		}
		heading := lastHeading(&p, docs)
		at := slices.IndexFunc(seen, func(k kept) bool { return k.heading == heading && s.areAlike(words, k.words) })
		if at >= 0 {
			same := &out[seen[at].at]
			for _, doc := range slices.Concat([]int{p.Doc}, p.Also) {
				if doc != same.Doc && !slices.Contains(same.Also, doc) {
					same.Also = append(same.Also, doc)
				}
			}
			continue
		}
		seen = append(seen, kept{len(out), heading, words})
		out = append(out, p)
	}
	return out
}

// areAlike reports whether two texts with these words say the same.
func (s *scanner) areAlike(x, y map[string]bool) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	shared := 0
	for w := range x {
		if y[w] {
			shared++
		}
	}
	if float64(shared) < alike*float64(len(x)+len(y)-shared) {
		return false
	}
	tells := func(words, others map[string]bool) bool {
		for w := range words {
			if !others[w] && (strings.ContainsAny(w, "0123456789") || len(s.spellings[w]) > 0) {
				return true
			}
		}
		return false
	}
	return !tells(x, y) && !tells(y, x)
}
