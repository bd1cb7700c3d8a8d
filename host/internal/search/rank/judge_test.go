package rank

import (
	"math/rand/v2"
	"testing"
)

// Of many places neighbours alone are looked at, which must come to the same as
// looking at each with each.
func TestApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	places := func(n int) [][2]int {
		var out [][2]int
		for range n {
			out = append(out, [2]int{rng.IntN(3), 1 + rng.IntN(400)})
		}
		return out
	}
	for range 300 {
		a, b := places(1+rng.IntN(30)), places(1+rng.IntN(30))
		want := farApart
		for _, x := range a {
			for _, y := range b {
				switch d := y[1] - x[1]; {
				case x[0] != y[0]:
				case d > 0:
					want = min(want, d)
				case d < 0:
					want = min(want, -d+1)
				}
			}
		}
		if got := spotsApart(a, b); got != want {
			t.Fatalf("%v and %v are %d apart, want %d", a, b, got, want)
		}
	}
	many := places(1 << 16)
	if got := spotsApart(many, many); got != 1 {
		t.Errorf("words everywhere are %d apart, want 1", got)
	}
}

// spotsApart is the smallest distance between places of two words: pairs of a field
// and a place in it.
func spotsApart(a, b [][2]int) int {
	spots := func(list [][2]int) []spot {
		var out []spot
		for _, p := range list {
			out = append(out, spot{field: uint16(p[0]), pos: uint16(p[1])})
		}
		return out
	}
	s := &Searcher{plan: &Plan{}}
	return int(s.apart(spots(a), spots(b)))
}
