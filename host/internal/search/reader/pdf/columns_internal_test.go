package pdf

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A reading order has each piece once, wherever pieces are, and takes no more looks at pieces than are allowed.
func TestReadingOrder(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		pieces := make([]piece, r.IntN(300))
		columns := 1 + r.IntN(6)
		for i := range pieces {
			x, y := float64(r.IntN(columns))*100+float64(r.IntN(3)), float64(r.IntN(60))*10
			pieces[i] = piece{
				box: box{x, y, x + float64(r.IntN(130)), y + float64(r.IntN(12))}, from: i, to: i + 1, unit: 5, first: float64(r.IntN(30)),
				letters: r.IntN(30), words: 1 + r.IntN(6), stops: r.IntN(2), goesOn: r.IntN(3) > 0, ends: r.IntN(4) == 0,
			}
		}
		order := readingOrder(pieces)
		if order == nil {
			continue
		}
		sorted := slices.Sorted(slices.Values(order))
		for i := range pieces {
			if len(sorted) != len(pieces) || sorted[i] != i {
				t.Fatalf("seed %d: %d pieces in the order %v", seed, len(pieces), order)
			}
		}
	}
}

// Columns within columns within columns end at a bound.
func TestReadingOrderWork(t *testing.T) {
	var pieces []piece
	for row := range 300 {
		for column := range 30 {
			x, y := float64(column)*20, float64(row)*10
			pieces = append(pieces, piece{box: box{x, y, x + 15, y + 9}, unit: 1, first: 14, letters: 20, words: 3, stops: 1, goesOn: true})
		}
	}
	a := arranger{pieces, maxWork * len(pieces)}
	all := make([]int, len(pieces))
	for i := range all {
		all[i] = i
	}
	if order, _, _ := a.arrange(all, 0); len(order) != len(pieces) || a.work < -len(pieces) {
		t.Errorf("%d pieces of %d, %d looks more than %d for each", len(order), len(pieces), -a.work, maxWork)
	}
}

// Letters that a file says are less than nothing wide end no search.
func TestAlignedOddWidth(t *testing.T) {
	if place, most := aligned([]float64{3, 1, 2}, -5); place != 1 || most != 1 {
		t.Errorf("aligned = %v, %d, want the first place alone", place, most)
	}
}
