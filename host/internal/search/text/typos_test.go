package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/text"
)

// TestDistance holds the typos that a matcher counts against a table of all beginnings
// of both words.
func TestDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	letters := []rune("abcdé東😀")
	word := func(most int) []rune {
		w := make([]rune, 1+rng.IntN(most))
		for i := range w {
			w[i] = letters[rng.IntN(len(letters))]
		}
		return w
	}
	near := [3]int{}
	for range 2000 {
		term := word(8)
		for most := 1; most <= 2; most++ {
			m := text.NewMatcher(string(term), false, most)
			for range 20 {
				w := mistyped(rng, term, letters)
				want := typosOf(term, w)
				if want > 0 && !strings.HasPrefix(string(w), string(term[0])) {
					want++ // a wrong first letter counts twice
				}
				got, ok := m.Distance(string(w))
				if ok != (want <= most) || ok && got != want {
					t.Fatalf("Distance of %q from %q, at most %d: %d, %v; want %d", string(w), string(term), most, got, ok, want)
				}
				if ok {
					near[got]++
				}
			}
		}
	}
	for typos, n := range near {
		if n < 1000 {
			t.Errorf("%d words had %d typos: too few to judge by", n, typos)
		}
	}
}

// mistyped returns term with up to three typos.
func mistyped(rng *rand.Rand, term, letters []rune) []rune {
	w := append([]rune(nil), term...)
	for range rng.IntN(4) {
		if len(w) < 2 {
			break
		}
		i, r := 1+rng.IntN(len(w)-1), letters[rng.IntN(len(letters))]
		switch rng.IntN(5) {
		case 0:
			w = append(w[:i:i], w[i+1:]...)
		case 1:
			w = append(w[:i:i], append([]rune{r}, w[i:]...)...)
		case 2:
			w[i] = r
		case 3:
			w[i-1], w[i] = w[i], w[i-1]
		case 4:
			w[0] = r
		}
	}
	return w
}

// typosOf is how many typos part two words: letters missing, too many or others, and
// neighbours that changed places.
func typosOf(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for k := range d[i] {
			switch {
			case i == 0 || k == 0:
				d[i][k] = i + k
				continue
			case a[i-1] == b[k-1]:
				d[i][k] = d[i-1][k-1]
			default:
				d[i][k] = 1 + min(d[i-1][k], d[i][k-1], d[i-1][k-1])
			}
			if i > 1 && k > 1 && a[i-1] == b[k-2] && a[i-2] == b[k-1] {
				d[i][k] = min(d[i][k], d[i-2][k-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
