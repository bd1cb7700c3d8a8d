package passage

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/parley-search/parley/host/internal/search/text"
)

//go:embed synonyms.txt
var synonymText string

// Synonym is what a word counts as that only means what a word of the question does.
const Synonym = 0.3

// synonyms are the groups of synonyms.txt, by language and by the stem of each of their words.
var synonyms = sync.OnceValue(func() map[string]map[string][]string {
	all := map[string]map[string][]string{}
	lang := ""
	for line := range strings.Lines(synonymText) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			lang = strings.Trim(line, "[]")
			all[lang] = map[string][]string{}
		default:
			group := strings.Fields(strings.ReplaceAll(line, "_", ""))
			for i, w := range group {
				key := stemOr(lang, w)
				all[lang][key] = slices.Concat(all[lang][key], group[:i], group[i+1:])
			}
		}
	}
	return all
})

// stemOr returns the stem of a word, or the word where it is too short for one.
func stemOr(lang, word string) string {
	if stem := text.StemmerOf(lang, word).Stem(word); stem != "" {
		return stem
	}
	return word
}

// Synonyms returns the words that are used for the same as a folded word of a question in a language, or as two
// words written as one, "turnoff". Where the language is empty, the word may be of any that has such words.
func Synonyms(lang, word string) (list []string) {
	all := synonyms()
	langs := []string{lang}
	if lang == "" {
		langs = slices.Sorted(maps.Keys(all))
	}
	for _, l := range langs {
		for _, w := range all[l][stemOr(l, word)] {
			if w != word && !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}
