package text

import (
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// languageStops are the stop words of languages, folded: one set a language,
// English first.
var languageStops = sync.OnceValue(func() (sets []map[string]bool) {
	for _, list := range [][]byte{
		en.EnglishStopWords, de.GermanStopWords, fr.FrenchStopWords, es.SpanishStopWords, it.ItalianStopWords, pt.PortugueseStopWords,
		nl.DutchStopWords, da.DanishStopWords, sv.SwedishStopWords, no.NorwegianStopWords, fi.FinnishStopWords,
		ru.RussianStopWords, ro.RomanianStopWords, hu.HungarianStopWords, tr.TurkishStopWords,
	} {
		words := analysis.NewTokenMap()
		_ = words.LoadBytes(list) // it reads from memory
		set := make(map[string]bool, len(words))
		for w := range words {
			set[Fold(w)] = true
		}
		sets = append(sets, set)
	}
	return sets
})

// StopWords returns which of the folded words of a question are stop words of
// its language, which is the one that has most of them: "which" and "did" make
// it a question, and say nothing of what it is about.
func StopWords(words []Word) map[string]bool {
	var found map[string]bool
	for _, set := range languageStops() {
		of := map[string]bool{}
		for i := range words {
			if set[words[i].Term] {
				of[words[i].Term] = true
			}
		}
		if len(of) > len(found) {
			found = of
		}
	}
	return found
}
