package search

import (
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// A spot is a place in a document where a word stands.
type spot struct {
	field uint16 // number of the attribute
	pos   uint16
	typos uint8
	exact bool
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
		for n, t := range terms(i) {
			if err := s.check(n); err != nil {
				return err
			}
			list, err := dict.PostingsList([]byte(t.term), seg.snap.Deleted(), nil)
			if err != nil {
				return fmt.Errorf("read places of a word: %w", err)
			}
			if err := readSpots(list, part, t, seg.first, docs[base:], out[base:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readSpots adds the places of one word in the documents of part.
func readSpots(list segment.PostingsList, part *roaring.Bitmap, t derived, first uint32, docs []uint32, out [][]spot) error {
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
	i := 0
	for {
		p, err := it.Next()
		if err != nil {
			return fmt.Errorf("read places of a word: %w", err)
		}
		if p == nil {
			return nil
		}
		doc := uint32(p.Number()) + first
		i += sort.Search(len(docs)-i, func(k int) bool { return docs[i+k] >= doc })
		if i == len(docs) {
			return nil
		}
		if docs[i] != doc {
			continue
		}
		for _, l := range p.Locations() {
			out[i] = append(out[i], spot{uint16(l.Pos() >> 16), uint16(l.Pos()), t.typos, t.exact})
		}
	}
}
