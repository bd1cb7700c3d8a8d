package vector

import (
	"cmp"
	"slices"
)

// A Neighbour is a document near a vector.
type Neighbour struct {
	ID    string
	Seq   uint64
	Score float32 // 0 to 1
}

// before reports whether a stands before b in a list: the more like one, then
// the older.
func before(a, b *Neighbour) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Seq, b.Seq))
}

// A Top keeps the best k of the documents that it is shown: a heap with the
// worst of them at its root.
type Top struct {
	k    int
	heap []Neighbour
}

// NewTop returns an empty Top.
func NewTop(k int) *Top { return &Top{k: max(k, 0)} }

// Add shows t a document.
func (t *Top) Add(id string, seq uint64, score float32) {
	n := Neighbour{id, seq, score}
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, n)
		t.up(len(t.heap) - 1)
	case t.k > 0 && before(&n, &t.heap[0]) < 0:
		t.heap[0] = n
		t.down()
	}
}

func (t *Top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if before(&t.heap[parent], &t.heap[i]) > 0 {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

func (t *Top) down() {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if before(&t.heap[child], &t.heap[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// List returns the documents, best first. t is of no use then.
func (t *Top) List() []Neighbour {
	slices.SortFunc(t.heap, func(a, b Neighbour) int { return before(&a, &b) })
	return t.heap
}
