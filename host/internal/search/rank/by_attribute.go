package rank

import (
	"maps"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// manyDocs is how many documents of one word are parted by the attributes that have
// it before each is judged: most of them come after what is asked for.
const manyDocs = 256

// partedByAttribute reports whether the documents of a bucket are to be parted by
// attributes before they are judged by rules: of a single unit no rule before that of the
// attribute tells them apart.
func (s *Searcher) partedByAttribute(b bucket, rules []settings.Criterion) bool {
	if s.graph == nil || len(b.parts) != 1 || b.parts[0].units.count() != 1 || s.Results.goesOn() || b.parts[0].docs.GetCardinality() < manyDocs {
		return false
	}
	e := s.graph.edges[b.parts[0].units.list()[0]]
	if e.words != nil {
		return false
	}
	for i := range rules {
		switch rules[i].Kind {
		case settings.ProximityRule: // of which there is none
		case settings.AttributeRule, settings.AttributeRankRule:
			return true
		default:
			return false
		}
	}
	return false
}

// byAttribute parts the documents of a bucket with a single unit by the rank of the best
// attribute that has it, as [Searcher.judgeOne] works it out.
func (s *Searcher) byAttribute(b bucket) ([]*roaring.Bitmap, error) {
	docs := b.docs().ToArray()
	type best struct {
		rank  uint32
		typos uint8
	}
	found := make([]best, len(docs))
	for i := range found {
		found[i] = best{unknownRank, math.MaxUint8}
	}
	look := func(i int, field uint16, typos uint8, begins bool) {
		if !s.plan.Fields.matches(field) {
			return
		}
		rank := uint32(unknownRank)
		if begins {
			rank = s.plan.Fields.rank(field)
		}
		switch f := &found[i]; {
		case typos < f.typos:
			*f = best{rank, typos}
		case typos == f.typos:
			f.rank = min(f.rank, rank)
		}
	}
	most := s.typosIn(b)
	for n, e := range s.graph.edges {
		if !e.open(b.parts[0].units) {
			continue
		}
		if e.own {
			err := s.eachSpot(docs, most, func(seg int) []Derived { return e.Derived[seg] }, func(i int, d *Derived, field, _ uint16) {
				look(i, field, d.typos, true)
			})
			if err != nil {
				return nil, err
			}
			continue
		}
		places := make([][][]spot, s.graph.n)
		places[e.from] = make([][]spot, len(docs))
		if err := s.alternativeSpots(n, e, docs, places, most); err != nil {
			return nil, err
		}
		for i, spots := range places[e.from] {
			for k := range spots {
				x := &spots[k]
				look(i, x.field, x.typos, x.role != phraseEnd)
			}
		}
	}
	parts := map[uint32][]uint32{}
	for i, f := range found {
		parts[f.rank] = append(parts[f.rank], docs[i])
	}
	var out []*roaring.Bitmap
	for _, rank := range slices.Sorted(maps.Keys(parts)) {
		out = append(out, roaring.BitmapOf(parts[rank]...))
	}
	return out, nil
}
