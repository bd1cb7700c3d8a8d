package search

import (
	"slices"
	"unicode/utf8"
)

// A mark is a place in a text where something of the query stands.
type mark struct {
	start, end int // bytes
	word, last int // the first and the last of the text's words in it
	unit       int // of the query
}

// A marker finds in texts what a search found there. Not safe for concurrent
// use.
type marker struct {
	analyzer *analyzer
	words    []wordMarker
	phrases  []phraseMarker
	settings *Settings
	local    localization
	locales  tongueSet // of the query
}

// A wordMarker finds a word, as it may be written.
type wordMarker struct {
	unit int
	in   tongueSet
	*matcher
	known map[string]int // typos of words seen before; -1: not it
}

// A phraseMarker finds words side by side.
type phraseMarker struct {
	unit  int
	words []word
}

// newMarker returns the marker of what s looked for.
func (s *searcher) newMarker() (*marker, error) {
	m := &marker{analyzer: s.plan.settings.analyzer(), settings: s.plan.settings, local: s.plan.settings.localization(), locales: tonguesOf(s.plan.query.Locales)}
	if s.graph == nil {
		return m, nil
	}
	for _, e := range s.graph.edges {
		if e.words != nil {
			m.phrases = append(m.phrases, phraseMarker{e.from, e.words})
			continue
		}
		for _, f := range e.forms {
			w, err := s.fuzzy.matcher(f.term, e.prefix, e.typos)
			if err != nil {
				return nil, err
			}
			m.words = append(m.words, wordMarker{e.from, f.in, w, map[string]int{}})
		}
	}
	return m, nil
}

// typosIn returns with how many typos a word of the text is the marker's.
func (w *wordMarker) typosIn(term string) (typos int, ok bool) {
	n, seen := w.known[term]
	if !seen {
		if n, ok = w.distance(term); !ok {
			n = -1
		}
		w.known[term] = n
	}
	return n, n >= 0
}

// marks returns the places in a text, at a path, whose words are ws, in order
// and none within another.
func (m *marker) marks(path, text string, ws []word) []mark {
	var out []mark
	exact := coveredBy(m.settings.TypoTolerance.DisableOnAttributes, path)
	here := m.local.asked(path, m.locales)
	for i, w := range ws {
		for _, f := range w.spelled() {
			for k := range m.words {
				wm := &m.words[k]
				if f.in&wm.in&here == 0 {
					continue
				}
				if typos, ok := wm.typosIn(f.term); ok && (typos == 0 || !exact) {
					out = append(out, mark{w.start, w.start + wm.length(text[w.start:w.end], typos), i, i, wm.unit})
				}
			}
		}
		for _, p := range m.phrases {
			if p.at(ws[i:], here) {
				last := i + len(p.words) - 1
				out = append(out, mark{w.start, ws[last].end, i, last, p.unit})
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

// length is how many bytes of a word are shown as found: of one that only
// begins like the query's, the beginning.
func (w *wordMarker) length(text string, typos int) int {
	if !w.prefix || typos > 0 {
		return len(text)
	}
	for n := 0; n < len(text); {
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
		if utf8.RuneCountInString(fold(text[:n])) >= w.matcher.length {
			return n
		}
	}
	return len(text)
}

// at reports whether the phrase, in some tongues, stands at the beginning of ws.
func (p *phraseMarker) at(ws []word, in tongueSet) bool {
	if len(ws) < len(p.words) {
		return false
	}
	for i, w := range p.words {
		if !ws[i].same(&w, in) || ws[i].pos-ws[0].pos != w.pos-p.words[0].pos {
			return false
		}
	}
	return true
}

// same reports whether some of the tongues write w and o alike.
func (w *word) same(o *word, in tongueSet) bool {
	for _, f := range w.spelled() {
		for _, g := range o.spelled() {
			if f.term == g.term && f.in&g.in&in != 0 {
				return true
			}
		}
	}
	return false
}
