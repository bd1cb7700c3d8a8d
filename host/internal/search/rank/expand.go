package rank

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A Derived word stands for a word of the query.
type Derived struct {
	Term  string
	typos uint8
	Exact bool             // the very word, neither typo nor mere beginning
	In    text.AlphabetSet // it counts in attributes of these alone
}

// itself is the word, without typos.
func itself(w *text.Word) (out []Derived) {
	for _, f := range w.Spellings() {
		out = append(out, Derived{Term: f.Term, Exact: true, In: f.In})
	}
	return out
}

// expand looks a unit up: the edge that stands for it alone.
func (s *Searcher) expand(u text.Unit) (*Edge, error) {
	if u.Phrase {
		docs, err := s.phrase(u.Words)
		return &Edge{words: u.Words, own: true, known: true, within: [3]*roaring.Bitmap{docs, docs, docs}}, err
	}
	return s.ExpandWord(u.Words[0].Spellings(), u.Prefix, s.plan.Typo.Allowed(u.Words[0].Term))
}

// ExpandWord looks a word up, as it may be written.
func (s *Searcher) ExpandWord(forms []text.Form, prefix bool, typos int) (*Edge, error) {
	e := &Edge{own: true, forms: forms, prefix: prefix, typos: typos, Derived: make([][]Derived, len(s.View.Segs))}
	for i := range e.within {
		e.within[i] = roaring.New()
	}
	for _, f := range forms {
		m, err := s.Fuzzy.Matcher(f.Term, prefix, typos)
		if err != nil {
			return nil, err
		}
		for i := range s.View.Segs {
			list, err := s.lookup(&s.View.Segs[i], m, f.In, e)
			if err != nil {
				return nil, err
			}
			e.Derived[i] = append(e.Derived[i], list...)
		}
	}
	e.within[1].Or(e.within[0])
	e.within[2].Or(e.within[1])
	return e, nil
}

// lookup finds what a segment has for m, in attributes of some alphabets, and adds
// its documents to e.within.
func (s *Searcher) lookup(seg *folder.Segment, m *text.Matcher, in text.AlphabetSet, e *Edge) ([]Derived, error) {
	dict, err := seg.Dict(folder.FieldWords)
	if err != nil {
		return nil, err
	}
	var low, high []byte
	automaton := m.Automaton()
	if automaton == nil {
		low = []byte(m.Term)
		high = append([]byte(m.Term), 0)
		if m.Prefix {
			high = folder.NextKey(low)
		}
	}
	var list []Derived
	for it := dict.AutomatonIterator(automaton, low, high); ; {
		entry, err := it.Next()
		if err != nil || entry == nil {
			return list, err
		}
		typos, ok := m.Distance(entry.Term)
		if !ok {
			continue
		}
		d := Derived{entry.Term, uint8(typos), entry.Term == m.Term, in}
		docs, err := s.DocumentsOf(seg, dict, d)
		if err != nil {
			return nil, err
		}
		if docs.IsEmpty() {
			continue
		}
		list = append(list, d)
		e.known = e.known || d.Exact
		seg.AddTo(e.within[typos], docs)
		if err := s.check(len(list)); err != nil {
			return nil, err
		}
	}
}

// DocumentsOf returns the documents of a segment that have a word where it may
// count, numbered within the segment. Only for reading.
func (s *Searcher) DocumentsOf(seg *folder.Segment, dict folder.Dictionary, d Derived) (*roaring.Bitmap, error) {
	docs, err := seg.Postings(dict, []byte(d.Term))
	if err != nil || s.plan.Fields.all(d.typos, d.In) {
		return docs, err
	}
	out := roaring.New()
	part := roaring.And(docs, s.universeIn(seg))
	if part.IsEmpty() {
		return out, nil
	}
	list := part.ToArray()
	return out, s.readSpots(seg, dict, &d, part, list, func(i int, _, _ uint16) { out.Add(list[i]) })
}

// universeIn returns the documents of a segment that may match, numbered within
// it.
func (s *Searcher) universeIn(seg *folder.Segment) *roaring.Bitmap {
	if s.parts == nil || s.partsOf != s.Universe {
		s.parts, s.partsOf = map[*folder.Segment]*roaring.Bitmap{}, s.Universe
	}
	part := s.parts[seg]
	if part == nil {
		part = seg.Part(s.Universe)
		s.parts[seg] = part
	}
	return part
}

// word returns the documents that have a word, without typos.
func (s *Searcher) word(w *text.Word) (*roaring.Bitmap, error) {
	out := roaring.New()
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(folder.FieldWords)
		if err != nil {
			return nil, err
		}
		for _, d := range itself(w) {
			docs, err := s.DocumentsOf(seg, dict, d)
			if err != nil {
				return nil, err
			}
			seg.AddTo(out, docs)
		}
	}
	return out, nil
}

// phrase returns the documents that have all words side by side in one
// attribute. Whatever stands for a stop word will do.
func (s *Searcher) phrase(ws []text.Word) (*roaring.Bitmap, error) {
	looked := 0
	for i := range ws {
		if !ws[i].Stop {
			looked++
		}
	}
	docs, err := s.haveAll(ws)
	if err != nil || docs.IsEmpty() {
		return docs, err
	}
	if looked == 0 {
		return roaring.New(), nil
	}
	if looked == 1 {
		return docs, nil
	}
	list := docs.ToArray()
	spots, err := s.phraseSpots(ws, list)
	if err != nil {
		return nil, err
	}
	out := roaring.New()
	for i, d := range list {
		if len(spots[i]) > 0 {
			out.Add(d)
		}
	}
	return out, nil
}

// haveAll returns the documents of the universe that have all words, wherever they
// stand.
func (s *Searcher) haveAll(ws []text.Word) (*roaring.Bitmap, error) {
	docs := s.Universe.Clone()
	for i := range ws {
		if ws[i].Stop {
			continue
		}
		b, err := s.word(&ws[i])
		if err != nil {
			return nil, err
		}
		if docs.And(b); docs.IsEmpty() {
			return docs, nil
		}
	}
	return docs, nil
}

// phraseSpots returns, for each of the documents, where the phrase stands.
func (s *Searcher) phraseSpots(ws []text.Word, docs []uint32) ([][]spot, error) {
	var starts [][]spot
	first := 0
	for i, w := range ws {
		if w.Stop {
			continue
		}
		here := make([][]spot, len(docs))
		if err := s.spots(docs, here, func(int) []Derived { return itself(&w) }); err != nil {
			return nil, err
		}
		if starts == nil {
			starts, first = here, i
			continue
		}
		step := w.Pos - ws[first].Pos
		for d := range docs {
			kept := starts[d][:0]
			for _, a := range starts[d] {
				if hasSpot(here[d], a.field, int(a.pos)+step) {
					kept = append(kept, a)
				}
			}
			starts[d] = kept
		}
	}
	length := uint8(min(ws[len(ws)-1].Pos-ws[first].Pos+1, maxPhrase))
	for _, list := range starts {
		for i := range list {
			list[i].length = length
		}
	}
	return starts, nil
}

// maxPhrase bounds the words that a phrase counts as, for distances.
const maxPhrase = 255

func hasSpot(spots []spot, field uint16, pos int) bool {
	for _, x := range spots {
		if x.field == field && int(x.pos) == pos {
			return true
		}
	}
	return false
}
