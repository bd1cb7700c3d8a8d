package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// minStem is the shortest word that has other forms.
const minStem = 4

// A Stemmer cuts words of one language to what their forms have in common; the zero value knows no forms.
type Stemmer struct{ stem func(*snowballstem.Env) bool }

// stemmers are those of the languages whose questions are known by their words.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"en": english.Stem, "de": german.Stem, "fr": french.Stem, "es": spanish.Stem, "it": italian.Stem, "pt": portuguese.Stem,
	"nl": dutch.Stem, "da": danish.Stem, "sv": swedish.Stem, "no": norwegian.Stem, "fi": finnish.Stem, "ru": russian.Stem,
	"ro": romanian.Stem, "hu": hungarian.Stem, "tr": turkish.Stem,
}

// StemmerOf returns the stemmer for a word, folded, of a question in the language of that code. A word in
// other letters than the language's, and each where the code is empty, has the stemmer of its letters: of
// English for Latin ones, of Russian for Cyrillic, of Arabic and of Tamil for theirs. One with digits has no
// forms.
func StemmerOf(lang, word string) Stemmer {
	latin := lang
	if latin == "" || latin == "ru" {
		latin = "en"
	}
	switch {
	case isAll(word, unicode.Latin):
		return Stemmer{stemmers[latin]}
	case isAll(word, unicode.Cyrillic):
		return Stemmer{russian.Stem}
	case isAll(word, unicode.Arabic):
		return Stemmer{arabic.Stem}
	case isAll(word, unicode.Tamil):
		return Stemmer{tamil.Stem}
	}
	return Stemmer{}
}

func isAll(word string, script *unicode.RangeTable) bool {
	for _, r := range word {
		if !unicode.Is(script, r) {
			return false
		}
	}
	return true
}

// Stem returns what the forms of a folded word have in common; empty where the word is too short to have any.
func (s Stemmer) Stem(word string) string {
	if s.stem == nil || utf8.RuneCountInString(word) < minStem {
		return ""
	}
	env := snowballstem.NewEnv(word)
	s.stem(env)
	return env.Current()
}

// StemPrefix returns what all forms of a word with a stem begin with: stemming may change the last
// letter, as in "study" and "studies".
func StemPrefix(word, stem string) string {
	n := 0
	for n < len(word) && n < len(stem) && word[n] == stem[n] {
		n++
	}
	prefix := strings.ToValidUTF8(word[:n], "")
	if _, size := utf8.DecodeLastRuneInString(prefix); n == len(stem) && utf8.RuneCountInString(prefix) >= minStem {
		prefix = prefix[:len(prefix)-size]
	}
	return prefix
}
