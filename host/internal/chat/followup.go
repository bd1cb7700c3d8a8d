package chat

import (
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/search/text"
)

// leads are words that a question begins with which goes on from the one before, and pronouns those that stand
// for what it names; folded.
var (
	leads    = []string{"and", "und", "et", "y", "e", "en", "och", "og", "what about", "how about", "was ist mit", "qu'en est il", "y si"}
	pronouns = []string{"it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "those", "these", "es", "sie", "ihn", "ihr", "dessen", "deren", "cela", "celui", "celle"}
)

// leansOnBefore reports whether a question only makes sense after the one before it.
func leansOnBefore(question string) bool {
	words := text.SplitWords(question)
	whole := text.JoinTerms(words) + " "
	return slices.ContainsFunc(leads, func(l string) bool { return strings.HasPrefix(whole, l+" ") }) ||
		slices.ContainsFunc(words, func(w text.Word) bool { return slices.Contains(pronouns, w.Term) })
}

// withSubject returns what is searched for where a model asks for q to answer the last question. A question that
// leans on the one before it names no subject: where q has no other words than it, those of the one before that
// it lacks are added. changed says so.
func withSubject(q, last, before string) (full string, changed bool) {
	if before == "" || strings.TrimSpace(q) == "" || !leansOnBefore(last) {
		return q, false
	}
	asked, has, subject := tellingWords(last), tellingWords(q), tellingWords(before)
	for w := range has {
		if !asked[w] {
			return q, false // the model's own words
		}
	}
	full = q
	for _, w := range text.SplitWords(before) {
		if !has[w.Term] && subject[w.Term] {
			has[w.Term] = true
			full += " " + before[w.Start:w.End]
		}
	}
	return full, full != q
}
