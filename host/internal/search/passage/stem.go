package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"
)

// minStem is the shortest word that has other forms.
const minStem = 4

// Stem returns what the forms of a word have in common, by the rules of English for words in Latin
// letters and of Russian for those in Cyrillic ones; empty where no rules are known, or for a word that
// is too short or has digits. The word is folded.
func Stem(word string) string {
	if utf8.RuneCountInString(word) < minStem {
		return ""
	}
	latin, cyrillic := true, true
	for _, r := range word {
		latin = latin && 'a' <= r && r <= 'z'
		cyrillic = cyrillic && unicode.Is(unicode.Cyrillic, r)
	}
	env := snowballstem.NewEnv(word)
	switch {
	case latin:
		english.Stem(env)
	case cyrillic:
		russian.Stem(env)
	default:
		return ""
	}
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
