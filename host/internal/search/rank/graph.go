package rank

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A graph says in which ways a document may have the units of a query. Its
// nodes are the places between the units, 0 to n; a document has the units
// where it has all edges of a way from 0 to n.
type graph struct {
	n     int
	edges []*Edge // those of the units alone come first, in their order
}

// An Edge is one way of having the units from to to-1.
type Edge struct {
	from, to int
	own      bool        // it is the unit itself, and not what stands for it
	words    []text.Word // of a phrase, else nil
	// Where words is nil: the word that is looked for, whether it may go on, and
	// the typos that it may have.
	forms   []text.Form
	prefix  bool
	typos   int
	Derived [][]Derived // of a word, by segment
	cost    uint8       // typos that it counts as, besides those of the words
	// within are the documents that have it with at most so many typos.
	within [3]*roaring.Bitmap
}

// A unitSet says which of a query's units are asked for, a bit for each.
type unitSet uint16

func allUnits(n int) unitSet            { return 1<<n - 1 }
func (u unitSet) has(i int) bool        { return u>>i&1 == 1 }
func (u unitSet) with(i int) unitSet    { return u | 1<<i }
func (u unitSet) without(i int) unitSet { return u &^ (1 << i) }

// list returns the units of the set, in order.
func (u unitSet) list() []int {
	var out []int
	for i := range text.MaxUnits {
		if u.has(i) {
			out = append(out, i)
		}
	}
	return out
}

// open reports whether the edge is on a way through the units asked for.
func (e *Edge) open(units unitSet) bool {
	for i := e.from; i < e.to; i++ {
		if !units.has(i) {
			return false
		}
	}
	return true
}

// alone reports whether the graph has no edges but those of the units.
func (g *graph) alone() bool { return len(g.edges) == g.n }

// having returns the documents among docs that have the units.
func (g *graph) having(docs *roaring.Bitmap, units unitSet) *roaring.Bitmap {
	if g.alone() {
		sets := []*roaring.Bitmap{docs}
		for _, i := range units.list() {
			sets = append(sets, g.edges[i].within[2])
		}
		return roaring.FastAnd(sets...)
	}
	at := make([]*roaring.Bitmap, g.n+1)
	at[0] = docs
	for i := range g.n {
		if at[i] == nil {
			continue
		}
		if !units.has(i) {
			at[i+1] = either(at[i+1], at[i])
			continue
		}
		for _, e := range g.edges {
			if e.from == i && e.open(units) {
				at[e.to] = either(at[e.to], roaring.And(at[i], e.within[2]))
			}
		}
	}
	if at[g.n] == nil {
		return roaring.New()
	}
	return at[g.n]
}

// either returns the documents of both; a may be nil, and neither is changed.
func either(a, b *roaring.Bitmap) *roaring.Bitmap {
	if a == nil {
		return b
	}
	return roaring.Or(a, b)
}

// byTypos parts docs, which have the units, by the fewest typos in all with
// which they have them.
func (g *graph) byTypos(docs *roaring.Bitmap, units unitSet) []*roaring.Bitmap {
	at := make([][]*roaring.Bitmap, g.n+1) // place, typos
	at[0] = []*roaring.Bitmap{docs}
	for i := range g.n {
		if !g.alone() {
			disjoin(at[i])
		}
		if !units.has(i) {
			for typos, b := range at[i] {
				at[i+1] = addAt(at[i+1], typos, b)
			}
			continue
		}
		for _, e := range g.edges {
			if e.from != i || !e.open(units) {
				continue
			}
			for k := range e.within {
				exactly := e.within[k]
				if k > 0 {
					if exactly.GetCardinality() == e.within[k-1].GetCardinality() {
						continue
					}
					exactly = roaring.AndNot(exactly, e.within[k-1])
				}
				for typos, b := range at[i] {
					if b != nil {
						at[e.to] = addAt(at[e.to], typos+k, roaring.And(b, exactly))
					}
				}
			}
		}
	}
	if !g.alone() {
		disjoin(at[g.n])
	}
	return at[g.n]
}

// addAt adds documents to those of list[n].
func addAt(list []*roaring.Bitmap, n int, b *roaring.Bitmap) []*roaring.Bitmap {
	if b == nil || b.IsEmpty() {
		return list
	}
	for len(list) <= n {
		list = append(list, nil)
	}
	list[n] = either(list[n], b)
	return list
}

// disjoin takes out of each set what one before it has: what a document has
// with fewer typos counts.
func disjoin(list []*roaring.Bitmap) {
	var seen *roaring.Bitmap
	for i, b := range list {
		if b == nil {
			continue
		}
		if seen != nil && seen.Intersects(b) {
			list[i] = roaring.AndNot(b, seen)
		}
		if i < len(list)-1 {
			seen = either(seen, b)
		}
	}
}

// relaxations returns what a hit may be asked to have, from all units down to
// what strategy never drops: phrases, and one unit at least. Words that none of
// docs has go first: who asks for one of them besides others is better served
// by the others than by nothing.
func (g *graph) relaxations(docs *roaring.Bitmap, units []text.Unit, strategy settings.Strategy) []unitSet {
	all := allUnits(g.n)
	out := []unitSet{all}
	if strategy == settings.All {
		return out
	}
	if known := g.known(docs, units); known != all && known != 0 {
		all = known
		out = append(out, all)
	}
	frequency := func(i int) uint64 { return g.edges[i].within[2].AndCardinality(docs) }
	for left := len(all.list()); left > 1; left-- {
		drop := -1
		for _, i := range all.list() {
			if units[i].Phrase {
				continue
			}
			if drop < 0 || strategy != settings.Frequency || frequency(i) >= frequency(drop) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		all = all.without(drop)
		out = append(out, all)
	}
	return out
}

// known returns the phrases, and the words that some of docs have in one way or
// another.
func (g *graph) known(docs *roaring.Bitmap, units []text.Unit) (known unitSet) {
	for i := range units {
		if units[i].Phrase {
			known = known.with(i)
		}
	}
	for _, e := range g.edges {
		if e.within[2].Intersects(docs) {
			for i := e.from; i < e.to; i++ {
				known = known.with(i)
			}
		}
	}
	return known
}
