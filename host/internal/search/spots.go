package search

import (
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// A spot is a place in a document where a word stands, or a phrase begins.
type spot struct {
	field  uint16 // number of the attribute
	pos    uint16
	typos  uint8
	length uint8 // words that it takes
	exact  bool
	rest   uint8 // see derived
	// span is the number of the edge, counted from 1, where it stands for
	// several units at once; else 0.
	span uint8
}

// spots adds to out[i] where docs[i] has one of the words that terms gives for
// a segment. docs are sorted.
func (s *searcher) spots(docs []uint32, out [][]spot, terms func(seg int) []derived) error {
	all := roaring.BitmapOf(docs...)
	for i := range s.view.segs {
		seg := &s.view.segs[i]
		part := seg.part(all)
		if part.IsEmpty() {
			continue
		}
		dict, err := seg.dict(fieldWords)
		if err != nil {
			return err
		}
		base := sort.Search(len(docs), func(i int) bool { return docs[i] >= seg.first })
		end := base + int(part.GetCardinality())
		local := part.ToArray()
		for n, t := range terms(i) {
			if err := s.check(n); err != nil {
				return err
			}
			if err := s.readSpots(seg, dict, t, part, local, out[base:end]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readSpots adds to out[i] where docs[i] has a word in a field where it counts.
// docs are numbered within the segment; part has the same ones.
func (s *searcher) readSpots(seg *viewSegment, dict segment.TermDictionary, t derived, part *roaring.Bitmap, docs []uint32, out [][]spot) error {
	list, err := dict.PostingsList([]byte(t.term), seg.snap.Deleted(), nil)
	if err != nil {
		return fmt.Errorf("read places of a word: %w", err)
	}
	it := list.Iterator(true, false, true, nil)
	if o, ok := it.(segment.OptimizablePostingsIterator); ok {
		if b := o.ActualBitmap(); b != nil {
			b = roaring.And(b, part)
			if b.IsEmpty() {
				return nil
			}
			// Positions of the other documents are passed over undecoded.
			o.ReplaceActual(b)
		} else if n, ok := o.DocNum1Hit(); ok && !part.Contains(uint32(n)) {
			return nil
		}
	}
	fields := &s.plan.fields
	for i := 0; ; {
		p, err := it.Next()
		if err != nil {
			return fmt.Errorf("read places of a word: %w", err)
		}
		if p == nil {
			return nil
		}
		doc := uint32(p.Number())
		i += sort.Search(len(docs)-i, func(k int) bool { return docs[i+k] >= doc })
		if i == len(docs) {
			return nil
		}
		if docs[i] != doc {
			continue
		}
		for _, l := range p.Locations() {
			if field := uint16(l.Pos() >> 16); fields.counts(field, t.typos, t.in) {
				out[i] = append(out[i], spot{field: field, pos: uint16(l.Pos()), typos: t.typos, length: 1, exact: t.exact, rest: t.rest})
			}
		}
	}
}
