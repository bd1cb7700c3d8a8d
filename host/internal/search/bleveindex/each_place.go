package bleveindex

import (
	"cmp"
	"errors"
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// EachPlace calls f for each place at which docs[i] has a term of FieldWords: the
// number of the attribute, and the word's place in it. docs are sorted and
// numbered within the segment; part has the same ones.
func (v *View) EachPlace(s *Segment, dict Dictionary, term string, part *roaring.Bitmap, docs []uint32, f func(i int, field, pos uint16)) error {
	name := placesOf + term
	if s.packed {
		if kept, ok := v.columns.words.get(v.segmentKey(s), name); ok {
			kept.(*keptPlaces).each(docs, f)
			return nil
		}
	}
	list, err := dict.PostingsList([]byte(term), nil, nil)
	if err != nil {
		return fmt.Errorf("read places of a word: %w", err)
	}
	n := list.Count()
	if n == 0 {
		return nil
	}
	if s.packed && n >= leastKept && uint64(len(docs)) >= n/keptPart && part.AndCardinality(bitmapOf(list)) >= n/keptPart {
		kept, err := v.Keep(s, name, func() (any, int, error) {
			k, err := keepPlaces(list)
			return k, k.size(), err
		})
		if err == nil {
			kept.(*keptPlaces).each(docs, f)
		}
		return err
	}
	return s.readPlaces(list, part, docs, f)
}

// The places of a term in a segment are kept where it has so many documents, and so
// large a part of these is asked for: to read them all takes little more.
const (
	leastKept = 64
	keptPart  = 8
)

// placesOf is what the names of kept places begin with.
const placesOf = "\x02"

// bitmapOf returns the documents of a list. Only for reading.
func bitmapOf(list segment.PostingsList) *roaring.Bitmap {
	it := list.Iterator(false, false, false, nil)
	if o, ok := it.(segment.OptimizablePostingsIterator); ok {
		if b := o.ActualBitmap(); b != nil {
			return b
		}
	}
	return roaring.New() // of one document: not worth keeping
}

// readPlaces is EachPlace out of the segment's file.
func (s *Segment) readPlaces(list segment.PostingsList, part *roaring.Bitmap, docs []uint32, f func(i int, field, pos uint16)) error {
	it := list.Iterator(true, false, !s.packed, s.places)
	s.places = it
	few := part
	if o, ok := it.(segment.OptimizablePostingsIterator); ok {
		if b := o.ActualBitmap(); b != nil {
			few = roaring.And(b, part)
			if few.IsEmpty() {
				return nil
			}
			// Positions of the other documents are passed over undecoded.
			if few.GetCardinality() < b.GetCardinality() {
				o.ReplaceActual(few)
			}
		} else if n, ok := o.DocNum1Hit(); ok && !part.Contains(uint32(n)) {
			return nil
		}
	}
	located := !s.packed // it reads what is not packed, too
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
		// A folder of an older layout has what was written before with locations, and
		// takes changes until it is built anew.
		if p.Frequency()&1 == 1 && (s.packed || len(p.Locations()) == 0) {
			unpackPlaces(p.Frequency(), func(field, pos uint16) { f(i, field, pos) })
			continue
		}
		if !located {
			// Few words stand so often in a document: it goes on from here.
			located = true
			it = list.Iterator(true, false, true, nil)
			if o, ok := it.(segment.OptimizablePostingsIterator); ok && few != part {
				o.ReplaceActual(few)
			}
			if p, err = it.Advance(uint64(doc)); err != nil || p == nil {
				return fmt.Errorf("read places of a word: document %d: %w", doc, cmp.Or(err, errNoPlaces))
			}
		}
		for _, l := range p.Locations() {
			f(i, uint16(l.Pos()>>16), uint16(l.Pos()))
		}
	}
}

var errNoPlaces = errors.New("it has none")

// keptPlaces are the places of a term in all documents of a segment, deleted ones
// among them. Only for reading.
type keptPlaces struct {
	docs []uint32 // in order
	// packed is for each of docs what packPlaces made of its places, or an even
	// number: twice the place in more where they begin, behind how many they are.
	packed []uint64
	more   []uint32
}

// keepPlaces reads the places of a list.
func keepPlaces(list segment.PostingsList) (*keptPlaces, error) {
	n := int(list.Count())
	k := &keptPlaces{docs: make([]uint32, 0, n), packed: make([]uint64, 0, n)}
	for it := list.Iterator(true, false, true, nil); ; {
		p, err := it.Next()
		if err != nil {
			return k, fmt.Errorf("read places of a word: %w", err)
		}
		if p == nil {
			return k, nil
		}
		k.docs = append(k.docs, uint32(p.Number()))
		if p.Frequency()&1 == 1 {
			k.packed = append(k.packed, p.Frequency())
			continue
		}
		k.packed = append(k.packed, 2*uint64(len(k.more)))
		locations := p.Locations()
		k.more = append(k.more, uint32(len(locations)))
		for _, l := range locations {
			k.more = append(k.more, uint32(l.Pos()))
		}
	}
}

// size is how many bytes k takes, with what keeps it.
func (k *keptPlaces) size() int { return 512 + 4*cap(k.docs) + 8*cap(k.packed) + 4*cap(k.more) }

// each calls f for the places of docs, which are sorted. Of either list it passes
// over what the other has not: a common word is asked for in a few documents, a rare
// one in many.
func (k *keptPlaces) each(docs []uint32, f func(i int, field, pos uint16)) {
	for i, at := 0, 0; i < len(docs) && at < len(k.docs); {
		switch d, has := docs[i], k.docs[at]; {
		case has < d:
			at = reach(k.docs, at+1, d)
		case has > d:
			i = reach(docs, i+1, has)
		default:
			k.placesAt(at, func(field, pos uint16) { f(i, field, pos) })
			i, at = i+1, at+1
		}
	}
}

// placesAt calls f for each place in the document with the number at.
func (k *keptPlaces) placesAt(at int, f func(field, pos uint16)) {
	packed := k.packed[at]
	if packed&1 == 1 {
		unpackPlaces(packed, f)
		return
	}
	first := packed/2 + 1
	for _, p := range k.more[first : first+uint64(k.more[first-1])] {
		f(uint16(p>>16), uint16(p))
	}
}

// reach returns the first place in list, which is sorted, from at on that has d or
// more: near in most cases.
func reach(list []uint32, at int, d uint32) int {
	end := at
	for step := 1; end < len(list) && list[end] < d; step *= 2 {
		at, end = end+1, end+step
	}
	for end = min(end, len(list)); at < end; {
		if middle := int(uint(at+end) / 2); list[middle] < d {
			at = middle + 1
		} else {
			end = middle
		}
	}
	return at
}
