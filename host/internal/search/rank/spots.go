package rank

import (
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
)

// A spot is a place in a document where a word stands, or a phrase begins.
type spot struct {
	field uint16 // number of the attribute
	pos   uint16
	typos uint8
	role  role // in a phrase, where it is in one
	exact bool
	whole bool  // all of the phrase follows
	step  uint8 // which unit it stands for, counted from 0, of several at once
	// span is the number of the edge, counted from 1, where it stands for several units
	// at once; else 0.
	span uint16
}

// A role says what of a unit stands at a spot.
type role uint8

const (
	aWord  role = iota
	goesOn      // a word that only begins as it was typed, where that is common
	phraseStart
	phraseStartApart // a stop word stands before it in the phrase
	phraseEnd
)

// spots adds to out[i] where docs[i] has one of the words that terms gives for
// a segment, with at most so many typos. docs are sorted.
func (s *Searcher) spots(docs []uint32, out [][]spot, most int, terms func(seg int) []Derived) error {
	room := spotRoom{lists: min(len(docs), 256)}
	return s.eachSpot(docs, most, terms, func(i int, t *Derived, field, pos uint16) {
		out[i] = room.add(out[i], spot{field: field, pos: pos, typos: t.typos, exact: t.Exact})
	})
}

// eachSpot calls f for each place at which docs[i] has one of the words that terms
// gives for a segment, with at most so many typos. docs are sorted.
func (s *Searcher) eachSpot(docs []uint32, most int, terms func(seg int) []Derived, f func(i int, t *Derived, field, pos uint16)) error {
	all := roaring.BitmapOf(docs...)
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		part := seg.Part(all)
		if part.IsEmpty() {
			continue
		}
		dict, err := seg.Dict(bleveindex.FieldWords)
		if err != nil {
			return err
		}
		base := sort.Search(len(docs), func(i int) bool { return docs[i] >= seg.First })
		local := part.ToArray()
		list := terms(i)
		for n := range list {
			t := &list[n]
			if int(t.typos) > most {
				continue
			}
			if err := s.check(n); err != nil {
				return err
			}
			err := s.readSpots(seg, dict, t, part, local, func(i int, field, pos uint16) { f(base+i, t, field, pos) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A spotRoom is where short lists of spots come to lie, many in one allocation: most
// documents have a word at one or two places.
type spotRoom struct {
	free  []spot
	lists int // that one allocation has room for
}

// shortSpots is how long a list is at first.
const shortSpots = 2

// add appends x to a list, which may be nil.
func (r *spotRoom) add(list []spot, x spot) []spot {
	if list == nil {
		if len(r.free) < shortSpots {
			r.free = make([]spot, shortSpots*r.lists)
		}
		list, r.free = r.free[:0:shortSpots], r.free[shortSpots:]
	}
	return append(list, x)
}

// readSpots calls f for each place at which docs[i] has a word, see [Fields.places].
// docs are numbered within the segment; part has the same ones.
func (s *Searcher) readSpots(seg *bleveindex.Segment, dict bleveindex.Dictionary, t *Derived, part *roaring.Bitmap, docs []uint32, f func(i int, field, pos uint16)) error {
	fields := &s.plan.Fields
	return s.View.EachPlace(seg, dict, t.Term, part, docs, func(i int, field, pos uint16) {
		if fields.places(field, t.typos, t.In) {
			f(i, field, pos)
		}
	})
}
