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
}

// An expanded unit is a unit with what the index has for it.
type expanded struct {
	unit
	derived [][]derived // by segment; of a phrase, one for each of its words
	// within are the documents that have it with at most so many typos.
	within [3]*roaring.Bitmap
}

// expand looks a unit up.
func (s *searcher) expand(u unit) (*expanded, error) {
	e := &expanded{unit: u}
	if u.phrase {
		docs, err := s.phrase(u.words)
		e.within = [3]*roaring.Bitmap{docs, docs, docs}
		return e, err
	}
	m, err := s.fuzzy.matcher(u.words[0].term, u.prefix)
	if err != nil {
		return nil, err
	}
	for i := range e.within {
		e.within[i] = roaring.New()
	}
	for i := range s.view.segs {
		seg := &s.view.segs[i]
		list, err := s.lookup(seg, m, e)
		if err != nil {
			return nil, err
		}
		e.derived = append(e.derived, list)
	}
	e.within[1].Or(e.within[0])
	e.within[2].Or(e.within[1])
	return e, nil
}

// lookup finds what a segment has for m, and adds its documents to e.within.
func (s *searcher) lookup(seg *viewSegment, m *matcher, e *expanded) ([]derived, error) {
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
		docs, err := seg.postings(dict, []byte(entry.Term))
		if err != nil {
			return nil, err
		}
		if docs.IsEmpty() {
			continue
		}
		list = append(list, derived{entry.Term, uint8(typos), entry.Term == m.term})
		seg.addTo(e.within[typos], docs)
		if err := s.check(len(list)); err != nil {
			return nil, err
		}
	}
}

// phrase returns the documents that have all words side by side in one
// attribute.
func (s *searcher) phrase(ws []word) (*roaring.Bitmap, error) {
	docs := s.view.live.Clone()
	for _, w := range ws {
		b, err := s.view.term(fieldWords, w.term)
		if err != nil {
			return nil, err
		}
		docs.And(b)
	}
	if len(ws) == 1 || docs.IsEmpty() {
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

// phraseSpots returns, for each of the documents, the positions where the
// phrase begins.
func (s *searcher) phraseSpots(ws []word, docs []uint32) ([][]spot, error) {
	var starts [][]spot
	for i, w := range ws {
		here := make([][]spot, len(docs))
		if err := s.spots(docs, here, func(int) []derived { return []derived{{w.term, 0, true}} }); err != nil {
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
	return starts, nil
}

func hasSpot(spots []spot, field uint16, pos int) bool {
	for _, x := range spots {
		if x.field == field && int(x.pos) == pos {
			return true
		}
	}
	return false
}
