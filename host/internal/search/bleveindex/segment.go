package bleveindex

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// A Dictionary has the terms of a field of a segment, in order.
type Dictionary = segment.TermDictionary

// An Automaton accepts terms.
type Automaton = segment.Automaton

// A Segment is one segment of a view.
type Segment struct {
	snap  *scorch.SegmentSnapshot
	First uint32 // number of its first document in the view
	count uint32
	dicts map[string]Dictionary
	// packed: places are kept as packPlaces has them.
	packed bool
	// places is what read places last, whose memory the next word's are read into.
	places segment.PostingsIterator
	// probe is what [Segment.Has] read last, in the same way.
	probe segment.PostingsList
}

// Dict returns the terms of a field; one that the segment lacks is empty.
func (s *Segment) Dict(field string) (Dictionary, error) {
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

// EachTerm returns what gives the terms of d that the automaton (nil: all of them)
// accepts, from low to below high (nil: no end), in order. Of an entry the term alone
// counts.
func EachTerm(d Dictionary, a Automaton, low, high []byte) segment.DictionaryIterator {
	if d, ok := d.(uncounted); ok {
		return d.AutomatonIteratorOmitCount(a, low, high)
	}
	return d.AutomatonIterator(a, low, high)
}

// An uncounted dictionary can give its terms without reading how many documents
// each has.
type uncounted interface {
	AutomatonIteratorOmitCount(a segment.Automaton, low, high []byte) segment.DictionaryIterator
}

// Has reports whether d, a dictionary of s, has a term. Dictionary's own Contains
// makes what it walks with anew each time.
func (s *Segment) Has(d Dictionary, term []byte) (bool, error) {
	list, err := d.PostingsList(term, nil, s.probe)
	if err != nil {
		return false, fmt.Errorf("look up a term: %w", err)
	}
	s.probe = list
	return list.Count() > 0, nil
}

// Postings returns the documents of a term, numbered within the segment. Only
// for reading.
func (s *Segment) Postings(d Dictionary, term []byte) (*roaring.Bitmap, error) {
	return postings(d, term, s.snap.Deleted())
}

// AllPostings is Postings with the documents that are deleted.
func (s *Segment) AllPostings(d Dictionary, term []byte) (*roaring.Bitmap, error) {
	return postings(d, term, nil)
}

// HasDeleted reports whether some of the segment's documents are deleted.
func (s *Segment) HasDeleted() bool {
	deleted := s.snap.Deleted()
	return deleted != nil && !deleted.IsEmpty()
}

// Living returns the segment's documents b, numbered within it, without the deleted
// ones. Only for reading.
func (s *Segment) Living(b *roaring.Bitmap) *roaring.Bitmap {
	if !s.HasDeleted() {
		return b
	}
	return roaring.AndNot(b, s.snap.Deleted())
}

// postings returns the documents of a term but for those of except.
func postings(d Dictionary, term []byte, except *roaring.Bitmap) (*roaring.Bitmap, error) {
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

// AddTo adds the segment's documents b, numbered within it, to dst.
func (s *Segment) AddTo(dst, b *roaring.Bitmap) { dst.Or(s.Placed(b)) }

// Placed returns the segment's documents b, numbered within it, by their numbers
// in the view. Only for reading.
func (s *Segment) Placed(b *roaring.Bitmap) *roaring.Bitmap {
	if s.First == 0 {
		return b
	}
	return roaring.AddOffset(b, s.First)
}

// Part returns the documents of b that are in the segment, numbered within it.
func (s *Segment) Part(b *roaring.Bitmap) *roaring.Bitmap {
	out := roaring.New()
	out.AddRange(uint64(s.First), uint64(s.First)+uint64(s.count))
	out.And(b)
	if s.First > 0 {
		out = roaring.AddOffset64(out, -int64(s.First))
	}
	return out
}

// eachTerm calls f for the terms of a field, in order, from low to below high.
// docs gives a term's documents but for those of except.
func (s *Segment) eachTerm(field string, low, high []byte, except *roaring.Bitmap, f func(term string, docs func() (*roaring.Bitmap, error)) error) error {
	d, err := s.Dict(field)
	if err != nil {
		return err
	}
	it := EachTerm(d, nil, low, high)
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
