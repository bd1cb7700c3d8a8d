package search

import "github.com/parley-search/parley/host/internal/search/highlight"

// newMarker returns what finds in texts what s looked for.
func (s *ranker) newMarker() (*highlight.Marker, error) {
	m := highlight.NewMarker(s.plan.settings, s.plan.locales)
	if s.graph == nil {
		return m, nil
	}
	for _, e := range s.graph.edges {
		if e.words != nil {
			m.AddPhrase(e.from, e.words)
			continue
		}
		for _, f := range e.forms {
			w, err := s.fuzzy.Matcher(f.Term, e.prefix, e.typos)
			if err != nil {
				return nil, err
			}
			m.AddWord(e.from, f.In, w)
		}
	}
	return m, nil
}
