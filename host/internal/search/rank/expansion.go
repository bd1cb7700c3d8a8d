package rank

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/text"
)

// An expansion is what a segment has for a word of a query. Only for reading.
type expansion struct {
	derived []Derived // in the order of their terms
	known   bool      // the very word is among them
	// within are the documents, numbered within the segment, that have it with at
	// most so many typos.
	within [3]*roaring.Bitmap
}

// A wantedWord is a word that is looked up in one segment after another.
type wantedWord struct {
	form    text.Form
	prefix  bool
	typos   int
	matcher *text.Matcher // made for the first segment that has it not kept
}

// name tells the word's expansions from others of a segment.
func (w *wantedWord) name() string {
	prefix := byte(0)
	if w.prefix {
		prefix = 1
	}
	return string([]byte{prefix, byte(w.typos), byte(w.form.In)}) + w.form.Term
}

// lookup returns what a segment has for a word where it may count.
func (s *Searcher) lookup(seg *folder.Segment, w *wantedWord) (*expansion, error) {
	all, err := s.everywhere(seg, w)
	if err != nil {
		return nil, err
	}
	if len(all.derived) == 0 || !seg.HasDeleted() && s.plan.Fields.all(uint8(w.typos), w.form.In) {
		return all, nil
	}
	return s.narrow(seg, all)
}

// everywhere returns what a segment has for a word in all attributes and documents.
func (s *Searcher) everywhere(seg *folder.Segment, w *wantedWord) (*expansion, error) {
	if !w.prefix && w.typos == 0 {
		return veryWord(seg, w.form) // found as fast as what is kept would be
	}
	kept, err := s.View.Keep(seg, w.name(), func() (any, int, error) {
		x, err := s.expandIn(seg, w)
		if err != nil {
			return nil, 0, err
		}
		k, err := x.pack()
		return k, k.size(), err
	})
	if err != nil {
		return nil, err
	}
	return kept.(*packedExpansion).unpack(w.form.In)
}

// veryWord is the expansion of a word that may neither go on nor have typos.
func veryWord(seg *folder.Segment, f text.Form) (*expansion, error) {
	dict, err := seg.Dict(folder.FieldWords)
	if err != nil {
		return nil, err
	}
	docs, err := seg.AllPostings(dict, []byte(f.Term))
	if err != nil {
		return nil, err
	}
	x := &expansion{within: [3]*roaring.Bitmap{docs, docs, docs}}
	if !docs.IsEmpty() {
		x.derived, x.known = []Derived{{f.Term, 0, true, f.In}}, true
	}
	return x, nil
}

// expandIn makes the expansion of all attributes and documents of a segment.
func (s *Searcher) expandIn(seg *folder.Segment, w *wantedWord) (*expansion, error) {
	x := newExpansion()
	dict, err := seg.Dict(folder.FieldWords)
	if err != nil {
		return x, err
	}
	if w.matcher == nil {
		w.matcher = text.NewMatcher(w.form.Term, w.prefix, w.typos)
	}
	m := w.matcher
	var low, high []byte
	automaton := m.Automaton()
	if automaton == nil {
		low = []byte(m.Term)
		high = append([]byte(m.Term), 0)
		if m.Prefix {
			high = folder.NextKey(low)
		}
	}
	for it := folder.EachTerm(dict, automaton, low, high); ; {
		entry, err := it.Next()
		if err != nil || entry == nil {
			x.sum()
			return x, err
		}
		typos, ok := m.Distance(entry.Term)
		if !ok {
			continue
		}
		docs, err := seg.AllPostings(dict, []byte(entry.Term))
		if err != nil {
			return x, err
		}
		x.add(Derived{entry.Term, uint8(typos), entry.Term == m.Term, w.form.In}, docs)
		if err := s.check(len(x.derived)); err != nil {
			return x, err
		}
	}
}

// narrow leaves of an expansion the documents that are there, and have the word
// where it may count.
func (s *Searcher) narrow(seg *folder.Segment, all *expansion) (*expansion, error) {
	dict, err := seg.Dict(folder.FieldWords)
	if err != nil {
		return nil, err
	}
	x := newExpansion()
	for i, d := range all.derived {
		docs, err := s.DocumentsOf(seg, dict, d)
		if err != nil {
			return nil, err
		}
		if !docs.IsEmpty() {
			x.add(d, docs)
		}
		if err := s.check(i + 1); err != nil {
			return nil, err
		}
	}
	x.sum()
	return x, nil
}

func newExpansion() *expansion {
	x := &expansion{}
	for i := range x.within {
		x.within[i] = roaring.New()
	}
	return x
}

// add adds a word and its documents.
func (x *expansion) add(d Derived, docs *roaring.Bitmap) {
	x.derived = append(x.derived, d)
	x.known = x.known || d.Exact
	x.within[d.typos].Or(docs)
}

// sum has within count what has fewer typos, too, once all is added.
func (x *expansion) sum() {
	for i, docs := range x.within[1:] {
		docs.Or(x.within[i])
	}
}
