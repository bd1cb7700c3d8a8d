package text

import (
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/ga"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pl"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// A questionLanguage has words that make a question of others.
type questionLanguage struct {
	code  string
	stops []byte // as bleve keeps them
	// asks are further words that only ask, and measures those that do behind "how".
	asks, measures string
}

// languages are those of which the stop words are known, English first.
var languages = []questionLanguage{
	{"en", en.EnglishStopWords, "can could may might must shall will need want get please tell", "much many long"},
	{"de", de.GermanStopWords, "wer wen wem wann warum wieso wieviel woher wohin kann kannst darf dürfen können muss müssen soll gibt bitte beim im zum zur vom am ans ums", "viel viele lange hoch"},
	{"fr", fr.FrenchStopWords, "quel quelle quels quelles quoi où quand comment combien pourquoi peut peux puis faut dois doit", ""},
	{"es", es.SpanishStopWords, "qué quién quiénes cuál cuáles cuánto cuánta cuántos cuántas cuándo dónde cómo puedo puede debo debe hay", ""},
	{"it", it.ItalianStopWords, "chi quale quali quanto quanta quanti quante quando dove come perché posso può devo deve", ""},
	{"pt", pt.PortugueseStopWords, "quem qual quais quanto quanta quantos quantas quando onde como porquê posso pode devo deve", ""},
	{"nl", nl.DutchStopWords, "wie wat waar wanneer waarom hoe hoeveel welke kan mag moet", "veel lang hoog"},
	{"da", da.DanishStopWords, "hvem hvad hvor hvornår hvorfor hvordan hvilken hvilke kan må skal", "meget mange længe"},
	{"sv", sv.SwedishStopWords, "vem vad var när varför hur vilken vilka kan får måste", "mycket många länge"},
	{"no", no.NorwegianStopWords, "hvem hva hvor når hvorfor hvordan hvilken hvilke kan må skal", "mye mange lenge"},
	{"fi", fi.FinnishStopWords, "kuka mikä missä milloin miksi miten kuinka voi voiko", "paljon monta kauan"},
	{"ru", ru.RussianStopWords, "кто что где когда почему как сколько какой какая какие можно нужно", ""},
	{"ro", ro.RomanianStopWords, "cine ce unde când cum cât câte pot poate", ""},
	{"hu", hu.HungarianStopWords, "ki mi hol mikor miért hogyan mennyi hány kell lehet", ""},
	{"tr", tr.TurkishStopWords, "kim ne nerede zaman neden nasıl kaç hangi", ""},
	{"pl", pl.PolishStopWords, "kto co gdzie kiedy dlaczego jak ile jaki jaka jakie czy można trzeba", ""},
	{"ga", ga.IrishStopWords, "cé cad cathain conas cén", ""},
	{"hi", hi.HindiStopWords, "कितना कितने कितनी कब कहाँ क्यों कैसे", ""},
	{"ar", ar.ArabicStopWords, "كم متى أين لماذا كيف ماذا هل", ""},
	{"ckb", ckb.SoraniStopWords, "", ""},
}

// hows are the words behind which a measure asks.
var hows = []string{"how", "wie", "hoe", "hvor", "hur", "kuinka"}

// askingWords are the words of each language that ask, folded; those of measures are false.
var askingWords = sync.OnceValue(func() (sets []map[string]bool) {
	for _, l := range languages {
		words := analysis.NewTokenMap()
		_ = words.LoadBytes(l.stops) // it reads from memory
		set := make(map[string]bool, len(words))
		for _, w := range strings.Fields(l.measures) {
			set[Fold(w)] = false
		}
		for w := range words {
			set[Fold(w)] = true
		}
		for _, w := range strings.Fields(l.asks) {
			set[Fold(w)] = true
		}
		sets = append(sets, set)
	}
	return sets
})

// AskingWords returns the language of a question, whose folded words these are in order, and which of them
// only ask: "which" and "did" make it a question, and so does "long" behind "how". Its language is the one that
// has most of such words, and two at least; empty: it is not known.
func AskingWords(words []Word) (lang string, asking map[string]bool) {
	for k, set := range askingWords() {
		of := map[string]bool{}
		for i := range words {
			asks, known := set[words[i].Term]
			if asks || known && i > 0 && words[i].Pos == words[i-1].Pos+1 && slices.Contains(hows, words[i-1].Term) {
				of[words[i].Term] = true
			}
		}
		if len(of) > len(asking) {
			lang, asking = languages[k].code, of
		}
	}
	if len(asking) < 2 {
		lang = ""
	}
	return lang, asking
}
