package text_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/blevesearch/vellum"

	"github.com/parley-search/parley/host/internal/search/text"
)

// The automaton of a matcher accepts the words that Distance takes, and no
// others: what it wrongly refused would never be found.
func TestMatcherAutomaton(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(most int) string {
		w := make([]rune, 1+rng.IntN(most))
		for i := range w {
			w[i] = []rune("abcéè東京")[rng.IntN(7)]
		}
		return string(w)
	}
	taken := 0
	for range 200 {
		term := word(5)
		for typos := 1; typos <= 2; typos++ {
			for _, prefix := range []bool{false, true} {
				m := text.NewMatcher(term, prefix, typos)
				for range 200 {
					w := word(7)
					_, want := m.Distance(w)
					if want {
						taken++
					}
					if got := vellum.AutomatonContains(m.Automaton(), []byte(w)); got != want {
						t.Fatalf("%q, %d typos, prefix %v: accepts %q: %v, want %v", term, typos, prefix, w, got, want)
					}
				}
			}
		}
	}
	if taken < 1000 {
		t.Errorf("%d words were near enough: too few to judge by", taken)
	}
}

// BenchmarkMatcher looks a word up in the index of an alphabet's words of four
// letters with two typos: an operation is making the automaton, and its walk.
func BenchmarkMatcher(b *testing.B) {
	var buf bytes.Buffer
	w, err := vellum.New(&buf, nil)
	if err != nil {
		b.Fatal(err)
	}
	const letters = "abcdefghijkl"
	for i := range len(letters) * len(letters) * len(letters) * len(letters) {
		word := []byte("xxxxabcde")
		for k := range 4 {
			word[3-k] = letters[i%len(letters)]
			i /= len(letters)
		}
		if err := w.Insert(word, 1); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	words, err := vellum.Load(buf.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m := text.NewMatcher("dcbaabcde", true, 2)
		found := 0
		it, err := words.Search(m.Automaton(), nil, nil)
		for ; err == nil; err = it.Next() {
			found++
		}
		if found == 0 {
			b.Fatal("nothing found")
		}
	}
}
