package rank

import (
	"maps"
	"math"
	"slices"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// manyDocs is how many documents of one word are parted by the attributes that have
// it before each is judged: most of them come after what is asked for.
const manyDocs = 256

// A parting says by what documents of one word are parted before they are judged.
type parting int

const (
	partedByNothing   parting = iota
	partedByAttribute         // the rank of the best attribute that has it
	partedByPlace             // and then what its best place costs
)

// parting returns by what the documents of a bucket are to be parted before they are
// judged by rules: of a single unit no rule before that of the attribute tells them apart.
func (s *Searcher) parting(b bucket, rules []settings.Criterion) parting {
	if s.graph == nil || len(b.parts) != 1 || b.parts[0].units.count() != 1 || s.Results.goesOn() || b.parts[0].docs.GetCardinality() < manyDocs {
		return partedByNothing
	}
	e := s.graph.edges[b.parts[0].units.list()[0]]
	if e.words != nil {
		return partedByNothing
	}
	for len(rules) > 0 && rules[0].Kind == settings.ProximityRule { // of which there is none
		rules = rules[1:]
	}
	switch {
	case len(rules) == 0:
		return partedByNothing
	case rules[0].Kind == settings.AttributeRankRule && (len(rules) == 1 || rules[1].Kind != settings.WordPositionRule):
		return partedByAttribute
	case rules[0].Kind != settings.AttributeRule && rules[0].Kind != settings.AttributeRankRule:
		return partedByNothing
	case s.plan.Fields.In != nil: // a place counts in other attributes, too
		return partedByAttribute
	}
	return partedByPlace
}

// partByAttribute parts the documents of a bucket with a single unit by the rank of the best
// attribute that has it, and by its best place, as [Searcher.judgeOne] works them out.
func (s *Searcher) partByAttribute(b bucket, by parting) ([][]uint32, error) {
	docs := b.docs().ToArray()
	// Less is better in all but typos: places with more of them than others do not count.
	type best struct {
		rank  uint16
		place uint8
		typos uint8
	}
	found := make([]best, len(docs))
	for i := range found {
		found[i] = best{unknownRank, mostPlace, math.MaxUint8}
	}
	typed := s.plan.Parsed.Units[b.parts[0].units.list()[0]].First()
	look := func(i int, x spot) {
		f := &found[i]
		if x.typos > f.typos || !s.plan.Fields.matches(x.field) {
			return
		}
		if x.typos < f.typos {
			*f = best{unknownRank, mostPlace, x.typos}
		}
		if x.role == phraseEnd {
			return
		}
		f.rank = min(f.rank, uint16(s.plan.Fields.rank(x.field)))
		if by == partedByPlace && f.place > 0 {
			f.place = min(f.place, uint8(placeCost(int(x.pos), typed-int(x.step), int(x.step))))
		}
	}
	most := s.typosIn(b)
	for n, e := range s.graph.edges {
		if !e.open(b.parts[0].units) {
			continue
		}
		if e.own {
			err := s.eachSpot(docs, most, func(seg int) []Derived { return e.Derived[seg] }, func(i int, d *Derived, field, pos uint16) {
				look(i, spot{field: field, pos: pos, typos: d.typos})
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
			for _, x := range spots {
				look(i, x)
			}
		}
	}
	key := func(b best) uint32 { return uint32(b.rank)*(mostPlace+1) + uint32(b.place) }
	sizes := map[uint32]int{} // by key
	for _, b := range found {
		sizes[key(b)]++
	}
	out := make([][]uint32, len(sizes))
	room, number := make([]uint32, len(docs)), make(map[uint32]int, len(sizes))
	for i, k := range slices.Sorted(maps.Keys(sizes)) {
		n := sizes[k]
		out[i], number[k], room = room[:0:n], i, room[n:]
	}
	for i, b := range found {
		n := number[key(b)]
		out[n] = append(out[n], docs[i])
	}
	return out, nil
}
