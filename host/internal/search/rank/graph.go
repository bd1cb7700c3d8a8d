package rank

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

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
	last    []lastWords // of the words that stand for forms
	Derived [][]Derived // of a word, by segment
	cost    uint8       // typos that it counts as, besides those of the words
	known   bool        // the index has the very word
	// common: so many words begin so that none of them is near what it stands before,
	// but for the very word; see commonBeginning.
	common bool
	// within are the documents that have it with at most so many typos, cost apart.
	within [3]*roaring.Bitmap
}

// A unitSet says which of a query's units are asked for, a bit for each.
type unitSet uint16

func allUnits(n int) unitSet            { return 1<<n - 1 }
func (u unitSet) has(i int) bool        { return u>>i&1 == 1 }
func (u unitSet) with(i int) unitSet    { return u | 1<<i }
func (u unitSet) without(i int) unitSet { return u &^ (1 << i) }

// count is how many units the set has.
func (u unitSet) count() int { return bits.OnesCount16(uint16(u)) }

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
	return g.through(docs, units, false)
}

// havingAtLeast returns the documents among docs that have some units, whatever else
// they have.
func (g *graph) havingAtLeast(docs *roaring.Bitmap, units unitSet) *roaring.Bitmap {
	return g.through(docs, units, true)
}

// through returns the documents among docs that have what a path through the graph
// has: edges within the units alone, or any.
func (g *graph) through(docs *roaring.Bitmap, units unitSet, more bool) *roaring.Bitmap {
	if g.alone() {
		sets := []*roaring.Bitmap{docs}
		for _, i := range units.list() {
			sets = append(sets, g.edges[i].within[2])
		}
		return andAll(sets)
	}
	at := make([]*roaring.Bitmap, g.n+1)
	at[0] = docs
	for i := range g.n {
		if at[i] == nil {
			continue
		}
		if !units.has(i) {
			at[i+1] = either(at[i+1], at[i])
			if !more {
				continue
			}
		}
		for _, e := range g.edges {
			if e.from == i && (more || e.open(units)) {
				at[e.to] = either(at[e.to], roaring.And(at[i], e.within[2]))
			}
		}
	}
	if at[g.n] == nil {
		return roaring.New()
	}
	return at[g.n]
}

// andAll returns the documents that all sets have, of which there is one at least. The
// smallest ones come first, so that what lies between is small, too.
func andAll(sets []*roaring.Bitmap) *roaring.Bitmap {
	slices.SortFunc(sets, func(a, b *roaring.Bitmap) int { return cmp.Compare(a.GetCardinality(), b.GetCardinality()) })
	return roaring.FastAnd(sets...)
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
			for k, within := range e.within {
				if k > 0 && within == e.within[k-1] {
					continue
				}
				for typos, b := range at[i] {
					if b == nil {
						continue
					}
					exactly := roaring.And(b, within) // of the few that are asked for
					if k > 0 {
						exactly.AndNot(e.within[k-1])
					}
					at[e.to] = addAt(at[e.to], typos+k+int(e.cost), exactly)
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

// relaxations returns what a hit may be asked to have, from the units of all
// down to what strategy never drops: phrases, or else the first word, by frequency
// the words that are in the fewest of docs.
func (g *graph) relaxations(all unitSet, docs *roaring.Bitmap, units []text.Unit, strategy settings.Strategy) []unitSet {
	var words unitSet
	for _, i := range all.list() {
		if !units[i].Phrase {
			words = words.with(i)
		}
	}
	switch strategy {
	case settings.Last:
		return relaxedFromLast(all, words)
	case settings.Frequency:
		return g.relaxedByFrequency(all, words, docs)
	}
	return []unitSet{all}
}

// relaxedFromLast drops one word after the other, the last of them first.
func relaxedFromLast(all, words unitSet) []unitSet {
	out := []unitSet{all}
	list := words.list()
	if words == all {
		list = list[min(1, len(list)):]
	}
	for _, i := range slices.Backward(list) {
		all = all.without(i)
		out = append(out, all)
	}
	return out
}

// relaxedByFrequency drops words, those that more of docs have before others; what no
// document has is missed least. As in Meilisearch a word that is typed before another
// one stays or goes as documents have it: only those behind must go first. Sets of as
// many units stand side by side.
func (g *graph) relaxedByFrequency(all, words unitSet, docs *roaring.Bitmap) []unitSet {
	frequency := make([]uint64, g.n)
	least := uint64(math.MaxUint64)
	for _, i := range words.list() {
		if frequency[i] = g.frequency(i, docs); frequency[i] == 0 {
			frequency[i] = math.MaxUint64
		}
		least = min(least, frequency[i])
	}
	var mayGo unitSet
	before := make([]unitSet, g.n) // what has to go before a word
	for _, i := range words.list() {
		if words == all && frequency[i] == least {
			continue
		}
		mayGo = mayGo.with(i)
		for _, k := range words.list() {
			if k > i && frequency[k] > frequency[i] {
				before[i] = before[i].with(k)
			}
		}
	}
	out := []unitSet{all}
	for gone := mayGo; gone != 0; gone = (gone - 1) & mayGo { // all parts of it
		allowed := true
		for _, i := range gone.list() {
			allowed = allowed && before[i]&^gone == 0
		}
		if allowed {
			out = append(out, all&^gone)
		}
	}
	slices.SortStableFunc(out, func(a, b unitSet) int { return b.count() - a.count() })
	return out
}

// frequency is how many of docs have a unit in one way or another.
func (g *graph) frequency(unit int, docs *roaring.Bitmap) uint64 {
	if g.alone() {
		return g.edges[unit].within[2].AndCardinality(docs)
	}
	var all *roaring.Bitmap
	for _, e := range g.edges {
		if e.from <= unit && unit < e.to {
			all = either(all, e.within[2])
		}
	}
	return all.AndCardinality(docs)
}

// known returns the phrases, and the words that some of docs have in one way or
// another, in whatever attribute.
func (s *Searcher) known(docs *roaring.Bitmap) (known unitSet, err error) {
	for i := range s.plan.Parsed.Units {
		if s.plan.Parsed.Units[i].Phrase {
			known = known.with(i)
		}
	}
	for _, e := range s.graph.edges {
		if e.within[2].Intersects(docs) {
			for i := e.from; i < e.to; i++ {
				known = known.with(i)
			}
		}
	}
	for i, e := range s.graph.edges[:s.graph.n] {
		if known.has(i) {
			continue
		}
		anywhere, err := s.anywhere(e, docs)
		if err != nil {
			return 0, err
		}
		if anywhere {
			known = known.with(i)
		}
	}
	return known, nil
}

// anywhere reports whether some of docs have the word of an edge in any attribute, also
// in one that is not searched now.
func (s *Searcher) anywhere(e *Edge, docs *roaring.Bitmap) (bool, error) {
	for _, f := range e.forms {
		list, err := s.everywhere(&wantedWord{form: f, prefix: e.prefix, typos: e.typos})
		if err != nil {
			return false, err
		}
		for i, x := range list {
			for _, within := range x.within[:e.typos+1] {
				if within != nil && s.View.Segs[i].Placed(within).Intersects(docs) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}
