package passage

import (
	"cmp"
	"slices"
)

// Parameters of BM25, and what a passage has of the score of those around it. They were chosen over five
// collections of different kinds, see RATIONALE.md.
const (
	k1          = 1.2
	b           = 0.75
	ofPassages  = 0.5 // of a word's worth: how rare it is in passages; the rest, in documents
	ofNeighbour = 0.1 // an answer often stands behind or before the words that ask for it
	ofPage      = 0.5
	topPassages = 3 // of a page, that make its share
)

// ofListing is what the score of a list of links counts.
const ofListing = 0.5

// score gives each passage its BM25.
func (r *ranking) score(docs []Document) {
	worth := r.worth()
	average := float64(max(r.total, 1)) / float64(len(r.list))
	for i := range r.list {
		p, length := &r.list[i], float64(r.lengths[i])/average
		for t, n := range r.of(i) {
			if n == 0 {
				continue
			}
			tf := float64(n)
			p.Score += worth[t] * tf * (k1 + 1) / (tf + k1*(1-b+b*length))
		}
		if docs[p.Doc].Listing {
			p.Score *= ofListing
		}
	}
}

// ofBeside is what a word counts in coverage that stands in a passage before or behind: an answer goes on
// from what it follows.
const ofBeside = 0.6

// cover gives each passage the part of the question's weight that it and the ones beside it have.
func (r *ranking) cover(order []spot) {
	weights := map[bool]float64{false: r.question.weight(false), true: r.question.weight(true)}
	if weights[false] == 0 {
		return
	}
	for i, s := range order {
		p, beside := &r.list[s.passage], [2][]float32{}
		if i > 0 && order[i-1].adjoins(s) {
			beside[0] = r.of(order[i-1].passage)
		}
		if i+1 < len(order) && s.adjoins(order[i+1]) {
			beside[1] = r.of(order[i+1].passage)
		}
		for t, n := range r.of(s.passage) {
			near := float32(0)
			for _, counts := range beside {
				if counts != nil {
					near += counts[t]
				}
			}
			p.Cover += r.question.Terms[t].Worth * max(min(float64(n), 1), ofBeside*min(float64(near), 1))
		}
		p.Cover = min(p.Cover/weights[p.Row], 1)
	}
}

// worth is what each term counts. Where documents are long, most of them have most words somewhere: that a
// word is rare shows in the passages.
func (r *ranking) worth() []float64 {
	with := make([]int, r.terms)
	for i := range r.list {
		for t, n := range r.of(i) {
			if n > 0 {
				with[t]++
			}
		}
	}
	worth := make([]float64, r.terms)
	for t := range worth {
		term := &r.question.Terms[t]
		worth[t] = (1-ofPassages)*term.IDF + ofPassages*term.rarity(with[t], len(r.list))
	}
	return worth
}

// A spot is a passage with its page and its place there.
type spot struct{ passage, page, place int }

// adjoins reports whether y comes right behind s.
func (s spot) adjoins(y spot) bool { return s.page == y.page && s.place+1 == y.place }

// byPage returns the passages, page by page and in the order of the text.
func (r *ranking) byPage(docs []Document) []spot {
	pages := map[string]int{}
	spots := make([]spot, len(r.list))
	for i := range r.list {
		p := &r.list[i]
		s := spot{i, p.Doc, p.N}
		if d := &docs[p.Doc]; d.Page != "" {
			first, seen := pages[d.Page]
			if !seen {
				first = p.Doc
				pages[d.Page] = first
			}
			s.page, s.place = first, d.Place
		}
		spots[i] = s
	}
	slices.SortStableFunc(spots, func(x, y spot) int {
		return cmp.Or(cmp.Compare(x.page, y.page), cmp.Compare(x.place, y.place))
	})
	return spots
}

// addNeighbours adds to the passages that have something what the ones before and behind them have.
func (r *ranking) addNeighbours(order []spot) {
	alone := make([]float64, len(order)) // scores before any was added
	for i, s := range order {
		alone[i] = r.list[s.passage].Score
	}
	for i, s := range order {
		p := &r.list[s.passage]
		if p.Score == 0 {
			continue
		}
		if i > 0 && order[i-1].adjoins(s) {
			p.Score += ofNeighbour * alone[i-1]
		}
		if i+1 < len(order) && s.adjoins(order[i+1]) {
			p.Score += ofNeighbour * alone[i+1]
		}
	}
}

// addShares adds to each passage what its page has: a page about the question's matter goes before one
// that mentions it.
func (r *ranking) addShares(order []spot) {
	best, largest := 0.0, 0.0
	shares := make([]float64, len(order))
	var top []float64
	for from := 0; from < len(order); {
		to := from
		top = top[:0]
		for ; to < len(order) && order[to].page == order[from].page; to++ {
			top = append(top, r.list[order[to].passage].Score)
		}
		slices.SortFunc(top, func(x, y float64) int { return cmp.Compare(y, x) })
		best = max(best, top[0])
		sum := 0.0
		for _, s := range top[:min(len(top), topPassages)] {
			sum += s
		}
		for i := from; i < to; i++ {
			shares[i] = sum
		}
		largest = max(largest, sum)
		from = to
	}
	if largest == 0 {
		return
	}
	for i, s := range order {
		if p := &r.list[s.passage]; p.Score > 0 {
			p.Score += best * ofPage * shares[i] / largest
		}
	}
}

// addMeaning weighs the scores of words, as parts of the best one, against the nearness of the documents.
func addMeaning(list []Passage, docs []Document, ratio float64) {
	best := 0.0
	worded := make([]bool, len(docs))
	for i := range list {
		best = max(best, list[i].Score)
		worded[list[i].Doc] = worded[list[i].Doc] || list[i].Score > 0
	}
	for i := range list {
		p := &list[i]
		switch {
		case p.Score > 0:
			p.Score = (1-ratio)*p.Score/best + ratio*docs[p.Doc].Near
		case p.N == 0 && !worded[p.Doc]:
			p.Score = ratio * docs[p.Doc].Near
		}
	}
}
