package search

import (
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// match returns the need best documents of universe for p's units, and counts
// them all.
func (s *searcher) match(p parsedQuery, universe *roaring.Bitmap, strategy Strategy, need int) ([]ranked, error) {
	var err error
	s.whole = roaring.New()
	if p.whole != "" {
		if s.whole, err = s.view.term(fieldWhole, p.whole); err != nil {
			return nil, err
		}
	}
	units := make([]*expanded, len(p.units))
	for i, u := range p.units {
		if units[i], err = s.expand(u); err != nil {
			return nil, err
		}
	}
	var list []ranked
	seen := roaring.New()
	for _, some := range relaxations(units, strategy) {
		sets := []*roaring.Bitmap{universe}
		for _, e := range some {
			sets = append(sets, e.within[2])
		}
		docs := roaring.FastAnd(sets...)
		docs.AndNot(seen)
		seen.Or(docs)
		if len(list) < need && err == nil {
			list, err = s.fillFrom(list, some, docs, need)
			if err != nil && !errors.Is(err, errCutoff) {
				return nil, err
			}
		}
	}
	s.total = int(seen.GetCardinality())
	return list, err
}

// fillFrom appends documents that have all units to list until it has need:
// those with fewer typos first.
func (s *searcher) fillFrom(list []ranked, units []*expanded, docs *roaring.Bitmap, need int) ([]ranked, error) {
	for typos, b := range typoBuckets(units, docs) {
		if len(list) >= need {
			break
		}
		if b == nil || b.IsEmpty() {
			continue
		}
		more, err := s.rank(bucketOf{units, typos, b}, need-len(list))
		if err != nil {
			return list, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// relaxations returns what a hit may be asked to have, from all units down to
// what strategy never drops: phrases, and one unit at least.
func relaxations(units []*expanded, strategy Strategy) [][]*expanded {
	out := [][]*expanded{units}
	if strategy == All {
		return out
	}
	for len(units) > 1 {
		drop := -1
		for i, e := range units {
			if e.phrase {
				continue
			}
			if drop < 0 || strategy != Frequency || e.within[2].GetCardinality() >= units[drop].within[2].GetCardinality() {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		units = slices.Delete(slices.Clone(units), drop, drop+1)
		out = append(out, units)
	}
	return out
}

// typoBuckets parts docs, which have all units, by the fewest typos in all with
// which they have them.
func typoBuckets(units []*expanded, docs *roaring.Bitmap) []*roaring.Bitmap {
	buckets := []*roaring.Bitmap{docs}
	for _, e := range units {
		exactly := [3]*roaring.Bitmap{e.within[0]}
		for k := 1; k < 3; k++ {
			if e.within[k].GetCardinality() > e.within[k-1].GetCardinality() {
				exactly[k] = roaring.AndNot(e.within[k], e.within[k-1])
			}
		}
		next := make([]*roaring.Bitmap, len(buckets)+2)
		for typos, b := range buckets {
			if b == nil {
				continue
			}
			for k, x := range exactly {
				if x == nil {
					continue
				}
				both := roaring.And(b, x)
				switch {
				case both.IsEmpty():
				case next[typos+k] == nil:
					next[typos+k] = both
				default:
					next[typos+k].Or(both)
				}
			}
		}
		buckets = next
	}
	return buckets
}
