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
			m.AddPhrase(e.from, e.words)
			continue
		}
		for _, f := range e.forms {
			w, err := s.Fuzzy.Matcher(f.Term, e.prefix, e.typos)
			if err != nil {
				return nil, err
			}
			m.AddWord(e.from, f.In, w)
		}
	}
	return m, nil
}
