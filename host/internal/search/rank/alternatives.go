package rank

import (
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// longestJoin is how many words of a query may have been meant as one.
const longestJoin = 3

// newGraph looks up the units and what may stand for them: synonyms, those of one word
// as good as the word itself, words written in one (a typo for each of them) and words
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
		if e.within[2].IsEmpty() {
			continue
		}
		e.from, e.to, e.own, e.cost = i, j+1, false, uint8(j+1-i)
		g.edges = append(g.edges, e)
	}
	return nil
}

// together reports whether some document has the units from i to j, each by itself.
func (g *graph) together(i, j int) bool {
	sets := make([]*roaring.Bitmap, 0, longestJoin)
	for _, e := range g.edges[i : j+1] {
		sets = append(sets, e.within[2])
	}
	return !roaring.FastAnd(sets...).IsEmpty()
}

// neighbours reports whether nothing stands between two units in the query, neither
// a stop word nor what parts sentences.
func neighbours(a, b *text.Unit) bool { return a.Last()+1 == b.First() }

// splits adds the word of units[i] written as two, as most documents have it.
func (s *Searcher) splits(g *graph, units []text.Unit, i int) error {
	if units[i].Phrase {
		return nil
	}
	type pair struct {
		ws   []text.Word
		docs *roaring.Bitmap // that have both words
		n    uint64
		at   int // where the word is split
	}
	var pairs []pair
	for _, f := range units[i].Words[0].Spellings() {
		half := func(term string, pos int) text.Word {
			return text.Word{Term: term, Forms: []text.Form{{Term: term, In: f.In}}, Pos: pos}
		}
		for at := range f.Term {
			if at == 0 {
				continue
			}
			if ok, err := s.hasBoth(f.Term[:at], f.Term[at:]); err != nil {
				return err
			} else if !ok {
				continue
			}
			ws := []text.Word{half(f.Term[:at], 1), half(f.Term[at:], 2)}
			docs, err := s.haveAll(ws, s.View.Live) // filters have no say in what is meant
			if err != nil {
				return err
			}
			if n := docs.GetCardinality(); n > 0 {
				pairs = append(pairs, pair{ws, docs, n, at})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.n, a.n) })
	var best pair
	for _, p := range pairs {
		if p.n < best.n || p.n == best.n && p.at > best.at {
			continue
		}
		docs, err := s.sideBySide(p.ws, p.docs)
		if err != nil {
			return err
		}
		if n := docs.GetCardinality(); n > best.n || n > 0 && n == best.n && p.at < best.at {
			best = pair{p.ws, docs, n, p.at}
		}
	}
	if best.n == 0 {
		return nil
	}
	if docs := roaring.And(best.docs, s.Universe); !docs.IsEmpty() {
		g.edges = append(g.edges, &Edge{from: i, to: i + 1, words: best.ws, cost: 1, within: [3]*roaring.Bitmap{docs, docs, docs}})
	}
	return nil
}

// sideBySide returns those of docs, which have two words, that have them side by
// side in one attribute.
func (s *Searcher) sideBySide(ws []text.Word, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	out := roaring.New()
	list := docs.ToArray()
	of := func(w *text.Word) func(int) []Derived {
		terms := itself(w)
		return func(int) []Derived { return terms }
	}
	place := func(i int, field, pos uint16) uint64 { return uint64(i)<<32 | uint64(field)<<16 | uint64(pos) }
	var firsts []uint64
	err := s.eachSpot(list, of(&ws[0]), func(i int, field, pos uint16, _ *Derived) {
		firsts = append(firsts, place(i, field, pos))
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(firsts)
	err = s.eachSpot(list, of(&ws[1]), func(i int, field, pos uint16, _ *Derived) {
		if _, found := slices.BinarySearch(firsts, place(i, field, pos-1)); found {
			out.Add(list[i])
		}
	})
	return out, err
}

// hasBoth reports whether some segment has two words.
func (s *Searcher) hasBoth(a, b string) (bool, error) {
	if len(a) < len(b) {
		a, b = b, a // the longer one is in fewer segments
	}
	for i := range s.View.Segs {
		dict, err := s.View.Segs[i].Dict(folder.FieldWords)
		if err != nil {
			return false, err
		}
		ok, err := dict.Contains([]byte(a))
		if ok && err == nil {
			ok, err = dict.Contains([]byte(b))
		}
		if ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
