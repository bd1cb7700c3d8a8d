package rank

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// A ranking is how well a document answers, for the rules about texts. Less is
// better in all but units.
type ranking struct {
	units     unitSet // that it has
	typos     uint16
	proximity uint16 // sum over neighbours, see apart
	inexact   uint16 // units that stand there as a typo, a beginning or a synonym only
	field     uint32 // sum of the attributes' ranks
	place     uint16 // sum of how far the units are from their places in the query, see placeCost
	match     matchType
	unranked  bool // the time was up
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
		return cmp.Or(cmp.Compare(r.field, o.field), cmp.Compare(r.place, o.place))
	case settings.AttributeRankRule:
		return cmp.Compare(r.field, o.field)
	case settings.WordPositionRule:
		return cmp.Compare(r.place, o.place)
	case settings.ExactnessRule:
		return cmp.Or(cmp.Compare(r.match, o.match), cmp.Compare(r.inexact, o.inexact))
	}
	return 0
}

// farApart is the distance from which on words count as not near.
const farApart = 4

// judge works out the rankings of docs, which all have units, by places with at most so
// many typos.
func (s *Searcher) judge(units unitSet, docs []uint32, list []Found, most int) error {
	asked := units.list()
	places := make([][][]spot, s.graph.n) // unit, document
	for _, u := range asked {
		places[u] = make([][]spot, len(docs))
	}
	for n, e := range s.graph.edges {
		if !e.open(units) {
			continue
		}
		if err := s.edgeSpots(n, e, docs, places, most); err != nil {
			return err
		}
	}
	known := s.knownUnits(units)
	at := make([][]spot, len(asked))
	for i, d := range docs {
		if err := s.check(i + 1); err != nil {
			return err
		}
		for k, u := range asked {
			at[k] = places[u][i]
		}
		r := &list[i].ranking
		s.judgeOne(asked, at, r)
		if known == 0 || !s.begins(at[:known]) {
			continue
		}
		// Looked up here, and not before: few queries are how an attribute begins.
		whole, err := s.wholeOf(known)
		if err != nil {
			return err
		}
		if r.match = startMatch; whole.Contains(d) {
			r.match = exactMatch
		}
	}
	return nil
}

// edgeSpots adds where docs have the n-th edge to the places of its units.
func (s *Searcher) edgeSpots(n int, e *Edge, docs []uint32, places [][][]spot, most int) (err error) {
	switch {
	case !e.own:
		return s.alternativeSpots(n, e, docs, places, most)
	case e.words != nil:
		places[e.from], err = s.phraseSpots(e.words, docs)
		return err
	}
	err = s.spots(docs, places[e.from], most, func(seg int) []Derived { return e.Derived[seg] })
	if e.common {
		for _, here := range places[e.from] {
			for i := range here {
				if here[i].typos == 0 && !here[i].exact {
					here[i].role = goesOn
				}
			}
		}
	}
	return err
}

// alternativeSpots is edgeSpots for what stands for units.
func (s *Searcher) alternativeSpots(n int, e *Edge, docs []uint32, places [][][]spot, most int) error {
	if int(e.cost) > most {
		return nil
	}
	var having []uint32
	var at []int // of docs
	for i, d := range docs {
		if e.within[2].Contains(d) {
			having, at = append(having, d), append(at, i)
		}
	}
	if len(having) == 0 {
		return nil
	}
	here := make([][]spot, len(having))
	var err error
	if e.words != nil {
		here, err = s.phraseSpots(e.words, having)
	} else {
		err = s.spots(having, here, most-int(e.cost), func(seg int) []Derived { return e.Derived[seg] })
	}
	if err != nil {
		return err
	}
	for i, list := range here {
		for _, x := range list {
			x.typos, x.exact = x.typos+e.cost, false
			if e.to-e.from > 1 {
				x.span = uint16(n + 1)
			}
			for u := e.from; u < e.to; u++ {
				x.step = uint8(u - e.from)
				places[u][at[i]] = append(places[u][at[i]], x)
			}
		}
	}
	return nil
}

// judgeOne works out the rules for one document; at are the places in it of each
// unit asked for. Of these it leaves the ones with the fewest typos.
func (s *Searcher) judgeOne(asked []int, at [][]spot, r *ranking) {
	if s.graph.joined() {
		s.keepTogether(asked, at)
	}
	for k := range at {
		u := &s.plan.Parsed.Units[asked[k]]
		at[k] = s.fewestTypos(at[k])
		field, place, exact := s.best(at[k], u.First())
		r.field += field
		r.place += uint16(place)
		if !exact {
			r.inexact++
		}
		if k > 0 && neighbours(&s.plan.Parsed.Units[asked[k-1]], u) {
			r.proximity += s.apart(at[k-1], at[k]) - 1
		}
	}
}

// keepTogether leaves of units of which one stands only together with others no more
// than where they do so.
func (s *Searcher) keepTogether(asked []int, at [][]spot) {
	for k := range at {
		if len(at[k]) == 0 || slices.ContainsFunc(at[k], func(x spot) bool { return x.span == 0 }) {
			continue
		}
		spans := make([]bool, len(s.graph.edges)+1)
		for _, x := range at[k] {
			spans[x.span] = true
		}
		for i, u := range asked {
			together := slices.ContainsFunc(at[k], func(x spot) bool {
				e := s.graph.edges[x.span-1]
				return e.from <= u && u < e.to
			})
			if together && slices.ContainsFunc(at[i], func(x spot) bool { return spans[x.span] && x.span > 0 }) {
				at[i] = slices.DeleteFunc(at[i], func(x spot) bool { return !spans[x.span] || x.span == 0 })
			}
		}
	}
}

// fewestTypos returns the places with as few typos as the unit matches with, in the
// same memory. Those with fewer are in attributes that are not searched.
func (s *Searcher) fewestTypos(at []spot) []spot {
	least, low, most := uint8(math.MaxUint8), uint8(math.MaxUint8), uint8(0)
	for i := range at {
		if s.plan.Fields.matches(at[i].field) {
			least = min(least, at[i].typos)
		}
		low, most = min(low, at[i].typos), max(most, at[i].typos)
	}
	if least > most || low == most {
		return at
	}
	kept := at[:0]
	for _, x := range at {
		if x.typos == least {
			kept = append(kept, x)
		}
	}
	return kept
}

// best returns the rank of the best attribute, what the best place of all costs
// for a unit whose place in the query is typed, and whether the very word stands
// anywhere.
func (s *Searcher) best(at []spot, typed int) (field uint32, place int, exact bool) {
	field, place = unknownRank, mostPlace
	for i := range at {
		x := &at[i]
		matches := s.plan.Fields.matches(x.field)
		exact = exact || x.exact && matches
		if x.role == phraseEnd {
			continue
		}
		if matches {
			field = min(field, s.plan.Fields.rank(x.field))
		}
		if place > 0 {
			place = min(place, placeCost(int(x.pos), typed-int(x.step), int(x.step)))
		}
	}
	return field, place, exact
}

// mostPlace is the highest cost of a place.
const mostPlace = 10

// placeCost is what it costs that a word stands at a place of an attribute while
// it is typed at another; step is how many words after the one of that place
// it is. The steps and those of bucketOf are Meilisearch's: scores are to mean the
// same.
func placeCost(pos, typed, step int) int {
	d := bucketOf(pos-1) - (typed - 1)
	d = max(d, -d) + step
	for cost, most := range [mostPlace]int{0, 1, 4, 7, 11, 16, 24, 64, 256, 1024} {
		if d <= most {
			return cost
		}
	}
	return mostPlace
}

// bucketOf makes places far from the beginning coarse: counted from 0, those up
// to 23 are 24, and those behind the next power of two.
func bucketOf(pos int) int {
	switch {
	case pos < 16:
		return pos
	case pos < 24:
		return 24
	}
	return 1 << bits.Len(uint(pos-1))
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
	if x.field != y.field || x.role == phraseStart || x.role == phraseStartApart || y.role == phraseStartApart || y.role == phraseEnd {
		return farApart
	}
	if s.plan.ByAttribute {
		return 1
	}
	d := int(y.pos) - int(x.pos)
	switch {
	case x.span != y.span && (y.step > 0 || s.unfinished(x)):
		return farApart // the one is within what does not have the other
	case x.span > 0 && x.span == y.span:
		d = 2 // in one word, or in what stands for both
	case d > 0:
	case d < 0 && x.role == aWord && y.role == aWord:
		d = 1 - d
	default:
		d = farApart
	}
	return uint16(min(d, farApart))
}

// unfinished reports whether what stands at a place is more than one unit, and not to its
// end there.
func (s *Searcher) unfinished(x *spot) bool {
	if x.span == 0 {
		return false
	}
	e := s.graph.edges[x.span-1]
	return e.from+int(x.step)+1 < e.to
}

// begins reports whether all units stand as they are, each at its place in the
// query, and some field has them all.
func (s *Searcher) begins(at [][]spot) bool {
	for k := range at {
		typed := bucketOf(s.plan.Parsed.Units[k].First() - 1)
		if !slices.ContainsFunc(at[k], func(x spot) bool {
			return x.exact && (x.role <= goesOn || x.whole) && bucketOf(int(x.pos)-1) == typed
		}) {
			return false
		}
	}
	return slices.ContainsFunc(at[0], func(x spot) bool {
		for _, spots := range at[1:] {
			if !slices.ContainsFunc(spots, func(y spot) bool { return y.exact && y.field == x.field }) {
				return false
			}
		}
		return x.exact && s.plan.Fields.matches(x.field)
	})
}
