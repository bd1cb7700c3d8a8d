package rank

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
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
	if s.plan.Unlike == "" {
		// Those without a vector are hits, too, behind all others.
		if near, err = s.withoutVectors(near, docs); err != nil {
			return err
		}
	}
	docs = s.Universe
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
		docs = roaring.Or(docs, s.Matched)
		s.Results.Docs.Or(byWords.Docs)
	}
	s.Matched = docs
	return nil
}

// withoutVectors returns near and, as far as hits are missing, documents of the universe
// that are not in having, in the order of insertion.
func (s *Searcher) withoutVectors(near []Found, having *roaring.Bitmap) ([]Found, error) {
	if len(near) >= s.plan.Need {
		return near, nil
	}
	docs := roaring.AndNot(s.Universe, having).ToArray()
	more := make([]Found, len(docs))
	err := s.View.FirstNumbers(bleveindex.FieldSeq, docs, func(i int, seq, _ float64) {
		more[i] = Found{Doc: docs[i], seq: seq, ByMeaning: true}
	})
	slices.SortFunc(more, func(a, b Found) int { return cmp.Compare(a.seq, b.seq) })
	if s.plan.Distinct == "" && s.plan.Threshold == 0 {
		more = more[:min(len(more), s.plan.Need-len(near))]
	}
	return append(near, more...), err
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
	has, err := sp.Contents(s.Ctx, m.Space)
	if err != nil {
		return nil, nil, err
	}
	docs, err = s.View.Having(m.Space.String(), has.Version, func() (func(uint64) bool, error) {
		seqs, err := has.Seqs()
		return seqs.Has, err
	})
	if err != nil {
		return nil, nil, err
	}
	docs.And(s.Universe)
	n := int(docs.GetCardinality())
	others := has.Docs - n // that the search or the view has not
	k := s.plan.Need
	if s.plan.Distinct != "" || s.plan.Threshold > 0 || s.sortsFirst() {
		k = n // which of them count is not known yet
	}
	// Of many that are near only the first are looked at closely, among which nothing may be that is hidden
	// from the caller.
	if s.Reach == nil && k <= fewNear && others >= 0 && others <= fewNear {
		list, err = s.nearOfAll(sp, m, k, others, docs)
	} else {
		list, err = s.nearOf(sp, m, k, docs)
	}
	return list, docs, err
}

// fewNear is how many neighbours are looked up one by one in the view.
const fewNear = 1000

// nearOfAll returns the k documents nearest to the query's vector, of docs, which are
// all that have vectors but for others.
func (s *Searcher) nearOfAll(sp *vector.Memory, m *Meaning, k, others int, docs *roaring.Bitmap) ([]Found, error) {
	near, err := sp.Nearest(s.cut, m.Space, m.Vector, k+others, nil)
	if err != nil {
		return nil, err
	}
	var list []Found
	for i := range near {
		doc, err := s.View.Number(near[i].ID)
		if err != nil {
			return nil, err
		}
		if doc == nil || !docs.Contains(*doc) {
			continue
		}
		same := false
		err = s.View.FirstNumbers(bleveindex.FieldSeq, []uint32{*doc}, func(_ int, seq, _ float64) { same = uint64(seq) == near[i].Seq })
		if err != nil {
			return nil, err
		}
		if same && len(list) < k {
			list = append(list, s.byMeaning(*doc, &near[i], m.Spread))
		}
	}
	return list, nil
}

// nearOf returns the k documents nearest to the query's vector, of docs.
func (s *Searcher) nearOf(sp *vector.Memory, m *Meaning, k int, docs *roaring.Bitmap) ([]Found, error) {
	numbers := docs.ToArray()
	bySeq := make(map[uint64]uint32, min(k, len(numbers)))
	seqs := make([]uint64, len(numbers))
	allowed := new(vector.Set)
	err := s.View.FirstNumbers(bleveindex.FieldSeq, numbers, func(i int, seq, _ float64) {
		seqs[i] = uint64(seq)
		allowed.Add(seqs[i])
	})
	if err != nil {
		return nil, err
	}
	near, err := sp.Nearest(s.cut, m.Space, m.Vector, k, allowed)
	if err != nil {
		return nil, err
	}
	found := new(vector.Set)
	for i := range near {
		found.Add(near[i].Seq)
	}
	for i, seq := range seqs {
		if found.Has(seq) {
			bySeq[seq] = numbers[i]
		}
	}
	list := make([]Found, len(near))
	for i := range near {
		list[i] = s.byMeaning(bySeq[near[i].Seq], &near[i], m.Spread)
	}
	return list, nil
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

// byMeaning makes a hit of a neighbour.
func (s *Searcher) byMeaning(doc uint32, near *vector.Neighbour, d *settings.Distribution) Found {
	return Found{Doc: doc, seq: float64(near.Seq), Score: d.Shift(near.Score), ByMeaning: true}
}

// MeaningDetails says why a hit by meaning stands where it does.
func MeaningDetails(f *Found) json.RawMessage {
	similarity := &f.Score
	if f.Score == 0 { // it has no vector
		similarity = nil
	}
	b, err := json.Marshal(map[string]any{"vectorSort": map[string]any{"order": 0, "similarity": similarity}})
	if err != nil {
		panic("search: encode score details: " + err.Error()) // a number from 0 to 1
	}
	return b
}
