package rank

import "github.com/parley-search/parley/host/internal/search/highlight"

// NewMarker returns what finds in texts what s looked for.
func (s *Searcher) NewMarker() (*highlight.Marker, error) {
	m := highlight.NewMarker(s.plan.Settings, s.plan.Locales)
	if s.graph == nil {
		return m, nil
	}
	for _, e := range s.graph.edges {
		if e.words != nil {
			m.AddPhrase(e.from, e.to, e.words)
			continue
		}
		for _, f := range e.forms {
			w, err := s.Fuzzy.Matcher(f.Term, e.prefix, e.typos)
			if err != nil {
				return nil, err
			}
			m.AddWord(e.from, e.to, f.In, w, e.withTypos())
		}
	}
	return m, nil
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
