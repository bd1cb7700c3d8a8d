package rank

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
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

// expand looks a unit up and returns the edge for it alone.
func (s *Searcher) expand(u text.Unit) (*Edge, error) {
	if u.Phrase {
		docs, err := s.phrase(u.Words)
		return &Edge{words: u.Words, own: true, known: true, within: [3]*roaring.Bitmap{docs, docs, docs}}, err
	}
	e, err := s.ExpandWord(u.Words[0].Spellings(), u.Prefix, s.plan.Typo.Allowed(u.Words[0].Term))
	if err == nil && u.Prefix && len(u.Words[0].Term) <= longestCommon {
		e.common = e.beginnings() >= manyBeginnings
	}
	return e, err
}

// A beginning of at most so many bytes that so many words have is common. Meilisearch
// keeps what such words stand behind, and not what they stand before.
const (
	longestCommon  = 4
	manyBeginnings = 100
)

// beginnings is how many words without typos stand for the edge's, as far as it
// matters.
func (e *Edge) beginnings() int {
	most, total := 0, 0
	count := func(derived []Derived) (n int) {
		for i := range derived {
			if derived[i].typos == 0 {
				n++
			}
		}
		return n
	}
	for _, derived := range e.Derived {
		n := count(derived)
		most, total = max(most, n), total+n
	}
	if most >= manyBeginnings || total < manyBeginnings {
		return most
	}
	terms := map[string]struct{}{}
	for _, derived := range e.Derived {
		for i := range derived {
			if derived[i].typos == 0 {
				terms[derived[i].Term] = struct{}{}
			}
		}
	}
	return len(terms)
}

// ExpandWord looks a word up, as it may be written.
func (s *Searcher) ExpandWord(forms []text.Form, prefix bool, typos int) (*Edge, error) {
	e := &Edge{own: true, forms: forms, prefix: prefix, typos: typos, Derived: make([][]Derived, len(s.View.Segs))}
	var within [3][]*roaring.Bitmap
	var more [3]bool // some segment has documents that it does not have with fewer typos
	for _, f := range forms {
		w := &wantedWord{form: f, prefix: prefix, typos: typos}
		all, err := s.everywhere(w)
		if err != nil {
			return nil, err
		}
		w.limit(all)
		e.last = append(e.last, w.last)
		for i := range s.View.Segs {
			seg := &s.View.Segs[i]
			x, err := s.lookup(seg, w, all[i])
			if err != nil {
				return nil, err
			}
			e.known = e.known || x.known
			if e.Derived[i] == nil {
				e.Derived[i] = slices.Clip(x.derived)
			} else {
				e.Derived[i] = append(e.Derived[i], x.derived...)
			}
			for k := range typos + 1 {
				switch {
				case x.within[k].IsEmpty():
				case k > 0 && x.within[k] == x.within[k-1]:
					within[k] = append(within[k], within[k-1][len(within[k-1])-1])
				default:
					within[k], more[k] = append(within[k], seg.Placed(x.within[k])), true
				}
			}
		}
	}
	for k := range e.within {
		switch {
		case k > 0 && !more[k]:
			e.within[k] = e.within[k-1]
		case len(within[k]) == 1:
			e.within[k] = within[k][0]
		default:
			e.within[k] = roaring.FastOr(within[k]...)
		}
	}
	return e, nil
}

// DocumentsOf returns the documents of a segment that have a word where it may
// count, numbered within the segment. Only for reading.
func (s *Searcher) DocumentsOf(seg *bleveindex.Segment, dict bleveindex.Dictionary, d Derived) (*roaring.Bitmap, error) {
	docs, err := seg.Postings(dict, []byte(d.Term))
	if err != nil {
		return nil, err
	}
	if s.plan.Fields.all(d.typos, d.In) {
		return s.reached(seg, docs), nil
	}
	out := roaring.New()
	part := roaring.And(docs, s.universeIn(seg))
	if part.IsEmpty() {
		return out, nil
	}
	list := part.ToArray()
	return out, s.readSpots(seg, dict, &d, part, list, func(i int, field, _ uint16) {
		if s.plan.Fields.matches(field) {
			out.Add(list[i])
		}
	})
}

// universeIn returns the documents of a segment that may match, numbered within
// it.
func (s *Searcher) universeIn(seg *bleveindex.Segment) *roaring.Bitmap {
	return s.universe.part(seg, s.Universe)
}

// reach returns the documents that the caller may see. Only for reading.
func (s *Searcher) reach() *roaring.Bitmap {
	if s.Reach == nil {
		return s.View.Live
	}
	return s.Reach
}

// reached returns what the caller may see of docs, which are numbered within a segment:
// all of it, also what is deleted, where nothing is hidden from the caller. Only for reading.
func (s *Searcher) reached(seg *bleveindex.Segment, docs *roaring.Bitmap) *roaring.Bitmap {
	if s.Reach == nil {
		return docs
	}
	return roaring.And(docs, s.within.part(seg, s.Reach))
}

// bySegment keeps what each segment has of a bitmap.
type bySegment struct {
	of    *roaring.Bitmap
	parts map[*bleveindex.Segment]*roaring.Bitmap
}

// part returns the documents of a segment that a bitmap has, numbered within it.
func (b *bySegment) part(seg *bleveindex.Segment, of *roaring.Bitmap) *roaring.Bitmap {
	if b.of != of {
		b.of, b.parts = of, map[*bleveindex.Segment]*roaring.Bitmap{}
	}
	part := b.parts[seg]
	if part == nil {
		part = seg.Part(of)
		b.parts[seg] = part
	}
	return part
}

// word returns the documents that have a word, without typos.
func (s *Searcher) word(w *text.Word) (*roaring.Bitmap, error) {
	out := roaring.New()
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(bleveindex.FieldWords)
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
// attribute, as [standsIn] has it.
func (s *Searcher) phrase(ws []text.Word) (*roaring.Bitmap, error) {
	looked := 0
	for i := range ws {
		if !ws[i].Stop {
			looked++
		}
	}
	docs, err := s.haveAll(ws, s.Universe)
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

// haveAll returns those of docs that have all words, wherever they stand.
func (s *Searcher) haveAll(ws []text.Word, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	docs = docs.Clone()
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

// phraseSpots returns, for each of the documents, where the phrase stands: all
// places of its first word, and of its last; nothing where it does not stand.
//
// As in Meilisearch its words count wherever they are in a document that has the
// phrase somewhere.
func (s *Searcher) phraseSpots(ws []text.Word, docs []uint32) ([][]spot, error) {
	var looked []text.Word
	for i := range ws {
		if !ws[i].Stop {
			looked = append(looked, ws[i])
		}
	}
	places := make([][][]spot, len(looked)) // word, document
	for i := range looked {
		places[i] = make([][]spot, len(docs))
		if err := s.spots(docs, places[i], 0, func(int) []Derived { return itself(&looked[i]) }); err != nil {
			return nil, err
		}
	}
	// What the phrase begins or ends with is near its neighbours, unless it is a stop word.
	startsNear, endsNear := !ws[0].Stop, !ws[len(ws)-1].Stop
	out := make([][]spot, len(docs))
	at := make([][]spot, len(looked))
	for d := range docs {
		for i := range looked {
			at[i] = places[i][d]
		}
		if !standsIn(looked, at) {
			continue
		}
		for _, x := range at[0] {
			x.role, x.whole = phraseStart, follows(looked, at, &x)
			if !startsNear {
				x.role = phraseStartApart
			}
			out[d] = append(out[d], x)
		}
		if !endsNear {
			continue
		}
		for _, x := range at[len(at)-1] {
			x.role = phraseEnd
			out[d] = append(out[d], x)
		}
	}
	return out, nil
}

// standsIn reports whether words, which have the places at, stand as a phrase: those
// that were typed side by side are so, and those with one stop word between are no
// further apart than that. With more stop words between any two places will do, as in
// Meilisearch.
func standsIn(ws []text.Word, at [][]spot) bool {
	for first := 0; first < len(ws); {
		last := first
		for last+1 < len(ws) && ws[last+1].Pos == ws[last].Pos+1 {
			last++
		}
		if !slices.ContainsFunc(at[first], func(x spot) bool { return follows(ws[first:last+1], at[first:last+1], &x) }) {
			return false
		}
		if last+1 < len(ws) && ws[last+1].Pos == ws[last].Pos+2 && !slices.ContainsFunc(at[last], func(x spot) bool {
			return hasSpot(at[last+1], x.field, int(x.pos)+1) || hasSpot(at[last+1], x.field, int(x.pos)+2)
		}) {
			return false
		}
		first = last + 1
	}
	return true
}

// follows reports whether words stand as they were typed, the first of them at x.
func follows(ws []text.Word, at [][]spot, x *spot) bool {
	for i := 1; i < len(ws); i++ {
		if !hasSpot(at[i], x.field, int(x.pos)+ws[i].Pos-ws[0].Pos) {
			return false
		}
	}
	return true
}

func hasSpot(spots []spot, field uint16, pos int) bool {
	for _, x := range spots {
		if x.field == field && int(x.pos) == pos {
			return true
		}
	}
	return false
}
