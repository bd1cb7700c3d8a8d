package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
)

// Results takes documents in their order, as many as are asked for.
type Results struct {
	need int
	// exact: what they all are is worked out to the end, and not only as far as
	// hits are asked for.
	exact     bool
	threshold float64 // of the score; 0: none
	// falling: no document scores higher than one before it.
	falling  bool
	below    *roaring.Bitmap // those below the threshold
	distinct *DistinctSeen
	List     []Found
	Docs     *roaring.Bitmap // all that were taken, beyond need too
	err      error
}

// full reports whether no more documents are of use.
func (r *Results) full() bool {
	if r.err != nil || r.falling && !r.below.IsEmpty() {
		return true
	}
	return !r.goesOn() && len(r.List) >= r.need
}

// goesOn reports whether all documents are to be taken, since they are counted.
func (r *Results) goesOn() bool { return r.exact && r.threshold > 0 }

// wantsEqual reports whether the documents equal to the last hit are of use, too:
// of these none stands for a distinct value that another one has.
func (r *Results) wantsEqual() bool { return r.err == nil && r.distinct != nil }

// GoodEnough reports whether want hits by words are there, and all so good, weighed,
// that none by meaning is looked for. The bound is Meilisearch's.
func (r *Results) GoodEnough(want int, weight float64) bool {
	return len(r.List) >= want && !slices.ContainsFunc(r.List, func(f Found) bool { return f.Score*weight < 0.45 })
}

// missing is how many documents are still of use.
func (r *Results) missing() int {
	if r.goesOn() {
		return int(^uint(0) >> 2) // all of them: they are counted
	}
	return max(r.need-len(r.List), 0)
}

// add takes the next document.
func (r *Results) add(s *Searcher, f *Found) {
	if !f.ByMeaning && (r.threshold > 0 || len(r.List) < r.need) {
		f.Score = s.score(&f.ranking)
	}
	if f.Score < r.threshold {
		r.below.Add(f.Doc)
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
// those of matched that distinct and threshold leave, as far as it was looked at.
// Behind that all count that share no value with a document before, unless it is
// to be exact: then the first inserted of those that share one stands for it.
func (r *Results) All(v *bleveindex.View, matched *roaring.Bitmap) (*roaring.Bitmap, error) {
	switch {
	case r.threshold > 0 && (r.exact || len(r.List) < r.need):
		return r.Docs, nil
	case r.threshold > 0:
		matched = roaring.AndNot(matched, r.below)
	}
	if r.distinct == nil {
		return matched, nil
	}
	rest, fresh := roaring.AndNot(matched, r.Docs).ToArray(), r.distinct.Fresh
	if r.exact {
		fresh = r.distinct.Take
		// The numbers of documents are those of the index's parts, and no order.
		if err := sortByInsertion(v, rest); err != nil {
			return nil, err
		}
	}
	for _, d := range rest {
		fresh, err := fresh(v, d)
		if err != nil {
			return nil, err
		}
		if fresh {
			r.Docs.Add(d)
		}
	}
	return r.Docs, nil
}

// sortByInsertion brings documents, which are sorted by number, into the order in which
// they came.
func sortByInsertion(v *bleveindex.View, docs []uint32) error {
	list := placesOf(docs)
	if err := v.FirstNumbers(bleveindex.FieldSeq, docs, func(i int, seq, _ float64) { list[i].seq = seq }); err != nil {
		return err
	}
	slices.SortFunc(list, compareInserted)
	for i := range list {
		docs[i] = list[i].doc
	}
	return nil
}

// An inserted document has a place in the order in which documents came.
type inserted struct {
	seq float64
	doc uint32
}

// placesOf returns docs with places that are not known yet.
func placesOf(docs []uint32) []inserted {
	list := make([]inserted, len(docs))
	for i, d := range docs {
		list[i] = inserted{math.MaxFloat64, d}
	}
	return list
}

func compareInserted(a, b inserted) int { return cmp.Compare(a.seq, b.seq) }

// DistinctSeen knows the values of an attribute that documents brought so far.
type DistinctSeen struct {
	Attribute string
	Values    map[string]struct{}
	field     string   // of Attribute's column
	values    []string // of the document that is looked at
}

// Fresh reports whether no document that was taken had a value of doc. One without
// values always is.
func (d *DistinctSeen) Fresh(v *bleveindex.View, doc uint32) (bool, error) {
	return d.look(v, doc, false)
}

// Take is Fresh, and notes the values of a document that is.
func (d *DistinctSeen) Take(v *bleveindex.View, doc uint32) (bool, error) {
	return d.look(v, doc, true)
}

func (d *DistinctSeen) look(v *bleveindex.View, doc uint32, note bool) (bool, error) {
	if d.field == "" {
		d.field = bleveindex.FieldText + d.Attribute
	}
	var err error
	if d.values, err = v.DistinctValues(d.values[:0], d.field, doc); err != nil {
		return false, err
	}
	for _, value := range d.values {
		if _, seen := d.Values[value]; seen {
			return false, nil
		}
	}
	if !note {
		return true, nil
	}
	for _, value := range d.values {
		d.Values[value] = struct{}{}
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
	field := bleveindex.FieldText + attribute
	for i, f := range list {
		var err error
		if out[i], err = s.View.DistinctValues(nil, field, f.Doc); err != nil {
			return nil, err
		}
	}
	return out, nil
}
