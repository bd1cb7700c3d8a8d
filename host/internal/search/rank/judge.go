package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// A ranking is how well a document answers, for the rules about texts. Less is
// better in all but words.
type ranking struct {
	words     uint16 // units that it has
	typos     uint16
	proximity uint16 // sum over neighbours, see apart
	inexact   uint16 // units that stand there as a typo, a beginning or a synonym only
	field     uint32 // sum of the attributes' ranks
	pos       uint32 // sum of the places in them
	rest      uint16 // sum of the letters that words there go on for
	match     matchType
	more      uint8 // 0: an attribute is the query, its last word gone on or not; 1: none is
	unranked  bool  // the time was up
}

// A matchType says how much of an attribute the query is.
type matchType uint8

const (
	exactMatch matchType = iota // all of it
	startMatch                  // its beginning
	noExactMatch
)

// compare orders rankings by one rule.
func (r *ranking) compare(o *ranking, kind settings.CriterionKind) int {
	switch kind {
	case settings.ProximityRule:
		return cmp.Compare(r.proximity, o.proximity)
	case settings.AttributeRule:
		return cmp.Or(cmp.Compare(r.field, o.field), cmp.Compare(r.pos, o.pos))
	case settings.ExactnessRule:
		return cmp.Or(cmp.Compare(r.match, o.match), cmp.Compare(r.inexact, o.inexact), cmp.Compare(r.more, o.more), cmp.Compare(r.rest, o.rest))
	}
	return 0
}

const (
	farApart = 8 // words at least so far apart are not near
	maxPlace = 1000
)

// judge works out the rankings of docs, which all have units.
func (s *Searcher) judge(units unitSet, docs []uint32, list []Found) error {
	asked := units.list()
	places := make([][][]spot, s.graph.n) // unit, document
	for _, u := range asked {
		places[u] = make([][]spot, len(docs))
	}
	for n, e := range s.graph.edges {
		if !e.open(units) {
			continue
		}
		if err := s.edgeSpots(n, e, docs, places); err != nil {
			return err
		}
	}
	at := make([][]spot, len(asked))
	complete := len(asked) == s.graph.n
	for i, d := range docs {
		if err := s.check(i + 1); err != nil {
			return err
		}
		for k, u := range asked {
			at[k] = places[u][i]
		}
		r := &list[i].ranking
		s.judgeOne(at, r)
		if !s.whole.exact.Contains(d) && !s.whole.open.Contains(d) {
			r.more = 1
		}
		switch {
		case s.whole.exact.Contains(d):
			r.match = exactMatch
		case complete && begins(at):
			r.match = startMatch
		}
	}
	return nil
}

// edgeSpots adds where docs have the n-th edge to the places of its units.
func (s *Searcher) edgeSpots(n int, e *Edge, docs []uint32, places [][][]spot) error {
	here := places[e.from]
	if !e.own {
		here = make([][]spot, len(docs))
	}
	if e.words == nil {
		if err := s.spots(docs, here, func(seg int) []Derived { return e.Derived[seg] }); err != nil {
			return err
		}
	} else {
		var err error
		if here, err = s.phraseSpots(e.words, docs); err != nil {
			return err
		}
		if e.own {
			places[e.from] = here
		}
	}
	if e.own {
		return nil
	}
	for i, list := range here {
		for _, x := range list {
			x.typos, x.exact = x.typos+e.cost, false
			if e.to-e.from > 1 {
				x.span = uint8(n + 1)
			}
			for u := e.from; u < e.to; u++ {
				places[u][i] = append(places[u][i], x)
			}
		}
	}
	return nil
}

// judgeOne works out the rules for one document; at are the places of each unit
// in it.
func (s *Searcher) judgeOne(at [][]spot, r *ranking) {
	for u := range at {
		field, pos, rest, exact := s.best(at[u])
		r.rest += uint16(rest)
		r.field += field
		r.pos += pos
		if !exact {
			r.inexact++
		}
		if u+1 < len(at) {
			r.proximity += s.apart(at[u], at[u+1])
		}
	}
}

// best returns the rank of the best attribute among the places with the fewest
// typos, the first place in it, and whether the very word stands anywhere.
func (s *Searcher) best(at []spot) (field, pos uint32, rest uint8, exact bool) {
	typos := uint8(math.MaxUint8)
	field, pos = unknownRank, maxPlace
	for _, x := range at {
		exact = exact || x.exact
		if x.typos > typos {
			continue
		}
		if x.typos < typos {
			typos, field, pos = x.typos, unknownRank, maxPlace
		}
		f := s.plan.Fields.rank(x.field)
		if p := min(uint32(x.pos), maxPlace); f < field || f == field && p < pos {
			field, pos, rest = f, p, x.rest
		}
	}
	return field, pos, rest, exact
}

// manySpots is how many places of two words, each with each, are looked at one by
// one; of more, only neighbours are.
const manySpots = 256

// apart is the smallest distance between two neighbours of the query: 1 side by
// side, one more in the wrong order.
func (s *Searcher) apart(a, b []spot) uint16 {
	best := uint16(farApart)
	if len(a)*len(b) <= manySpots {
		for i := range a {
			for k := range b {
				best = min(best, s.between(&a[i], &b[k]))
			}
		}
		return best
	}
	byPlace := func(x, y spot) int { return cmp.Or(cmp.Compare(x.field, y.field), cmp.Compare(x.pos, y.pos)) }
	slices.SortFunc(a, byPlace)
	slices.SortFunc(b, byPlace)
	k := 0
	for i := range a {
		for k < len(b) && byPlace(b[k], a[i]) < 0 {
			k++
		}
		// The last before it, those at its place, and the next behind it.
		for n := max(k-1, 0); n < len(b) && best > 1; n++ {
			best = min(best, s.between(&a[i], &b[n]))
			if byPlace(b[n], a[i]) > 0 {
				break
			}
		}
	}
	return best
}

// between is the distance between two places.
func (s *Searcher) between(x, y *spot) uint16 {
	if x.field != y.field {
		return farApart
	}
	if s.plan.ByAttribute {
		return 1
	}
	d := int(y.pos) - int(x.pos)
	switch {
	case d > 0:
		d = max(d-int(x.length)+1, 1)
	case d < 0:
		d = max(-d-int(y.length)+1, 1) + 1
	case x.span > 0 && x.span == y.span:
		d = 1
	default:
		d = farApart
	}
	return uint16(min(d, farApart))
}

// begins reports whether a field begins with the units, word for word.
func begins(at [][]spot) bool {
	for _, first := range at[0] {
		if first.pos != 1 || !first.exact {
			continue
		}
		next, all := 1+int(first.length), true
		for _, spots := range at[1:] {
			all = false
			for _, x := range spots {
				if x.exact && x.field == first.field && int(x.pos) == next {
					next, all = next+int(x.length), true
					break
				}
			}
			if !all {
				break
			}
		}
		if all {
			return true
		}
	}
	return false
}
