package rank

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/text"
)

// knownUnits is how many of units, from the first on, may be a whole attribute, 0 where
// none can be. Those at the end whose very word the index does not have are left out.
func (s *Searcher) knownUnits(units unitSet) int {
	n := 0
	for n < s.graph.n && units.has(n) && s.graph.edges[n].known {
		n++
	}
	for i := n; i < s.graph.n; i++ {
		if units.has(i) && s.graph.edges[i].known {
			return 0 // there is a hole before it
		}
	}
	return n
}

// wholeOf returns the documents of which an attribute is the first n units and no more.
func (s *Searcher) wholeOf(n int) (*roaring.Bitmap, error) {
	if docs, ok := s.wholes[n]; ok {
		return docs, nil
	}
	docs := roaring.New()
	for _, f := range text.WholeOf(s.plan.Parsed.Words[:s.plan.Parsed.Units[n-1].End]) {
		if err := s.findWhole(f.Term, f.In, docs); err != nil {
			return nil, err
		}
	}
	if s.wholes == nil {
		s.wholes = map[int]*roaring.Bitmap{}
	}
	s.wholes[n] = docs
	return docs, nil
}

// findWhole adds to docs the documents of which an attribute is a text, as some
// alphabets write it.
func (s *Searcher) findWhole(text string, in text.AlphabetSet, docs *roaring.Bitmap) error {
	low := []byte(text + "\x00")
	steps := 0
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(bleveindex.FieldWhole)
		if err != nil {
			return err
		}
		for it := bleveindex.EachTerm(dict, nil, low, bleveindex.NextKey(low)); ; steps++ {
			entry, err := it.Next()
			if err != nil {
				return err
			}
			if entry == nil {
				break
			}
			if err := s.check(steps); err != nil {
				return err
			}
			if !s.plan.Fields.counts(bleveindex.WholeField(entry.Term), 0, in) {
				continue
			}
			found, err := seg.Postings(dict, []byte(entry.Term))
			if err != nil {
				return err
			}
			seg.AddTo(docs, found)
		}
	}
	return nil
}
