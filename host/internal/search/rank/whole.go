package rank

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A whole says which documents have an attribute that is the units asked for and
// no more.
type whole struct {
	units int // so many units from the first on are looked for, 0 for none
	docs  *roaring.Bitmap
}

// wholeOf returns the documents of which an attribute is the units. Units at the
// end whose very word the index does not have are not looked for.
func (s *Searcher) wholeOf(units unitSet) (whole, error) {
	if w, ok := s.wholes[units]; ok {
		return w, nil
	}
	n := 0
	for n < s.graph.n && units.has(n) && s.graph.edges[n].known {
		n++
	}
	for i := n; i < s.graph.n; i++ {
		if units.has(i) && s.graph.edges[i].known {
			n = 0 // there is a hole before it
		}
	}
	w := whole{n, roaring.New()}
	if n > 0 {
		for _, f := range text.WholeOf(s.plan.Parsed.Words[:s.plan.Parsed.Units[n-1].End]) {
			if err := s.findWhole(f.Term, f.In, w.docs); err != nil {
				return w, err
			}
		}
	}
	if s.wholes == nil {
		s.wholes = map[unitSet]whole{}
	}
	s.wholes[units] = w
	return w, nil
}

// findWhole adds to docs the documents of which an attribute is a text, as some
// alphabets write it.
func (s *Searcher) findWhole(text string, in text.AlphabetSet, docs *roaring.Bitmap) error {
	low := []byte(text + "\x00")
	steps := 0
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(folder.FieldWhole)
		if err != nil {
			return err
		}
		for it := folder.EachTerm(dict, nil, low, folder.NextKey(low)); ; steps++ {
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
			if !s.plan.Fields.counts(folder.WholeField(entry.Term), 0, in) {
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
