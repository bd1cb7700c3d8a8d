package rank

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A split is a word written as two.
type split struct {
	halves [2]text.Word
	at     int // where the word is split
	// docs are the documents that have both halves, by segment and numbered within it; nil
	// where there are none. n is how many they are.
	docs []*roaring.Bitmap
	n    uint64
}

// splits adds the word of units[i] written as two, as most documents have it.
func (s *Searcher) splits(g *graph, units []text.Unit, i int) error {
	if units[i].Phrase {
		return nil
	}
	var all []split
	for _, f := range units[i].Words[0].Spellings() {
		for at := range f.Term {
			if at == 0 {
				continue
			}
			sp := split{halves: [2]text.Word{half(f.Term[:at], f.In, 1), half(f.Term[at:], f.In, 2)}, at: at}
			if err := s.haveBoth(&sp); err != nil {
				return err
			}
			if sp.n > 0 {
				all = append(all, sp)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b split) int { return cmp.Compare(b.n, a.n) })
	var best *split
	var docs *roaring.Bitmap // that have the best one
	most := uint64(0)
	for k := range all {
		sp := &all[k]
		if sp.n < most || sp.n == most && sp.at > best.at {
			continue
		}
		having, err := s.sideBySide(sp)
		if err != nil {
			return err
		}
		if n := having.GetCardinality(); n > most || n > 0 && n == most && sp.at < best.at {
			best, docs, most = sp, having, n
		}
	}
	if best == nil {
		return nil
	}
	// Filters have no say in what is meant, but in who has it.
	if docs.And(s.Universe); !docs.IsEmpty() {
		g.edges = append(g.edges, &Edge{from: i, to: i + 1, words: best.halves[:], cost: 1, within: [3]*roaring.Bitmap{docs, docs, docs}})
	}
	return nil
}

// half is one of the two words, at its place in what is written.
func half(term string, in text.AlphabetSet, pos int) text.Word {
	return text.Word{Term: term, Forms: []text.Form{{Term: term, In: in}}, Pos: pos}
}

// haveBoth works out who has both halves.
func (s *Searcher) haveBoth(sp *split) error {
	long, short := itself(&sp.halves[0])[0], itself(&sp.halves[1])[0]
	if len(long.Term) < len(short.Term) {
		long, short = short, long // the longer one is in fewer segments
	}
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(folder.FieldWords)
		if err != nil {
			return err
		}
		docs, err := s.DocumentsOf(seg, dict, long)
		if err != nil {
			return err
		}
		if docs.IsEmpty() {
			continue
		}
		others, err := s.DocumentsOf(seg, dict, short)
		if err != nil {
			return err
		}
		if docs = roaring.And(docs, others); docs.IsEmpty() {
			continue
		}
		if sp.docs == nil {
			sp.docs = make([]*roaring.Bitmap, len(s.View.Segs))
		}
		sp.docs[i], sp.n = docs, sp.n+docs.GetCardinality()
	}
	return nil
}

// sideBySide returns the documents that have the halves side by side in one attribute.
func (s *Searcher) sideBySide(sp *split) (*roaring.Bitmap, error) {
	out := roaring.New()
	first, second := itself(&sp.halves[0])[0], itself(&sp.halves[1])[0]
	place := func(i int, field, pos uint16) uint64 { return uint64(i)<<32 | uint64(field)<<16 | uint64(pos) }
	var firsts []uint64
	for i, part := range sp.docs {
		if part == nil {
			continue
		}
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(folder.FieldWords)
		if err != nil {
			return nil, err
		}
		if err := s.check(0); err != nil {
			return nil, err
		}
		firsts = firsts[:0]
		list := part.ToArray()
		err = s.readSpots(seg, dict, &first, part, list, func(i int, field, pos uint16) {
			firsts = append(firsts, place(i, field, pos))
		})
		if err != nil {
			return nil, err
		}
		slices.Sort(firsts)
		err = s.readSpots(seg, dict, &second, part, list, func(i int, field, pos uint16) {
			if _, found := slices.BinarySearch(firsts, place(i, field, pos-1)); found {
				out.Add(seg.First + list[i])
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
