package search

import (
	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// A derived word stands for a word of the query.
type derived struct {
	term  string
	typos uint8
	exact bool // the very word, neither typo nor mere beginning
	// rest are the letters that it goes on for, where it stands there as a
	// beginning; 255 and more are one.
	rest uint8
	in   tongueSet // it counts in attributes of these alone
}

// itself is the word, without typos.
func (w *word) itself() (out []derived) {
	for _, f := range w.spelled() {
		out = append(out, derived{term: f.term, exact: true, in: f.in})
	}
	return out
}

// expand looks a unit up: the edge that stands for it alone.
func (s *searcher) expand(u unit) (*edge, error) {
	if u.phrase {
		docs, err := s.phrase(u.words)
		return &edge{words: u.words, own: true, within: [3]*roaring.Bitmap{docs, docs, docs}}, err
	}
	return s.expandWord(u.words[0].spelled(), u.prefix, s.plan.typo.allowed(u.words[0].term))
}

// expandWord looks a word up, as it may be written.
func (s *searcher) expandWord(forms []form, prefix bool, typos int) (*edge, error) {
	e := &edge{own: true, forms: forms, prefix: prefix, typos: typos, derived: make([][]derived, len(s.view.segs))}
	for i := range e.within {
		e.within[i] = roaring.New()
	}
	for _, f := range forms {
		m, err := s.fuzzy.matcher(f.term, prefix, typos)
		if err != nil {
			return nil, err
		}
		for i := range s.view.segs {
			list, err := s.lookup(&s.view.segs[i], m, f.in, e)
			if err != nil {
				return nil, err
			}
			e.derived[i] = append(e.derived[i], list...)
		}
	}
	e.within[1].Or(e.within[0])
	e.within[2].Or(e.within[1])
	return e, nil
}

// lookup finds what a segment has for m, in attributes of some tongues, and adds
// its documents to e.within.
func (s *searcher) lookup(seg *viewSegment, m *matcher, in tongueSet, e *edge) ([]derived, error) {
	dict, err := seg.dict(fieldWords)
	if err != nil {
		return nil, err
	}
	var low, high []byte
	var automaton segment.Automaton
	switch {
	case m.dfa == nil:
		low = []byte(m.term)
		high = append([]byte(m.term), 0)
		if m.prefix {
			high = nextKey(low)
		}
	case m.prefix:
		automaton = prefixAutomaton{m.dfa}
	default:
		automaton = m.dfa
	}
	var list []derived
	for it := dict.AutomatonIterator(automaton, low, high); ; {
		entry, err := it.Next()
		if err != nil || entry == nil {
			return list, err
		}
		typos, ok := m.distance(entry.Term)
		if !ok {
			continue
		}
		d := derived{entry.Term, uint8(typos), entry.Term == m.term, m.rest(entry.Term, typos), in}
		docs, err := s.documentsOf(seg, dict, d)
		if err != nil {
			return nil, err
		}
		if docs.IsEmpty() {
			continue
		}
		list = append(list, d)
		seg.addTo(e.within[typos], docs)
		if err := s.check(len(list)); err != nil {
			return nil, err
		}
	}
}

// documentsOf returns the documents of a segment that have a word where it may
// count, numbered within the segment. Only for reading.
func (s *searcher) documentsOf(seg *viewSegment, dict segment.TermDictionary, d derived) (*roaring.Bitmap, error) {
	docs, err := seg.postings(dict, []byte(d.term))
	if err != nil || s.plan.fields.all(d.typos, d.in) {
		return docs, err
	}
	out := roaring.New()
	part := roaring.And(docs, s.universeIn(seg))
	if part.IsEmpty() {
		return out, nil
	}
	list := part.ToArray()
	spots := make([][]spot, len(list))
	if err := s.readSpots(seg, dict, d, part, list, spots); err != nil {
		return nil, err
	}
	for i, doc := range list {
		if len(spots[i]) > 0 {
			out.Add(doc)
		}
	}
	return out, nil
}

// universeIn returns the documents of a segment that may match, numbered within
// it.
func (s *searcher) universeIn(seg *viewSegment) *roaring.Bitmap {
	if s.parts == nil || s.partsOf != s.universe {
		s.parts, s.partsOf = map[*viewSegment]*roaring.Bitmap{}, s.universe
	}
	part := s.parts[seg]
	if part == nil {
		part = seg.part(s.universe)
		s.parts[seg] = part
	}
	return part
}

// word returns the documents that have a word, without typos.
func (s *searcher) word(w *word) (*roaring.Bitmap, error) {
	out := roaring.New()
	for i := range s.view.segs {
		seg := &s.view.segs[i]
		dict, err := seg.dict(fieldWords)
		if err != nil {
			return nil, err
		}
		for _, d := range w.itself() {
			docs, err := s.documentsOf(seg, dict, d)
			if err != nil {
				return nil, err
			}
			seg.addTo(out, docs)
		}
	}
	return out, nil
}

// phrase returns the documents that have all words side by side in one
// attribute.
func (s *searcher) phrase(ws []word) (*roaring.Bitmap, error) {
	docs := s.universe.Clone()
	for i := range ws {
		b, err := s.word(&ws[i])
		if err != nil {
			return nil, err
		}
		if docs.And(b); docs.IsEmpty() {
			return docs, nil
		}
	}
	if len(ws) == 1 {
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

// phraseSpots returns, for each of the documents, where the phrase stands.
func (s *searcher) phraseSpots(ws []word, docs []uint32) ([][]spot, error) {
	var starts [][]spot
	for i, w := range ws {
		here := make([][]spot, len(docs))
		if err := s.spots(docs, here, func(int) []derived { return w.itself() }); err != nil {
			return nil, err
		}
		if i == 0 {
			starts = here
			continue
		}
		step := w.pos - ws[0].pos
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
	length := uint8(min(ws[len(ws)-1].pos-ws[0].pos+1, maxPhrase))
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
