package search

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveapi "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// A view is a folder at one moment: all segments as one, documents numbered
// through. Not safe for concurrent use; its bitmaps are good until close,
// since they may lie in mapped files.
type view struct {
	reader  bleveapi.IndexReader
	snap    *scorch.IndexSnapshot
	segs    []viewSegment
	live    *roaring.Bitmap // documents that are not deleted
	folder  string          // its name
	columns *columnCache
}

// A viewSegment is one segment of a view.
type viewSegment struct {
	snap  *scorch.SegmentSnapshot
	first uint32 // number of its first document in the view
	count uint32
	dicts map[string]segment.TermDictionary
}

// view opens f as it is now; columns keeps what is made of it.
func (f *folder) view(columns *columnCache) (*view, error) {
	adv, err := f.idx.Advanced()
	if err != nil {
		return nil, fmt.Errorf("open index for reading: %w", err)
	}
	r, err := adv.Reader()
	if err != nil {
		return nil, fmt.Errorf("open index for reading: %w", err)
	}
	v := &view{reader: r, snap: r.(*scorch.IndexSnapshot), live: roaring.New(), folder: f.name(), columns: columns}
	first := uint32(0)
	for _, s := range v.snap.Segments() {
		n := uint32(s.Segment().Count())
		v.segs = append(v.segs, viewSegment{s, first, n, map[string]segment.TermDictionary{}})
		v.live.AddRange(uint64(first), uint64(first)+uint64(n))
		if del := s.Deleted(); del != nil {
			v.live.AndNot(roaring.AddOffset(del, first))
		}
		first += n
	}
	return v, nil
}

func (v *view) close() error { return v.reader.Close() }

// id returns the id of a document.
func (v *view) id(doc uint32) (string, error) {
	id, err := v.snap.ExternalID(bleveapi.NewIndexInternalID(nil, uint64(doc)))
	if err != nil {
		return "", fmt.Errorf("read document id: %w", err)
	}
	return id, nil
}

// number returns the number of the document that has an id, nil where there is
// none.
func (v *view) number(id string) (*uint32, error) {
	internal, err := v.snap.InternalID(id)
	if err != nil {
		return nil, fmt.Errorf("find document: %w", err)
	}
	if internal == nil {
		return nil, nil
	}
	return new(uint32(internal.Value())), nil
}

// dict returns the terms of a field; one that the segment lacks is empty.
func (s *viewSegment) dict(field string) (segment.TermDictionary, error) {
	if d, ok := s.dicts[field]; ok {
		return d, nil
	}
	d, err := s.snap.Segment().Dictionary(field)
	if err != nil {
		return nil, fmt.Errorf("read terms of %s: %w", field, err)
	}
	s.dicts[field] = d
	return d, nil
}

// postings returns the documents of a term, numbered within the segment. Only
// for reading.
func (s *viewSegment) postings(d segment.TermDictionary, term []byte) (*roaring.Bitmap, error) {
	return postings(d, term, s.snap.Deleted())
}

// postings returns the documents of a term but for those of except.
func postings(d segment.TermDictionary, term []byte, except *roaring.Bitmap) (*roaring.Bitmap, error) {
	list, err := d.PostingsList(term, except, nil)
	if err != nil {
		return nil, fmt.Errorf("read documents of a term: %w", err)
	}
	it := list.Iterator(false, false, false, nil)
	if o, ok := it.(segment.OptimizablePostingsIterator); ok {
		if b := o.ActualBitmap(); b != nil {
			return b, nil
		}
		if n, ok := o.DocNum1Hit(); ok {
			return roaring.BitmapOf(uint32(n)), nil
		}
	}
	b := roaring.New()
	for {
		p, err := it.Next()
		if err != nil || p == nil {
			return b, err
		}
		b.Add(uint32(p.Number()))
	}
}

// addTo adds the segment's documents b, numbered within it, to dst.
func (s *viewSegment) addTo(dst, b *roaring.Bitmap) {
	if s.first > 0 {
		b = roaring.AddOffset(b, s.first)
	}
	dst.Or(b)
}

// part returns the documents of b that are in the segment, numbered within it.
func (s *viewSegment) part(b *roaring.Bitmap) *roaring.Bitmap {
	out := roaring.New()
	out.AddRange(uint64(s.first), uint64(s.first)+uint64(s.count))
	out.And(b)
	if s.first > 0 {
		out = roaring.AddOffset64(out, -int64(s.first))
	}
	return out
}

// term returns the documents that have a term in a field.
func (v *view) term(field, term string) (*roaring.Bitmap, error) {
	out := roaring.New()
	for i := range v.segs {
		s := &v.segs[i]
		d, err := s.dict(field)
		if err != nil {
			return nil, err
		}
		b, err := s.postings(d, []byte(term))
		if err != nil {
			return nil, err
		}
		s.addTo(out, b)
	}
	return out, nil
}

// between returns the documents that have a term of at least low and below
// high (nil: no end) in a field, as far as keep (nil: all) takes it.
func (v *view) between(field string, low, high []byte, keep func(term string) bool) (*roaring.Bitmap, error) {
	out := roaring.New()
	err := v.eachTerm(field, low, high, func(s *viewSegment, term string, docs func() (*roaring.Bitmap, error)) error {
		if keep != nil && !keep(term) {
			return nil
		}
		b, err := docs()
		if err == nil {
			s.addTo(out, b)
		}
		return err
	})
	return out, err
}

// eachTerm calls f for the terms of a field in each segment, in order within
// it, from low to below high.
func (v *view) eachTerm(field string, low, high []byte, f func(s *viewSegment, term string, docs func() (*roaring.Bitmap, error)) error) error {
	for i := range v.segs {
		s := &v.segs[i]
		err := s.eachTerm(field, low, high, s.snap.Deleted(), func(term string, docs func() (*roaring.Bitmap, error)) error { return f(s, term, docs) })
		if err != nil {
			return err
		}
	}
	return nil
}

// eachTerm calls f for the terms of a field, in order, from low to below high.
// docs gives a term's documents but for those of except.
func (s *viewSegment) eachTerm(field string, low, high []byte, except *roaring.Bitmap, f func(term string, docs func() (*roaring.Bitmap, error)) error) error {
	d, err := s.dict(field)
	if err != nil {
		return err
	}
	it := d.AutomatonIterator(nil, low, high)
	for {
		e, err := it.Next()
		if err != nil {
			return fmt.Errorf("read terms of %s: %w", field, err)
		}
		if e == nil {
			return nil
		}
		if err := f(e.Term, func() (*roaring.Bitmap, error) { return postings(d, []byte(e.Term), except) }); err != nil {
			return err
		}
	}
}
