package rank

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/folder"
)

// Results takes documents in their order, as many as are asked for.
type Results struct {
	need      int
	threshold float64 // of the score; 0: none
	// falling: no document scores higher than one before it.
	falling  bool
	below    bool // one was below the threshold
	distinct *DistinctSeen
	List     []Found
	Docs     *roaring.Bitmap // all that were taken, beyond need too
	err      error
}

// full reports whether no more documents are of use.
func (r *Results) full() bool {
	if r.err != nil || r.below && r.falling {
		return true
	}
	return r.threshold == 0 && len(r.List) >= r.need
}

// missing is how many documents are still of use.
func (r *Results) missing() int {
	if r.threshold > 0 {
		return int(^uint(0) >> 2) // all of them: they are counted
	}
	return r.need - len(r.List)
}

// add takes the next document.
func (r *Results) add(s *Searcher, f *Found) {
	if !f.ByMeaning {
		f.Score = s.score(&f.ranking)
	}
	if f.Score < r.threshold {
		r.below = true
		return
	}
	if r.distinct != nil {
		fresh, err := r.distinct.Take(s.View, f.Doc)
		if err != nil || !fresh {
			r.err = err
			return
		}
	}
	r.Docs.Add(f.Doc)
	if len(r.List) < r.need {
		r.List = append(r.List, *f)
	}
}

// All returns every document that the search gives, whatever is shown of it:
// those of matched that distinct and threshold leave.
func (r *Results) All(v *folder.View, matched *roaring.Bitmap) (*roaring.Bitmap, error) {
	switch {
	case r.threshold > 0:
		return r.Docs, nil
	case r.distinct == nil:
		return matched, nil
	}
	for it := roaring.AndNot(matched, r.Docs).Iterator(); it.HasNext(); {
		d := it.Next()
		fresh, err := r.distinct.Take(v, d)
		if err != nil {
			return nil, err
		}
		if fresh {
			r.Docs.Add(d)
		}
	}
	return r.Docs, nil
}

// DistinctSeen knows the values of an attribute that documents brought so far.
type DistinctSeen struct {
	Attribute string
	Values    map[string]struct{}
}

// Take reports whether no document before had a value of doc, and notes them. A
// document without values is always taken.
func (d *DistinctSeen) Take(v *folder.View, doc uint32) (bool, error) {
	seg := v.SegmentOf(doc)
	c, err := v.TextColumn(seg, folder.FieldText+d.Attribute)
	if err != nil {
		return false, err
	}
	values := c.Of(doc - seg.First)
	for _, n := range values {
		if _, seen := d.Values[c.Keys[n]]; seen {
			return false, nil
		}
	}
	for _, n := range values {
		d.Values[c.Keys[n]] = struct{}{}
	}
	return true, nil
}

// Values returns what each document of list has in an attribute, as far as it
// counts for being distinct; none of it for "".
func (s *Searcher) Values(attribute string, list []Found) ([][]string, error) {
	out := make([][]string, len(list))
	if attribute == "" {
		return out, nil
	}
	for i, f := range list {
		seg := s.View.SegmentOf(f.Doc)
		c, err := s.View.TextColumn(seg, folder.FieldText+attribute)
		if err != nil {
			return nil, err
		}
		for _, n := range c.Of(f.Doc - seg.First) {
			out[i] = append(out[i], c.Keys[n])
		}
	}
	return out, nil
}
