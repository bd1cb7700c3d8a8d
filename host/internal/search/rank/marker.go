package rank

import (
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/text"
)

// NewMarker returns what finds in texts what s looked for.
func (s *Searcher) NewMarker() *highlight.Marker {
	m := highlight.NewMarker(s.plan.Settings, s.plan.Locales)
	if s.graph == nil {
		return m
	}
	for _, e := range s.graph.edges {
		if e.words != nil {
			m.AddPhrase(e.from, e.to, e.words)
			continue
		}
		for i, f := range e.forms {
			w := text.NewMatcher(f.Term, e.prefix, e.typos)
			m.AddWord(e.from, e.to, f.In, w, e.withTypos(), func(term string, typos int, stop bool) bool {
				return e.last[i].takes(term, typos) && (!stop || s.hasBeginning(term, w))
			})
		}
	}
	return m
}

// withTypos returns the words that stand with typos for one that may go on; nil where
// there are none.
func (e *Edge) withTypos() map[string]bool {
	if !e.prefix || e.typos == 0 {
		return nil
	}
	out := map[string]bool{}
	for _, derived := range e.Derived {
		for _, d := range derived {
			if d.typos > 0 {
				out[d.Term] = true
			}
		}
	}
	return out
}

// hasBeginning reports whether the index has a word that w finds and that is term, or
// begins it where w may go on.
func (s *Searcher) hasBeginning(term string, w *text.Matcher) bool {
	if s.hasWord(term) {
		return true
	}
	for end := range term {
		if _, ok := w.Distance(term[:end]); w.Prefix && end > 0 && ok && s.hasWord(term[:end]) {
			return true
		}
	}
	return false
}

// hasWord reports whether the index has a word, where the caller may see it. What cannot be
// read is not there.
func (s *Searcher) hasWord(term string) bool {
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(bleveindex.FieldWords)
		if err != nil {
			continue
		}
		if docs, err := seg.AllPostings(dict, []byte(term)); err == nil && !s.reached(seg, docs).IsEmpty() {
			return true
		}
	}
	return false
}
