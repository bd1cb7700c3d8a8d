package search

import (
	"encoding/json"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A meaning is what a search by meaning goes by.
type meaning struct {
	space  vector.Key
	vector []float32
	ratio  float64                // of meaning against words, above 0
	spread *settings.Distribution // of the embedder; nil: not known
}

// addMeaning puts what is near in meaning among the hits by words, or in their
// place.
func (s *ranker) addMeaning(sp *vector.Memory, m *meaning) error {
	byWords := s.results
	near, docs, err := s.near(sp, m)
	if err != nil {
		return err
	}
	list, weights := near, make([]float64, len(near))
	for i := range near {
		weights[i] = m.ratio
	}
	if m.ratio < 1 {
		for _, f := range byWords.list {
			list, weights = append(list, f), append(weights, 1-m.ratio)
		}
	}
	if list, err = s.merged(list, weights); err != nil {
		return err
	}
	s.startResults()
	s.results.falling = false
	for i := range list {
		if s.results.add(s, &list[i]); s.results.err != nil {
			return s.results.err
		}
	}
	if m.ratio < 1 {
		docs.Or(s.matched)
		s.results.docs.Or(byWords.docs)
	}
	s.matched = docs
	return nil
}

// merged orders hits by words and by meaning, each weighed, and leaves a
// document that came in both ways in its better place.
func (s *ranker) merged(list []found, weights []float64) ([]found, error) {
	orders, err := s.orders(list)
	if err != nil {
		return nil, err
	}
	type entry struct {
		at   int
		side standing
	}
	entries := make([]entry, len(list))
	for i := range list {
		if !list[i].byMeaning {
			list[i].score = s.score(&list[i].ranking)
		}
		entries[i] = entry{i, standing{steps: orders[i], weight: weights[i], weighted: list[i].score * weights[i]}}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.side.compare(&b.side) })
	out, seen := make([]found, 0, len(list)), roaring.New()
	for _, e := range entries {
		if f := list[e.at]; seen.CheckedAdd(f.doc) {
			out = append(out, f)
		}
	}
	return out, nil
}

// near returns the documents of the universe whose vectors are nearest to the
// query's, as many as are of use, and all that have vectors.
func (s *ranker) near(sp *vector.Memory, m *meaning) (list []found, docs *roaring.Bitmap, err error) {
	docs = roaring.New()
	if m.space.Set == 0 {
		return nil, docs, nil // no document has any
	}
	has, err := sp.Seqs(s.ctx, m.space)
	if err != nil {
		return nil, nil, err
	}
	if id := s.plan.unlike; id != "" {
		if err := s.leaveOut(id); err != nil {
			return nil, nil, err
		}
	}
	universe := s.universe.ToArray()
	seqs := make([]uint64, len(universe))
	allowed := new(vector.Set)
	err = s.view.FirstNumbers(folder.FieldSeq, universe, func(i int, seq, _ float64) {
		if seqs[i] = uint64(seq); has.Has(seqs[i]) {
			allowed.Add(seqs[i])
			docs.Add(universe[i])
		}
	})
	if err != nil {
		return nil, nil, err
	}
	k := s.plan.need
	if s.plan.distinct != "" || s.plan.threshold > 0 || s.sortsFirst() {
		k = int(docs.GetCardinality()) // which of them count is not known yet
	}
	found, err := sp.Nearest(s.cut, m.space, m.vector, k, allowed)
	if err != nil {
		return nil, nil, err
	}
	return s.byMeaning(found, universe, seqs, m.spread), docs, nil
}

// leaveOut takes a document out of the universe.
func (s *ranker) leaveOut(id string) error {
	n, err := s.view.Number(id)
	if err != nil || n == nil {
		return err
	}
	s.universe = s.universe.Clone()
	s.universe.Remove(*n)
	return nil
}

// sortsFirst reports whether a value is sorted by before any rule about texts,
// in whose place the meaning comes.
func (s *ranker) sortsFirst() bool {
	rules := s.plan.orderRules()
	return len(rules) > 0 && !rules[0].OfTexts()
}

// byMeaning makes hits of neighbours; universe and seqs say which document has
// which number.
func (s *ranker) byMeaning(near []vector.Neighbour, universe []uint32, seqs []uint64, d *settings.Distribution) []found {
	at := make(map[uint64]int, len(near))
	for i, n := range near {
		at[n.Seq] = i
	}
	list := make([]found, len(near))
	for i, seq := range seqs {
		n, ok := at[seq]
		if !ok {
			continue
		}
		list[n] = found{doc: universe[i], seq: float64(seq), score: d.Shift(near[n].Score), byMeaning: true}
	}
	return list
}

// meaningDetails says why a hit by meaning stands where it does.
func meaningDetails(f *found) json.RawMessage {
	b, err := json.Marshal(map[string]any{"vectorSort": map[string]any{"order": 0, "similarity": f.score}})
	if err != nil {
		panic("search: encode score details: " + err.Error()) // a number from 0 to 1
	}
	return b
}
