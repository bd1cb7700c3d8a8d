package rank

import (
	"encoding/json"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A Meaning is what a search by meaning goes by.
type Meaning struct {
	Space  vector.Key
	Vector []float32
	Ratio  float64                // of meaning against words, above 0
	Spread *settings.Distribution // of the embedder; nil: not known
}

// AddMeaning puts what is near in meaning among the hits by words, or in their
// place.
func (s *Searcher) AddMeaning(sp *vector.Memory, m *Meaning) error {
	byWords := s.Results
	near, docs, err := s.Near(sp, m)
	if err != nil {
		return err
	}
	list, weights := near, make([]float64, len(near))
	for i := range near {
		weights[i] = m.Ratio
	}
	if m.Ratio < 1 {
		for _, f := range byWords.List {
			list, weights = append(list, f), append(weights, 1-m.Ratio)
		}
	}
	if list, err = s.merged(list, weights); err != nil {
		return err
	}
	s.startResults()
	s.Results.falling = false
	for i := range list {
		if s.Results.add(s, &list[i]); s.Results.err != nil {
			return s.Results.err
		}
	}
	if m.Ratio < 1 {
		docs.Or(s.Matched)
		s.Results.Docs.Or(byWords.Docs)
	}
	s.Matched = docs
	return nil
}

// merged orders hits by words and by meaning, each weighed, and leaves a
// document that came in both ways in its better place.
func (s *Searcher) merged(list []Found, weights []float64) ([]Found, error) {
	orders, err := s.Orders(list)
	if err != nil {
		return nil, err
	}
	type entry struct {
		at   int
		side Standing
	}
	entries := make([]entry, len(list))
	for i := range list {
		if !list[i].ByMeaning {
			list[i].Score = s.score(&list[i].ranking)
		}
		entries[i] = entry{i, Standing{Steps: orders[i], Weight: weights[i], Weighted: list[i].Score * weights[i]}}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.side.Compare(&b.side) })
	out, seen := make([]Found, 0, len(list)), roaring.New()
	for _, e := range entries {
		if f := list[e.at]; seen.CheckedAdd(f.Doc) {
			out = append(out, f)
		}
	}
	return out, nil
}

// Near returns the documents of the universe whose vectors are nearest to the
// query's, as many as are of use, and all that have vectors.
func (s *Searcher) Near(sp *vector.Memory, m *Meaning) (list []Found, docs *roaring.Bitmap, err error) {
	docs = roaring.New()
	if m.Space.Set == 0 {
		return nil, docs, nil // no document has any
	}
	has, err := sp.Seqs(s.Ctx, m.Space)
	if err != nil {
		return nil, nil, err
	}
	if id := s.plan.Unlike; id != "" {
		if err := s.leaveOut(id); err != nil {
			return nil, nil, err
		}
	}
	universe := s.Universe.ToArray()
	seqs := make([]uint64, len(universe))
	allowed := new(vector.Set)
	err = s.View.FirstNumbers(folder.FieldSeq, universe, func(i int, seq, _ float64) {
		if seqs[i] = uint64(seq); has.Has(seqs[i]) {
			allowed.Add(seqs[i])
			docs.Add(universe[i])
		}
	})
	if err != nil {
		return nil, nil, err
	}
	k := s.plan.Need
	if s.plan.Distinct != "" || s.plan.Threshold > 0 || s.sortsFirst() {
		k = int(docs.GetCardinality()) // which of them count is not known yet
	}
	found, err := sp.Nearest(s.cut, m.Space, m.Vector, k, allowed)
	if err != nil {
		return nil, nil, err
	}
	return s.byMeaning(found, universe, seqs, m.Spread), docs, nil
}

// leaveOut takes a document out of the universe.
func (s *Searcher) leaveOut(id string) error {
	n, err := s.View.Number(id)
	if err != nil || n == nil {
		return err
	}
	s.Universe = s.Universe.Clone()
	s.Universe.Remove(*n)
	return nil
}

// sortsFirst reports whether a value is sorted by before any rule about texts,
// in whose place the meaning comes.
func (s *Searcher) sortsFirst() bool {
	rules := s.plan.orderRules()
	return len(rules) > 0 && !rules[0].OfTexts()
}

// byMeaning makes hits of neighbours; universe and seqs say which document has
// which number.
func (s *Searcher) byMeaning(near []vector.Neighbour, universe []uint32, seqs []uint64, d *settings.Distribution) []Found {
	at := make(map[uint64]int, len(near))
	for i, n := range near {
		at[n.Seq] = i
	}
	list := make([]Found, len(near))
	for i, seq := range seqs {
		n, ok := at[seq]
		if !ok {
			continue
		}
		list[n] = Found{Doc: universe[i], seq: float64(seq), Score: d.Shift(near[n].Score), ByMeaning: true}
	}
	return list
}

// MeaningDetails says why a hit by meaning stands where it does.
func MeaningDetails(f *Found) json.RawMessage {
	b, err := json.Marshal(map[string]any{"vectorSort": map[string]any{"order": 0, "similarity": f.Score}})
	if err != nil {
		panic("search: encode score details: " + err.Error()) // a number from 0 to 1
	}
	return b
}
