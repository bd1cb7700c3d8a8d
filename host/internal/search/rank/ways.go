package rank

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A ways looks at the ways through the graph, of units by themselves and of several that
// stand as one, that some document of a group goes: how far documents can be from what
// was asked along these is what their scores are measured by.
type ways struct {
	s     *Searcher
	units unitSet
	rest  *roaring.Bitmap // documents for which no way was found yet
	exact bool            // ways of so many typos alone, see left
	steps int
	far   int
}

// maxWays bounds the parts of ways that are looked at.
const maxWays = 2000

// joined reports whether some edge stands for several units.
func (g *graph) joined() bool {
	for _, e := range g.edges {
		if e.to-e.from > 1 {
			return true
		}
	}
	return false
}

// mostTyposOf is how many typos documents that have some units, and no more, may have
// in all.
func (s *Searcher) mostTyposOf(units unitSet) int {
	if s.plan.Strategy == settings.All && s.graph != nil {
		return s.mostTyposOfAll() // no words are dropped: no way was looked at by then
	}
	return s.mostAlong(groupOf{units, -1}, func() int {
		n := 0
		for _, u := range units.list() {
			n += s.mostTypos[u]
		}
		return n
	})
}

// mostTyposOfAll is mostTyposOf of all units, along any way that there could be.
func (s *Searcher) mostTyposOfAll() int {
	units := s.plan.Parsed.Units
	m := &ways{s: s}
	far := make([]int, len(units)+1)
	for at := range units {
		for n := 1; n <= longestJoin && at+n <= len(units); n++ {
			if n > 1 && (units[at].Phrase || units[at+n-1].Phrase || !neighbours(&units[at+n-2], &units[at+n-1])) {
				break
			}
			far[at+n] = max(far[at+n], far[at]+m.mostOf(at, n))
		}
	}
	return far[len(units)]
}

// mostApartOf is how far apart neighbours may be in all in documents that have some
// units with so many typos.
func (s *Searcher) mostApartOf(units unitSet, typos int) int {
	return s.mostAlong(groupOf{units, typos}, func() int { return (farApart - 1) * s.pairsOf(units) })
}

// A groupOf is documents that have some units; typos is -1 where any number will do.
type groupOf struct {
	units unitSet
	typos int
}

// mostAlong works out one of the two; plain is what it is where no edge stands for
// several units.
func (s *Searcher) mostAlong(group groupOf, plain func() int) int {
	if s.graph == nil || !s.graph.joined() {
		return plain()
	}
	if n, ok := s.mosts[group]; ok {
		return n
	}
	m := &ways{s: s, units: group.units, exact: group.typos >= 0, far: -1}
	for i, units := range s.relaxed {
		if units == group.units {
			m.rest = s.having[i].Clone()
		}
	}
	if m.rest != nil {
		m.walk(0, m.rest.Clone(), group.typos, 0, -1)
	}
	n := m.far
	if n < 0 || m.steps >= maxWays {
		n = plain()
	}
	if s.mosts == nil {
		s.mosts = map[groupOf]int{}
	}
	s.mosts[group] = n
	return n
}

// walk goes on from a place of the graph with the documents that have a way to it, far
// along that; last is the unit before, -1 without one.
func (m *ways) walk(at int, docs *roaring.Bitmap, left, far, last int) {
	g, units := m.s.graph, m.s.plan.Parsed.Units
	for at < g.n && !m.units.has(at) {
		at++
	}
	if at == g.n {
		if (!m.exact || left == 0) && docs.Intersects(m.rest) {
			m.far = max(m.far, far)
			m.rest.AndNot(docs)
		}
		return
	}
	for n := 1; n <= longestJoin && at+n <= g.n && m.units.has(at+n-1); n++ {
		more := m.mostOf(at, n)
		if m.exact {
			more = n - 1
			if last >= 0 && neighbours(&units[last], &units[at]) {
				more += farApart - 1
			}
		}
		for typos, here := range m.having(at, n) {
			if m.steps++; m.steps >= maxWays {
				return
			}
			if m.exact && typos > left || here == nil {
				continue
			}
			if here = roaring.And(docs, here); here.Intersects(m.rest) {
				m.walk(at+n, here, left-typos, far+more, at+n-1)
			}
		}
	}
}

// mostOf is how many typos n units from at on may have as one.
func (m *ways) mostOf(at, n int) int {
	if n == 1 {
		return m.s.mostTypos[at]
	}
	ws := make([]text.Word, n)
	for i := range ws {
		ws[i] = m.s.plan.Parsed.Units[at+i].Words[0]
	}
	return n + max(m.s.plan.Typo.Allowed(text.JoinForms(ws, "")[0].Term)-(n-1), 1)
}

// having returns the documents that have n units from at on as one, by their typos
// where these matter, else all in the first place.
func (m *ways) having(at, n int) []*roaring.Bitmap {
	var out []*roaring.Bitmap
	for _, e := range m.s.graph.edges {
		if e.from != at || e.to != at+n {
			continue
		}
		if !m.exact {
			out = addAt(out, 0, e.within[2])
			continue
		}
		for k, docs := range e.within {
			if k > 0 {
				if docs == e.within[k-1] {
					continue
				}
				docs = roaring.AndNot(docs, e.within[k-1])
			}
			out = addAt(out, k+int(e.cost), docs)
		}
	}
	return out
}
