package rank

import (
	"strings"

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
		for _, f := range e.forms {
			m.AddWord(e.from, e.to, f.In, text.NewMatcher(f.Term, e.prefix, e.typos), e.withTypos(), e.standsFor)
		}
	}
	return m
}

// withTypos returns the words that stand with typos for one that may go on, and how
// many they have; nil where there are none.
func (e *Edge) withTypos() map[string]uint8 {
	if !e.prefix || e.typos == 0 {
		return nil
	}
	out := map[string]uint8{}
	for _, derived := range e.Derived {
		for _, d := range derived {
			if d.typos > 0 {
				out[d.Term] = d.typos
			}
		}
	}
	return out
}

// standsFor reports whether a word of the index stands for the edge's that is term, or
// begins it where the edge's may go on.
func (e *Edge) standsFor(term string) bool {
	for _, derived := range e.Derived {
		for i := range derived {
			if d := derived[i].Term; d == term || e.prefix && strings.HasPrefix(term, d) {
				return true
			}
		}
	}
	return false
}
