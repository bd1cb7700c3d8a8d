package rank

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
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

// splits adds the word of units[i] written as two.
func (s *Searcher) splits(g *graph, units []text.Unit, i int) error {
	if units[i].Phrase {
		return nil
	}
	return s.addSplit(g, &Edge{from: i, to: i + 1, cost: 1}, units[i].Words[0].Spellings(), nil)
}

// addSplit adds e as an edge for a word written as the two that most documents have side
// by side, unless these are apart: the two that were typed.
func (s *Searcher) addSplit(g *graph, e *Edge, forms []text.Form, apart []text.Word) error {
	typed := func(first, second string) bool {
		return len(apart) == 2 && first == apart[0].Term && second == apart[1].Term
	}
	var all []split
	for _, f := range forms {
		if apart != nil {
			ok, err := s.mayPart(f.Term, typed)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		list, err := s.haveBoth(f)
		if err != nil {
			return err
		}
		all = append(all, list...)
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
	if best == nil || typed(best.halves[0].Term, best.halves[1].Term) {
		return nil
	}
	// Filters have no say in what is meant, but in who has it.
	if docs.And(s.Universe); !docs.IsEmpty() {
		e.words, e.within = best.halves[:], [3]*roaring.Bitmap{docs, docs, docs}
		g.edges = append(g.edges, e)
	}
	return nil
}

// mayPart reports whether some segment has both halves of a word, split where it was not
// typed apart. Words that are joined seldom part, and their documents then need not be read.
func (s *Searcher) mayPart(term string, typed func(first, second string) bool) (bool, error) {
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(bleveindex.FieldWords)
		if err != nil {
			return false, err
		}
		for at := range term {
			first, second := term[:at], term[at:]
			if at == 0 || typed(first, second) {
				continue
			}
			ok, err := seg.Has(dict, []byte(first))
			if ok && err == nil {
				ok, err = seg.Has(dict, []byte(second))
			}
			if ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// half is one of the two words, at its place in what is written.
func half(term string, in text.AlphabetSet, pos int) text.Word {
	return text.Word{Term: term, Forms: []text.Form{{Term: term, In: in}}, Pos: pos}
}

// haveBoth returns the ways to split a word of which some documents that the caller may see
// have both halves.
func (s *Searcher) haveBoth(f text.Form) ([]split, error) {
	all := make([]split, len(f.Term)) // by the place of the split
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		having, err := s.halvesIn(seg, f)
		if err != nil {
			return nil, err
		}
		for _, h := range having {
			docs := s.reached(seg, seg.Living(h.docs))
			if docs.IsEmpty() {
				continue
			}
			sp := &all[h.at]
			if sp.docs == nil {
				sp.docs = make([]*roaring.Bitmap, len(s.View.Segs))
			}
			sp.docs[i], sp.n = docs, sp.n+docs.GetCardinality()
		}
	}
	for at := range all {
		if sp := &all[at]; sp.n > 0 {
			sp.at, sp.halves = at, [2]text.Word{half(f.Term[:at], f.In, 1), half(f.Term[at:], f.In, 2)}
		}
	}
	return slices.DeleteFunc(all, func(sp split) bool { return sp.n == 0 }), nil
}

// A halved word is one split at a place, with the documents of a segment that have both
// halves, deleted ones maybe among them. Only for reading.
type halved struct {
	at   int
	docs *roaring.Bitmap
}

// What is kept of splits has names that begin so, see [bleveindex.View.Keep].
const (
	halvesOf = "\x03"
	besideOf = "\x04"
)

// halvesIn returns the splits of a word of which a segment has both halves.
func (s *Searcher) halvesIn(seg *bleveindex.Segment, f text.Form) ([]halved, error) {
	if !s.plan.Fields.all(0, f.In) {
		return s.halve(seg, f, func(dict bleveindex.Dictionary, term string) (*roaring.Bitmap, error) {
			return s.DocumentsOf(seg, dict, Derived{Term: term, Exact: true, In: f.In})
		})
	}
	kept, err := s.View.Keep(seg, halvesOf+f.Term, func() (any, int, error) {
		list, err := s.halve(seg, f, func(dict bleveindex.Dictionary, term string) (*roaring.Bitmap, error) {
			return seg.AllPostings(dict, []byte(term))
		})
		size := 256
		for _, h := range list {
			size += 64 + int(h.docs.GetSizeInBytes())
		}
		return list, size, err
	})
	if err != nil {
		return nil, err
	}
	return kept.([]halved), nil
}

// halve is halvesIn by the documents of terms.
func (s *Searcher) halve(seg *bleveindex.Segment, f text.Form, documents func(dict bleveindex.Dictionary, term string) (*roaring.Bitmap, error)) ([]halved, error) {
	dict, err := seg.Dict(bleveindex.FieldWords)
	if err != nil {
		return nil, err
	}
	var out []halved
	for at := range f.Term {
		if at == 0 {
			continue
		}
		long, short := f.Term[:at], f.Term[at:]
		if len(long) < len(short) {
			long, short = short, long // the longer one is in fewer segments
		}
		docs, err := documents(dict, long)
		if err != nil {
			return nil, err
		}
		if docs.IsEmpty() {
			continue
		}
		others, err := documents(dict, short)
		if err != nil {
			return nil, err
		}
		if docs = roaring.And(docs, others); !docs.IsEmpty() {
			out = append(out, halved{at, docs})
		}
	}
	return out, nil
}

// sideBySide returns the documents that have the halves side by side in one attribute.
func (s *Searcher) sideBySide(sp *split) (*roaring.Bitmap, error) {
	out := roaring.New()
	first, second := itself(&sp.halves[0])[0], itself(&sp.halves[1])[0]
	for i, part := range sp.docs {
		if part == nil {
			continue
		}
		if err := s.check(0); err != nil {
			return nil, err
		}
		seg := &s.View.Segs[i]
		docs, err := s.besideIn(seg, part, first, second)
		if err != nil {
			return nil, err
		}
		seg.AddTo(out, seg.Living(docs))
	}
	return out, nil
}

// besideIn returns the documents of a segment that have two words side by side, of
// part, which has all that have both.
func (s *Searcher) besideIn(seg *bleveindex.Segment, part *roaring.Bitmap, first, second Derived) (*roaring.Bitmap, error) {
	if !s.plan.Fields.all(0, first.In) || seg.HasDeleted() || s.Reach != nil { // part has not all then
		return s.findBeside(seg, part, first, second)
	}
	kept, err := s.View.Keep(seg, besideOf+first.Term+"\x00"+second.Term, func() (any, int, error) {
		docs, err := s.findBeside(seg, part, first, second)
		return docs, 256 + int(docs.GetSizeInBytes()), err
	})
	if err != nil {
		return nil, err
	}
	return kept.(*roaring.Bitmap), nil
}

// findBeside is besideIn by the places of the words.
func (s *Searcher) findBeside(seg *bleveindex.Segment, part *roaring.Bitmap, first, second Derived) (*roaring.Bitmap, error) {
	out := roaring.New()
	dict, err := seg.Dict(bleveindex.FieldWords)
	if err != nil {
		return out, err
	}
	place := func(i int, field, pos uint16) uint64 { return uint64(i)<<32 | uint64(field)<<16 | uint64(pos) }
	var firsts []uint64
	list := part.ToArray()
	err = s.readSpots(seg, dict, &first, part, list, func(i int, field, pos uint16) {
		firsts = append(firsts, place(i, field, pos))
	})
	if err != nil {
		return out, err
	}
	slices.Sort(firsts)
	return out, s.readSpots(seg, dict, &second, part, list, func(i int, field, pos uint16) {
		if _, found := slices.BinarySearch(firsts, place(i, field, pos-1)); found {
			out.Add(list[i])
		}
	})
}
