package chat

import (
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/search/text"
)

// What a question has that goes on from the one before, folded: words that it begins with, words that stand for
// what another one names, and words that begin a part of one, as in "for Windows?" and "am Sonntag?".
var (
	leads    = []string{"and", "und", "et", "y", "e", "en", "och", "og", "what about", "how about", "was ist mit", "qu'en est il", "y si"}
	pronouns = []string{"it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "this", "that", "those", "these", "there", "es", "sie", "ihn", "ihr", "dessen", "deren", "dort", "davon", "dafur", "darin", "cela", "celui", "celle", "ca", "elle", "elles"}
	parts    = []string{"for", "in", "on", "at", "with", "without", "from", "fur", "im", "am", "bei", "beim", "mit", "ohne", "auf", "pour", "avec", "sans", "en", "para", "con", "sin", "per"}
)

// Bounds of a question that goes on from the one before, in words: one that names more is whole.
const (
	mostTelling = 3 // that do not only ask
	shortPart   = 4 // in all, of one that is a part only
)

// leansOnBefore reports whether a question only makes sense after the one before it.
func leansOnBefore(question string) bool {
	words := text.SplitWords(question)
	telling := tellingWords(question)
	for _, p := range pronouns {
		delete(telling, p)
	}
	if len(words) == 0 || len(telling) > mostTelling {
		return false
	}
	whole := text.JoinTerms(words) + " "
	begins := func(with string) bool { return strings.HasPrefix(whole, with+" ") }
	return len(telling) == 0 || slices.ContainsFunc(leads, begins) || len(words) <= shortPart && slices.ContainsFunc(parts, begins) ||
		!strings.Contains(whole, "gibt es ") && slices.ContainsFunc(words, func(w text.Word) bool { return slices.Contains(pronouns, w.Term) })
}

// withSubject returns what is searched for where a model asks for q to answer the last question. A question that
// leans on those before it names no subject: where q has no other words than it, those of the one before, or of the
// last one that leans on none, that it lacks are added. changed says so.
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
