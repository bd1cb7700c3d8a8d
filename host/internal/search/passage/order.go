package passage

import (
	"cmp"
	"math"
	"slices"
)

// ofLength is what a document's length takes from what it has of the question: a page of a megabyte has most
// words of any question somewhere, and would leave no room for those that are about it.
const ofLength = 0.3

// readingOrder returns the order in which docs are read: as they come, or where they are longer than MaxText
// in all, those first that have most of the question for their length.
func readingOrder(docs []Document) []int {
	order := make([]int, len(docs))
	total := 0
	for i := range docs {
		order[i] = i
		total += len(docs[i].Text)
	}
	if total <= MaxText {
		return order
	}
	average := float64(total) / float64(len(docs))
	worth := make([]float64, len(docs))
	for i := range docs {
		d := &docs[i]
		worth[i] = (d.Found + d.Near) / (1 + ofLength*math.Log2(1+float64(len(d.Text))/average))
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(worth[y], worth[x]) })
	return order
}
