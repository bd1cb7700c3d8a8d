package bleveindex

import (
	"math/bits"
	"slices"

	bleveapi "github.com/blevesearch/bleve_index_api"
)

// Where a word stands in a document is written in place of how often it stands
// there, if that fits into the number: most words stand at one or two places, and
// what bleve keeps of a place, with its bytes and its field, takes several times
// as much to write, to merge and to read.
//
// The number is odd then. Behind its lowest bit are groups of four bits, three of
// a figure and one that says whether it goes on: for each place how far it is
// behind the one before it, times two, and one more where its attribute is
// another; then by how many attributes. An even number is the count of places,
// or one more, and bleve keeps these.

// mostPacked is how many bits a packed number may have: bleve needs one.
const mostPacked = 62

// packPlaces returns the number that stands for places, which are in order; ok is
// false where none does.
func packPlaces(places []uint32) (packed uint64, ok bool) {
	packed, at := 1, 1
	put := func(x uint32) {
		for ok = at+4 <= mostPacked; ok; ok = at+4 <= mostPacked {
			group := uint64(x & 7)
			if x >>= 3; x > 0 {
				group |= 8
			}
			packed |= group << at
			if at += 4; x == 0 {
				return
			}
		}
	}
	field, pos := uint32(0), uint32(0)
	for _, p := range places {
		switch f := p >> 16; {
		case p&0xffff == pos && f == field:
			return 0, false // would end the number
		case f == field:
			put((p&0xffff - pos) << 1)
		default:
			put((p&0xffff)<<1 | 1)
			if ok {
				put(f - field)
			}
			field = f
		}
		if !ok {
			return 0, false
		}
		pos = p & 0xffff
	}
	return packed, len(places) > 0
}

// unpackPlaces calls f for each place of a number that packPlaces made.
func unpackPlaces(packed uint64, f func(field, pos uint16)) {
	packed >>= 1
	figure := func() (x uint32) {
		for shift := 0; ; shift += 3 {
			group := packed & 15
			packed >>= 4
			x |= uint32(group&7) << shift
			if group < 8 {
				return x
			}
		}
	}
	field, pos := uint32(0), uint32(0)
	for packed != 0 {
		x := figure()
		if x&1 == 0 {
			pos += x >> 1
		} else {
			pos = x >> 1
			field += figure()
		}
		f(uint16(field), uint16(pos))
	}
}

// A wordPlaces is where a word stands in a document.
type wordPlaces struct {
	term  string
	first uint32
	more  []uint32 // behind the first
}

// frequency returns what bleve is to keep of w.
func (w *wordPlaces) frequency(tf *bleveapi.TokenFreq, scratch []uint32) []uint32 {
	tf.Term = []byte(w.term)
	scratch = append(append(scratch[:0], w.first), w.more...)
	slices.Sort(scratch)
	scratch = slices.Compact(scratch)
	if packed, ok := packPlaces(scratch); ok && bits.UintSize == 64 {
		tf.SetFrequency(int(packed))
		return scratch
	}
	tf.Locations = make([]*bleveapi.TokenLocation, len(scratch))
	all := make([]bleveapi.TokenLocation, len(scratch))
	for i, p := range scratch {
		all[i].Position = int(p)
		tf.Locations[i] = &all[i]
	}
	tf.SetFrequency((len(scratch) + 1) &^ 1)
	return scratch
}
