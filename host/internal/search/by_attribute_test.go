package search_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
)

// TestManyOfOneWord wants many documents that have one word in the order that each of
// them has by itself: they are parted by attributes before any is judged.
func TestManyOfOneWord(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["a","b","c"],"filterableAttributes":["id"],"typoTolerance":{"minWordSizeForTypos":{"oneTypo":4}}}`)
	rng := rand.New(rand.NewPCG(1, 9))
	forms := []string{"words", "word", "wards", "wordsmith", "wor ds", "wo"}
	r.add("a", docsJSON(0, 700, func(int) string {
		value := func() string {
			var ws []string
			for range rng.IntN(4) {
				ws = append(ws, "x")
			}
			if rng.IntN(2) == 0 {
				ws = append(ws, forms[rng.IntN(len(forms))])
			}
			return strings.Join(ws, " ")
		}
		return fmt.Sprintf(`"a":%q,"b":%q,"c":%q`, value(), value(), value())
	}))
	for _, q := range []string{"words", "words zzz", "word ", "wor"} {
		type hit struct {
			id    string
			score float64
		}
		var all, alone []hit
		for _, h := range r.search("a", search.Query{Q: q, Limit: limit(1000)}).Hits {
			all = append(all, hit{h.ID, h.Score})
		}
		for i := range 700 {
			for _, h := range r.search("a", search.Query{Q: q, Filter: filter(fmt.Sprintf("id = %d", i))}).Hits {
				alone = append(alone, hit{h.ID, h.Score})
			}
		}
		// Documents were added in the order of their numbers.
		slices.SortStableFunc(alone, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
		if len(all) < 300 || len(all) != len(alone) {
			t.Fatalf("%q: %d hits, and %d one by one; want as many, and over 300", q, len(all), len(alone))
		}
		for i := range all {
			if all[i] != alone[i] {
				t.Fatalf("%q: hit %d is %v; want %v", q, i, all[i], alone[i])
			}
		}
		for _, n := range []int{1, 20, 150} {
			for i, h := range r.search("a", search.Query{Q: q, Limit: limit(n)}).Hits {
				if h.ID != all[i].id || h.Score != all[i].score {
					t.Fatalf("%q, %d hits: hit %d is %s; want %v", q, n, i, h.ID, all[i])
				}
			}
		}
	}
}
