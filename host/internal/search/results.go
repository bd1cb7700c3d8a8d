package search

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/folder"
)

// results takes documents in their order, as many as are asked for.
type results struct {
	need      int
	threshold float64 // of the score; 0: none
	// falling: no document scores higher than one before it.
	falling  bool
	below    bool // one was below the threshold
	distinct *distinctSeen
	list     []found
	docs     *roaring.Bitmap // all that were taken, beyond need too
	err      error
}

// full reports whether no more documents are of use.
func (r *results) full() bool {
	if r.err != nil || r.below && r.falling {
		return true
	}
	return r.threshold == 0 && len(r.list) >= r.need
}

// missing is how many documents are still of use.
func (r *results) missing() int {
	if r.threshold > 0 {
		return int(^uint(0) >> 2) // all of them: they are counted
	}
	return r.need - len(r.list)
}

// add takes the next document.
func (r *results) add(s *ranker, f *found) {
	if !f.byMeaning {
		f.score = s.score(&f.ranking)
	}
	if f.score < r.threshold {
		r.below = true
		return
	}
	if r.distinct != nil {
		fresh, err := r.distinct.take(s.view, f.doc)
		if err != nil || !fresh {
			r.err = err
			return
		}
	}
	r.docs.Add(f.doc)
	if len(r.list) < r.need {
		r.list = append(r.list, *f)
	}
}

// all returns every document that the search gives, whatever is shown of it:
// those of matched that distinct and threshold leave.
func (r *results) all(v *folder.View, matched *roaring.Bitmap) (*roaring.Bitmap, error) {
	switch {
	case r.threshold > 0:
		return r.docs, nil
	case r.distinct == nil:
		return matched, nil
	}
	for it := roaring.AndNot(matched, r.docs).Iterator(); it.HasNext(); {
		d := it.Next()
		fresh, err := r.distinct.take(v, d)
		if err != nil {
			return nil, err
		}
		if fresh {
			r.docs.Add(d)
		}
	}
	return r.docs, nil
}

// distinctSeen knows the values of an attribute that documents brought so far.
type distinctSeen struct {
	attribute string
	values    map[string]struct{}
}

// take reports whether no document before had a value of doc, and notes them. A
// document without values is always taken.
func (d *distinctSeen) take(v *folder.View, doc uint32) (bool, error) {
	seg := v.SegmentOf(doc)
	c, err := v.TextColumn(seg, folder.FieldText+d.attribute)
	if err != nil {
		return false, err
	}
	values := c.Of(doc - seg.First)
	for _, n := range values {
		if _, seen := d.values[c.Keys[n]]; seen {
			return false, nil
		}
	}
	for _, n := range values {
		d.values[c.Keys[n]] = struct{}{}
	}
	return true, nil
}

// values returns what each document of list has in an attribute, as far as it
// counts for being distinct; none of it for "".
func (s *ranker) values(attribute string, list []found) ([][]string, error) {
	out := make([][]string, len(list))
	if attribute == "" {
		return out, nil
	}
	for i, f := range list {
		seg := s.view.SegmentOf(f.doc)
		c, err := s.view.TextColumn(seg, folder.FieldText+attribute)
		if err != nil {
			return nil, err
		}
		for _, n := range c.Of(f.doc - seg.First) {
			out[i] = append(out[i], c.Keys[n])
		}
	}
	return out, nil
}
