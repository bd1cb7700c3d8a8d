package text

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/pl"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	danishstem "github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	swedishstem "github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	turkishstem "github.com/blevesearch/snowballstem/turkish"
)

// minStem is the shortest word that has other forms.
const minStem = 4

// A Stemmer cuts words of one language to what their forms have in common; the zero value knows no forms.
type Stemmer struct{ stem func(word string) string }

// stemmers are those of the languages whose questions are known by their words. Croatian has none: bleve's
// compiles a hundred expressions when the program starts.
var stemmers = map[string]func(word string) string{
	"en": snowball(english.Stem), "de": snowball(german.Stem), "fr": snowball(french.Stem), "es": snowball(spanish.Stem),
	"it": snowball(italian.Stem), "pt": snowball(portuguese.Stem), "nl": snowball(dutch.Stem), "da": snowball(danishstem.Stem),
	"sv": snowball(swedishstem.Stem), "no": snowball(norwegian.Stem), "fi": snowball(finnish.Stem), "ru": snowball(russian.Stem),
	"ro": snowball(romanian.Stem), "hu": snowball(hungarian.Stem), "tr": snowball(turkishstem.Stem), "ga": snowball(irish.Stem),
	"ar": snowball(arabic.Stem), "ta": snowball(tamil.Stem), "ckb": filtered(ckb.NewSoraniStemmerFilter()),
	"hi": filtered(hi.NewHindiStemmerFilter()), "pl": stemPolish,
}

func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		stem(env)
		return env.Current()
	}
}

func filtered(f analysis.TokenFilter) func(string) string {
	return func(word string) string {
		out := f.Filter(analysis.TokenStream{{Term: []byte(word)}})
		return string(out[0].Term)
	}
}

// stemPolish reads its table, of a megabyte, when the first question in Polish is asked.
func stemPolish(word string) string { return polish()(word) }

var polish = sync.OnceValue(func() func(string) string {
	f, err := pl.NewPolishStemmerFilter()
	if err != nil { // the table is part of the program
		return func(string) string { return "" }
	}
	return filtered(f)
})

// byLetters are the languages of words in other letters than Latin ones, where the question's has others.
var byLetters = []struct {
	letters *unicode.RangeTable
	langs   []string // the first one unless the question is in another
}{
	{unicode.Latin, []string{"en", "de", "fr", "es", "it", "pt", "nl", "da", "sv", "no", "fi", "ro", "hu", "tr", "ga", "pl"}},
	{unicode.Cyrillic, []string{"ru"}},
	{unicode.Arabic, []string{"ar", "ckb"}},
	{unicode.Devanagari, []string{"hi"}},
	{unicode.Tamil, []string{"ta"}},
}

// StemmerOf returns the stemmer for a word, folded, of a question in the language of that code: that of the
// language if it is written in the word's letters, else the usual one of these, English for Latin ones. A word
// with digits has no forms.
func StemmerOf(lang, word string) Stemmer {
	for _, l := range byLetters {
		if isAll(word, l.letters) {
			if !slices.Contains(l.langs, lang) {
				lang = l.langs[0]
			}
			return Stemmer{stemmers[lang]}
		}
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
	return s.stem(word)
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
