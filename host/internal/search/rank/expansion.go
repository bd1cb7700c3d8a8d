package rank

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
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
	last    lastWords
}

// The bounds are Meilisearch's: of the words of an index that are so many typos from a
// query's, the first ones in their order stand for it.
const (
	mostWithOneTypo  = 150
	mostWithTwoTypos = 50
)

// lastWords are the last words of an index that stand for one of a query with so many
// typos; "": all that there are do.
type lastWords [3]string

// takes reports whether a word with so many typos is among those up to the last.
func (l *lastWords) takes(term string, typos int) bool {
	return l[typos] == "" || term <= l[typos]
}

// limit sets w.last by the words of all segments.
func (w *wantedWord) limit(segments []*expansion) {
	most := [3]int{1: mostWithOneTypo, 2: mostWithTwoTypos}
	var counts [3]int
	for _, x := range segments {
		for i := range x.derived {
			counts[x.derived[i].typos]++
		}
	}
	for typos := 1; typos <= w.typos; typos++ {
		if counts[typos] <= most[typos] {
			continue
		}
		var terms []string
		for _, x := range segments {
			for i := range x.derived {
				if d := &x.derived[i]; int(d.typos) == typos {
					terms = append(terms, d.Term)
				}
			}
		}
		slices.Sort(terms)
		if terms = slices.Compact(terms); len(terms) > most[typos] {
			w.last[typos] = terms[most[typos]-1]
		}
	}
}

// name tells the word's expansions from others of a segment.
func (w *wantedWord) name() string {
	prefix := byte(0)
	if w.prefix {
		prefix = 1
	}
	return string([]byte{prefix, byte(w.typos), byte(w.form.In)}) + w.form.Term
}

// everywhere returns what each segment has for a word in all attributes and all documents
// that the caller may see.
func (s *Searcher) everywhere(w *wantedWord) ([]*expansion, error) {
	out := make([]*expansion, len(s.View.Segs))
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		all, err := s.everywhereIn(seg, w)
		if err == nil && s.Reach != nil {
			all, err = s.narrow(seg, all, false, func(dict bleveindex.Dictionary, d Derived) (*roaring.Bitmap, error) {
				docs, err := seg.AllPostings(dict, []byte(d.Term))
				if err != nil {
					return nil, err
				}
				return s.reached(seg, docs), nil
			})
		}
		if err != nil {
			return nil, err
		}
		out[i] = all
	}
	return out, nil
}

// lookup returns what a segment has for a word where it may count; all is what it has
// everywhere.
func (s *Searcher) lookup(seg *bleveindex.Segment, w *wantedWord, all *expansion) (*expansion, error) {
	if len(all.derived) == 0 {
		return all, nil
	}
	every := (s.Reach != nil || !seg.HasDeleted()) && s.plan.Fields.all(uint8(w.typos), w.form.In)
	over := func(d Derived) bool { return !w.last.takes(d.Term, int(d.typos)) }
	if !slices.ContainsFunc(all.derived, over) {
		if every {
			return all, nil
		}
		return s.counting(seg, all)
	}
	left := newExpansion() // which is all that there is where no word is left
	left.derived = slices.DeleteFunc(slices.Clone(all.derived), over)
	if !every || s.Reach != nil {
		return s.counting(seg, left)
	}
	return s.keep(seg, firstOf+w.last[1]+"\x00"+w.last[2]+"\x00"+w.name(), w.form.In, func() (*expansion, error) { return s.counting(seg, left) })
}

// counting leaves of an expansion the documents that have the word where it may count. As in
// Meilisearch the places of all words count for the order, also of those that match in no
// attribute that is searched now.
func (s *Searcher) counting(seg *bleveindex.Segment, all *expansion) (*expansion, error) {
	return s.narrow(seg, all, s.plan.Fields.In != nil, func(dict bleveindex.Dictionary, d Derived) (*roaring.Bitmap, error) {
		return s.DocumentsOf(seg, dict, d)
	})
}

// What is kept of the first words that stand for one has names that begin so, see
// [bleveindex.View.Keep].
const firstOf = "\x05"

// everywhereIn is everywhere of one segment.
func (s *Searcher) everywhereIn(seg *bleveindex.Segment, w *wantedWord) (*expansion, error) {
	if !w.prefix && w.typos == 0 {
		return veryWord(seg, w.form) // found as fast as what is kept would be
	}
	return s.keep(seg, w.name(), w.form.In, func() (*expansion, error) { return s.expandIn(seg, w) })
}

// keep returns what is kept of a segment under a name, packed, and has it made where
// nothing is; in is how the word is written.
func (s *Searcher) keep(seg *bleveindex.Segment, name string, in text.AlphabetSet, expand func() (*expansion, error)) (*expansion, error) {
	kept, err := s.View.Keep(seg, name, func() (any, int, error) {
		x, err := expand()
		if err != nil {
			return nil, 0, err
		}
		k, err := x.pack()
		return k, k.size(), err
	})
	if err != nil {
		return nil, err
	}
	return kept.(*packedExpansion).unpack(in)
}

// veryWord is the expansion of a word that may neither go on nor have typos.
func veryWord(seg *bleveindex.Segment, f text.Form) (*expansion, error) {
	dict, err := seg.Dict(bleveindex.FieldWords)
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
func (s *Searcher) expandIn(seg *bleveindex.Segment, w *wantedWord) (*expansion, error) {
	x := newExpansion()
	dict, err := seg.Dict(bleveindex.FieldWords)
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
			high = bleveindex.NextKey(low)
		}
	}
	for it := bleveindex.EachTerm(dict, automaton, low, high); ; {
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

// narrow leaves of an expansion what documents returns of each word, and the words that
// have any, or each of them.
func (s *Searcher) narrow(seg *bleveindex.Segment, all *expansion, each bool, documents func(bleveindex.Dictionary, Derived) (*roaring.Bitmap, error)) (*expansion, error) {
	if len(all.derived) == 0 {
		return all, nil
	}
	dict, err := seg.Dict(bleveindex.FieldWords)
	if err != nil {
		return nil, err
	}
	x := newExpansion()
	for i, d := range all.derived {
		docs, err := documents(dict, d)
		if err != nil {
			return nil, err
		}
		if !docs.IsEmpty() {
			x.add(d, docs)
		} else if each {
			x.derived = append(x.derived, d)
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
