package rank

import (
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// longestJoin is how many words of a query may have been meant as one.
const longestJoin = 3

// newGraph looks up the units and what may stand for them: synonyms, those of one word
// as good as the word itself, words written in one (a typo for each of them) and words
// written apart (one typo), those of the query or such as are written in one.
func (s *Searcher) newGraph(units []text.Unit) (*graph, error) {
	g := &graph{n: len(units)}
	for i, u := range units {
		e, err := s.expand(u)
		if err != nil {
			return nil, err
		}
		e.from, e.to = i, i+1
		g.edges = append(g.edges, e)
	}
	for i := range units {
		for _, add := range []func(*graph, []text.Unit, int) error{s.synonyms, s.joins, s.splits} {
			if err := add(g, units, i); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

// synonyms adds what stands for the words from units[i] on.
func (s *Searcher) synonyms(g *graph, units []text.Unit, i int) error {
	if len(s.plan.Synonyms) == 0 {
		return nil
	}
	terms := []string{}
	for j := i; j < len(units) && j < i+settings.LongestSynonym && !units[j].Phrase && (j == i || neighbours(&units[j-1], &units[j])); j++ {
		terms = append(terms, units[j].Words[0].Term)
		cost := uint8(0)
		if j > i {
			cost = uint8(j + 1 - i) // as words written in one
		}
		for _, ws := range s.plan.Synonyms[strings.Join(terms, " ")] {
			if err := s.alternative(g, &Edge{from: i, to: j + 1}, ws, cost); err != nil {
				return err
			}
		}
	}
	return nil
}

// alternative adds e as an edge for the words, side by side, where there are
// documents that have them.
func (s *Searcher) alternative(g *graph, e *Edge, ws []text.Word, cost uint8) error {
	docs, err := s.phrase(ws)
	if err != nil || docs.IsEmpty() {
		return err
	}
	e.words, e.cost, e.within = ws, cost, [3]*roaring.Bitmap{docs, docs, docs}
	g.edges = append(g.edges, e)
	return nil
}

// joins adds the words from units[i] on written in one.
func (s *Searcher) joins(g *graph, units []text.Unit, i int) error {
	if units[i].Phrase {
		return nil
	}
	ws := units[i].Words[:1:1]
	for j := i + 1; j < len(units) && j < i+longestJoin && !units[j].Phrase && neighbours(&units[j-1], &units[j]); j++ {
		ws = append(ws, units[j].Words[0])
		forms := text.JoinForms(ws, "")
		for k := range forms {
			forms[k].Term = text.Clip(forms[k].Term, text.MaxWord)
		}
		typos := 0
		if !g.together(i, j) { // else there is no need to guess, which takes time
			// As in Meilisearch each space left out is one of the typos that the word may have.
			typos = max(s.plan.Typo.Allowed(forms[0].Term)-(j-i), 0)
		}
		e, err := s.ExpandWord(forms, units[j].Prefix, typos)
		if err != nil {
			return err
		}
		e.from, e.to, e.own, e.cost = i, j+1, false, uint8(j+1-i)
		if !e.within[2].IsEmpty() {
			g.edges = append(g.edges, e)
		}
		// As in Meilisearch the space may stand elsewhere: "newy ork" finds "new york".
		if err := s.addSplit(g, &Edge{from: i, to: j + 1, cost: e.cost + 1}, forms, ws); err != nil {
			return err
		}
	}
	return nil
}

// together reports whether some document has the units from i to j, each by itself.
func (g *graph) together(i, j int) bool {
	sets := make([]*roaring.Bitmap, 0, longestJoin)
	for _, e := range g.edges[i : j+1] {
		sets = append(sets, e.within[2])
	}
	return !andAll(sets).IsEmpty()
}

// neighbours reports whether nothing stands between two units in the query, neither
// a stop word nor what parts sentences.
func neighbours(a, b *text.Unit) bool { return a.Last()+1 == b.First() }
