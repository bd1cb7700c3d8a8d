package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A ranking is how well a document answers, rule by rule. Less is better in
// all but words.
type ranking struct {
	words     uint16 // units that it has
	typos     uint16
	proximity uint16 // sum over neighbours, see apart
	field     uint32 // sum of the attributes' ranks
	pos       uint32 // sum of the places in them
	notWhole  bool   // no attribute is exactly the query
	inexact   uint16 // words that stand there as a typo or a beginning only
}

// compare orders rankings by the rules: words, typo, proximity, attribute,
// exactness.
func (a *ranking) compare(b *ranking) int {
	if c := cmp.Or(
		cmp.Compare(b.words, a.words),
		cmp.Compare(a.typos, b.typos),
		cmp.Compare(a.proximity, b.proximity),
		cmp.Compare(a.field, b.field),
		cmp.Compare(a.pos, b.pos),
	); c != 0 {
		return c
	}
	if a.notWhole != b.notWhole {
		if b.notWhole {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.inexact, b.inexact)
}

// A ranked document is one with its ranking.
type ranked struct {
	doc     uint32
	seq     float64
	ranking ranking
}

const (
	farApart = 8 // words at least so far apart are not near
	maxPlace = 1000
	// maxRanked bounds the documents of one bucket (as many words, as many
	// typos) that are ranked further; those beyond come behind, unordered.
	maxRanked = 10_000
)

// A bucketOf documents that have the same units with as many typos in all.
type bucketOf struct {
	units []*expanded
	typos int
	docs  *roaring.Bitmap
}

// rank orders a bucket by the rules after typo. keep bounds how many are
// returned.
func (s *searcher) rank(b bucketOf, keep int) ([]ranked, error) {
	docs := b.docs.ToArray()
	rest := docs[min(len(docs), maxRanked):]
	docs = docs[:len(docs)-len(rest)]
	places := make([][][]spot, len(b.units)) // unit, document
	for u, e := range b.units {
		var err error
		if e.phrase {
			places[u], err = s.phraseSpots(e.words, docs)
		} else {
			places[u] = make([][]spot, len(docs))
			err = s.spots(docs, places[u], func(seg int) []derived { return e.derived[seg] })
		}
		if err != nil {
			return nil, err
		}
	}
	out := make([]ranked, len(docs), len(docs)+len(rest))
	at := make([][]spot, len(b.units))
	for i, d := range docs {
		if err := s.check(i); err != nil {
			return nil, err
		}
		for u := range b.units {
			at[u] = places[u][i]
		}
		r := s.judge(b.units, at)
		r.typos = uint16(b.typos)
		r.notWhole = !s.whole.Contains(d)
		out[i] = ranked{doc: d, ranking: r}
	}
	if err := s.order(out); err != nil {
		return nil, err
	}
	for _, d := range rest {
		last := ranking{words: uint16(len(b.units)), typos: uint16(b.typos), proximity: math.MaxUint16, field: math.MaxUint32, notWhole: true}
		out = append(out, ranked{doc: d, ranking: last})
	}
	return out[:min(len(out), keep)], nil
}

// order sorts by ranking, among equals the older first.
func (s *searcher) order(list []ranked) error {
	docs := make([]uint32, len(list))
	for i := range list {
		docs[i] = list[i].doc
	}
	if err := s.view.numbers(fieldSeq, docs, func(i int, x float64) { list[i].seq = x }); err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(a.ranking.compare(&b.ranking), cmp.Compare(a.seq, b.seq))
	})
	return nil
}

// judge works out the rules of one document; at are the places of each unit in
// it.
func (s *searcher) judge(units []*expanded, at [][]spot) ranking {
	r := ranking{words: uint16(len(units))}
	for u := range units {
		field, pos, exact := s.best(at[u])
		r.field += field
		r.pos += pos
		if !exact {
			r.inexact++
		}
		if u+1 < len(units) {
			r.proximity += apart(at[u], at[u+1], len(units[u].words))
		}
	}
	return r
}

// best returns the rank of the best attribute among the places with the fewest
// typos, the first place in it, and whether the very word stands anywhere.
func (s *searcher) best(at []spot) (field, pos uint32, exact bool) {
	typos := uint8(math.MaxUint8)
	field, pos = math.MaxUint16, maxPlace
	for _, x := range at {
		exact = exact || x.exact
		if x.typos > typos {
			continue
		}
		if x.typos < typos {
			typos, field, pos = x.typos, math.MaxUint16, maxPlace
		}
		f := uint32(math.MaxUint16)
		if int(x.field) < len(s.ranks) {
			f = uint32(s.ranks[x.field])
		}
		if p := min(uint32(x.pos), maxPlace); f < field || f == field && p < pos {
			field, pos = f, p
		}
	}
	return field, pos, exact
}

// apart is the smallest distance between two neighbours of the query, the
// first of them n words long: 1 side by side, one more in the wrong order.
func apart(a, b []spot, n int) uint16 {
	best := farApart
	for _, x := range a {
		for _, y := range b {
			if x.field != y.field {
				continue
			}
			switch d := int(y.pos) - int(x.pos); {
			case d > 0:
				best = min(best, max(d-n+1, 1))
			case d < 0:
				best = min(best, -d+1)
			}
		}
	}
	return uint16(best)
}

// score is a ranking as a number from 0 to 1: each rule divides what the one
// before left undecided. units is how many the query has, typos how many it
// may have in all.
func (r *ranking) score(units, typos int) float64 {
	if units == 0 {
		return 1
	}
	pairs := units - 1
	rules := [...]struct{ have, of float64 }{
		{float64(r.words), float64(units)},
		{float64(typos + 1 - min(int(r.typos), typos)), float64(typos + 1)},
		{float64((farApart-1)*pairs + 1 - min(max(int(r.proximity)-pairs, 0), (farApart-1)*pairs)), float64((farApart-1)*pairs + 1)},
		{1 + 1000/(1+float64(r.field)/float64(units)), 1001},
		{1 + 1000/(1+max(float64(r.pos)/float64(units)-1, 0)), 1001},
		{float64(units + 1 - min(int(r.inexact), units)), float64(units + 1)},
	}
	// have is 1 to of. A rule's step is shared out by the rules behind it.
	score, step := 0.0, 1.0
	for _, rule := range rules {
		step /= rule.of
		score += (rule.have - 1) * step
	}
	return min(score+step, 1)
}
