package search

import (
	"cmp"
	"slices"

	"github.com/parley-search/parley/host/internal/search/passage"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// orderCandidates returns the order of candidates: by score, then as the documents came.
func orderCandidates(candidates []candidate, stored []storage.Document) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(candidates[y].score, candidates[x].score), cmp.Compare(stored[x].Seq, stored[y].Seq))
	})
	return order
}

// A chooser chooses which passages of docs are shown, and how much of each. They come best first.
type chooser func(ranked []passage.Passage, docs []passage.Document, q *passage.Question) []passage.Passage

// chooseFitting chooses what fits the budget of an index's chat.
func chooseFitting(own *settings.ChatSettings) chooser {
	return func(ranked []passage.Passage, docs []passage.Document, q *passage.Question) []passage.Passage {
		if own.Search.Limit != nil {
			ranked = ofFirstDocuments(ranked, *own.Search.Limit)
		}
		return passage.Fit(ranked, q, own.ResultLimit(), own.PassageLimit(), func(p *passage.Passage) int {
			d := &docs[p.Doc]
			return len(d.ID) + len(p.Title(d)) + len(p.URL(d)) + hitFrame
		})
	}
}

// chooseBest chooses the best passage of each of the first n documents, and of it the size bytes that have
// most of the question.
func chooseBest(n, size int) chooser {
	return func(ranked []passage.Passage, _ []passage.Document, q *passage.Question) (out []passage.Passage) {
		seen := map[int]bool{}
		for _, p := range ranked {
			if seen[p.Doc] || len(seen) == n {
				continue
			}
			seen[p.Doc] = true
			p.Text = passage.Window(p.Text, q, size)
			out = append(out, p)
		}
		return out
	}
}

// hitFrame is what a hit takes in the answer besides its texts.
const hitFrame = len(`{"id":"","title":"","url":"","text":""},`)

// ofFirstDocuments keeps the passages of the first n documents that come in list.
func ofFirstDocuments(list []passage.Passage, n int) []passage.Passage {
	seen := map[int]bool{}
	return slices.DeleteFunc(list, func(p passage.Passage) bool {
		if !seen[p.Doc] && len(seen) < n {
			seen[p.Doc] = true
		}
		return !seen[p.Doc]
	})
}
