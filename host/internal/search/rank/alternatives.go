package rank

import (
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// longestJoin is how many words of a query may have been meant as one.
const longestJoin = 3

// newGraph looks up the units and what may stand for them: synonyms as good as
// the words themselves, words written in one (a typo for each space) and words
// written apart (one typo).
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
	for j := i; j < len(units) && j < i+settings.LongestSynonym && !units[j].Phrase; j++ {
		terms = append(terms, units[j].Words[0].Term)
		for _, ws := range s.plan.Synonyms[strings.Join(terms, " ")] {
			if err := s.alternative(g, &Edge{from: i, to: j + 1}, ws, 0); err != nil {
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
	e.words, e.cost = ws, cost
	for k := range e.within {
		if e.within[k] = docs; k < int(cost) {
			e.within[k] = roaring.New()
		}
	}
	g.edges = append(g.edges, e)
	return nil
}

// joins adds the words from units[i] on written in one.
func (s *Searcher) joins(g *graph, units []text.Unit, i int) error {
	if units[i].Phrase {
		return nil
	}
	ws := units[i].Words[:1:1]
	for j := i + 1; j < len(units) && j < i+longestJoin && !units[j].Phrase; j++ {
		ws = append(ws, units[j].Words[0])
		forms := text.JoinForms(ws, "")
		for k := range forms {
			forms[k].Term = text.Clip(forms[k].Term, text.MaxWord)
		}
		cost := uint8(j - i)
		e, err := s.ExpandWord(forms, units[j].Prefix, 0)
		if err != nil {
			return err
		}
		if e.within[0].IsEmpty() {
			continue
		}
		e.from, e.to, e.own, e.cost = i, j+1, false, cost
		for k := range cost {
			e.within[k] = roaring.New()
		}
		g.edges = append(g.edges, e)
	}
	return nil
}

// splits adds the word of units[i] written as two. A word that the index has as
// it is written is left whole.
func (s *Searcher) splits(g *graph, units []text.Unit, i int) error {
	if units[i].Phrase || g.edges[i].within[0].Intersects(s.Universe) {
		return nil
	}
	term := units[i].Words[0].Term
	if !s.plan.Typo.enabled || utf8.RuneCountInString(term) < shortestSplit {
		return nil
	}
	var best []text.Word
	most := uint64(0)
	for _, f := range units[i].Words[0].Spellings() {
		part := func(term string, pos int) text.Word {
			return text.Word{Term: term, Forms: []text.Form{{Term: term, In: f.In}}, Pos: pos}
		}
		for at := range f.Term {
			if at == 0 {
				continue
			}
			ws := []text.Word{part(f.Term[:at], 1), part(f.Term[at:], 2)}
			docs, err := s.phrase(ws)
			if err != nil {
				return err
			}
			if n := docs.GetCardinality(); n > most {
				best, most = ws, n
			}
		}
	}
	if best == nil {
		return nil
	}
	return s.alternative(g, &Edge{from: i, to: i + 1}, best, 1)
}

// shortestSplit is the least characters of a word that may be two.
const shortestSplit = 3
