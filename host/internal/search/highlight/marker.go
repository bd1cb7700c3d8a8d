package highlight

import (
	"slices"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A mark is a place in a text where something of the query stands.
type mark struct {
	start, end int // bytes
	word, last int // the first and the last of the text's words in it
	unit, to   int // of the query, the first and the one behind the last
}

// A Marker finds in texts what a search found there. Not safe for concurrent
// use.
type Marker struct {
	analyzer *text.Analyzer
	words    []wordMarker
	phrases  []phraseMarker
	settings *settings.Settings
	local    text.Localization
	locales  text.AlphabetSet // of the query
}

// A wordMarker finds a word, as it may be written.
type wordMarker struct {
	unit, to int
	in       text.AlphabetSet
	*text.Matcher
	// Typos of words seen before, and of stop words; -1: not it.
	known, knownStops map[string]int
	// derived are the words of the index that stand with typos for one that may go on;
	// nil for one that may not.
	derived map[string]bool
	// stands reports whether the index has a word like it that is, or begins, a word of a
	// text with so many typos, which may be a stop word.
	stands func(term string, typos int, stop bool) bool
}

// A phraseMarker finds words side by side.
type phraseMarker struct {
	unit, to int
	words    []text.Word
}

// NewMarker returns a marker of nothing, for texts of an index with settings s and
// a query in some languages.
func NewMarker(s *settings.Settings, locales []string) *Marker {
	return &Marker{analyzer: s.Analyzer(), settings: s, local: s.Localization(), locales: text.AlphabetsOf(locales)}
}

// AddPhrase has m find the units of the query from unit to below to that are words
// side by side. As in Meilisearch, a phrase with a stop word is found nowhere.
func (m *Marker) AddPhrase(unit, to int, words []text.Word) {
	if slices.ContainsFunc(words, func(w text.Word) bool { return w.Stop }) {
		return
	}
	m.phrases = append(m.phrases, phraseMarker{unit, to, words})
}

// AddWord has m find the units of the query from unit to below to that are a word, as
// in writes it. derived are the words of the index that stand for it with typos,
// where it may go on; else nil. stands reports whether the index has a
// word like it that is term, or begins it where w may go on.
func (m *Marker) AddWord(unit, to int, in text.AlphabetSet, w *text.Matcher, derived map[string]bool, stands func(term string, typos int, stop bool) bool) {
	m.words = append(m.words, wordMarker{unit, to, in, w, map[string]int{}, map[string]int{}, derived, stands})
}

// typosIn returns with how many typos a word of the text is the marker's.
func (w *wordMarker) typosIn(term string, stop bool) (typos int, ok bool) {
	known := w.known
	if stop {
		known = w.knownStops
	}
	n, seen := known[term]
	if !seen {
		// A stop word counts where it is a word of the index as well, written otherwise
		// ("The"), or begins with one.
		if n, ok = w.Distance(term); !ok || !w.stands(term, n, stop) {
			n = -1
		}
		known[term] = n
	}
	return n, n >= 0
}

// marks returns the places in a text, at a path, whose words are ws, in order
// and none within another.
func (m *Marker) marks(path, typed string, ws []text.Word) []mark {
	var out []mark
	exact := attribute.CoveredBy(m.settings.TypoTolerance.DisableOnAttributes, path)
	here := m.local.Asked(path, m.locales)
	for i, w := range ws {
		for _, f := range w.Spellings() {
			for k := range m.words {
				wm := &m.words[k]
				if f.In&wm.in&here == 0 {
					continue
				}
				if typos, ok := wm.typosIn(f.Term, w.Stop); ok && (typos == 0 || !exact) {
					out = append(out, mark{w.Start, w.Start + wm.length(typed[w.Start:w.End], f.Term, typos), i, i, wm.unit, wm.to})
				}
			}
		}
		for _, p := range m.phrases {
			if p.at(ws[i:], here) {
				last := i + len(p.words) - 1
				out = append(out, mark{w.Start, ws[last].End, i, last, p.unit, p.to})
			}
		}
	}
	// Of those that begin together the longest; what it overlaps is in it.
	slices.SortStableFunc(out, func(a, b mark) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	end := 0
	return slices.DeleteFunc(out, func(k mark) bool {
		if k.start < end {
			return true
		}
		end = k.end
		return false
	})
}

// length is how many bytes of a word are shown as found: of one that may only
// begin like the query's, as much as that is long. With typos it is the shortest word
// of the index that stands for the query's with any number of them and begins this one,
// where that is less.
func (w *wordMarker) length(typed, term string, typos int) int {
	if !w.Prefix {
		return len(typed)
	}
	most := w.Matcher.Length
	if typos > 0 {
		n := 0
		for end := range term {
			if n++; n > 1 && n-1 < most && w.derived[term[:end]] {
				most = n - 1
			}
		}
	}
	for n := 0; n < len(typed); {
		_, size := utf8.DecodeRuneInString(typed[n:])
		n += size
		if utf8.RuneCountInString(text.Fold(typed[:n])) >= most {
			return n
		}
	}
	return len(typed)
}

// at reports whether the phrase, in some alphabets, stands at the beginning of ws,
// whatever parts its words there, as in Meilisearch.
func (p *phraseMarker) at(ws []text.Word, in text.AlphabetSet) bool {
	if len(ws) < len(p.words) {
		return false
	}
	for i, w := range p.words {
		if !sameWord(&ws[i], &w, in) {
			return false
		}
	}
	return true
}

// sameWord reports whether some of the alphabets write w and o alike.
func sameWord(w *text.Word, o *text.Word, in text.AlphabetSet) bool {
	for _, f := range w.Spellings() {
		for _, g := range o.Spellings() {
			if f.Term == g.Term && f.In&g.In&in != 0 {
				return true
			}
		}
	}
	return false
}
