package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/text"
)

// shareSteps is in how many steps the rule words divides the score where any of the words will do.
const shareSteps = 1_000_000

// weigh returns what having each unit is worth: the fewer of docs have it, the more, and of equal ones the
// first a little more, so that what a document has says where it stands.
func (g *graph) weigh(docs *roaring.Bitmap) []float64 {
	worth := make([]float64, g.n)
	n := float64(docs.GetCardinality())
	for i := range worth {
		df := float64(g.frequency(i, docs))
		worth[i] = math.Log(1+(n-df+0.5)/(df+0.5)) * (1 + math.Ldexp(1e-3, -i))
	}
	return worth
}

// shareOf is how much of what all units are worth these are, 0 to 1.
func shareOf(worth []float64, units unitSet) float64 {
	have, all := 0.0, 0.0
	for i, w := range worth {
		all += w
		if units.has(i) {
			have += w
		}
	}
	return have / all
}

// A part is documents with what they have of a query, and no more.
type part struct {
	units unitSet
	docs  *roaring.Bitmap
}

// part returns the documents among docs that have all phrases and any of the words; where there are
// phrases, no word is needed. They come in parts, those that have what is worth most first; one at least.
func (g *graph) part(docs *roaring.Bitmap, units []text.Unit, worth []float64) []part {
	parts := map[unitSet]*roaring.Bitmap{0: docs}
	for _, e := range g.singlesFirst() {
		more := unitSet(0)
		for i := e.from; i < e.to; i++ {
			more = more.with(i)
		}
		next := make(map[unitSet]*roaring.Bitmap, 2*len(parts))
		put := func(units unitSet, docs *roaring.Bitmap) {
			if !docs.IsEmpty() {
				next[units] = either(next[units], docs)
			}
		}
		for has, docs := range parts {
			if has|more == has {
				put(has, docs)
				continue
			}
			with := g.having(docs, has|more)
			put(has|more, with)
			if !units[e.from].Phrase { // without a phrase there is no match
				put(has, roaring.AndNot(docs, with))
			}
		}
		parts = next
	}
	delete(parts, 0)
	if len(parts) == 0 {
		return []part{{allUnits(g.n), roaring.New()}}
	}
	out := make([]part, 0, len(parts))
	for units, docs := range parts {
		out = append(out, part{units, docs})
	}
	slices.SortFunc(out, func(a, b part) int {
		return cmp.Or(cmp.Compare(shareOf(worth, b.units), shareOf(worth, a.units)), cmp.Compare(a.units, b.units))
	})
	return out
}

// singlesFirst returns the edges, those of one unit before those of several.
func (g *graph) singlesFirst() []*Edge {
	out := slices.Clone(g.edges)
	slices.SortStableFunc(out, func(a, b *Edge) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	return out
}
