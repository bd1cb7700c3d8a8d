package search_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
)

// TestManySynonyms wants what stands for two words to be judged alike, however many
// synonyms come before it: the words of a query may have hundreds.
func TestManySynonyms(t *testing.T) {
	words := []string{"alder", "birch", "cedar", "damson", "elder", "fir"}
	scoreWith := func(last int) float64 {
		r := newRig(t)
		synonyms := map[string][]string{"elder fir": {"hedge"}}
		var all []string
		for i, w := range words[:5] {
			n := 50
			if i == 4 {
				n = last
			}
			for k := range n {
				synonyms[w] = append(synonyms[w], fmt.Sprintf("%s%d", w, k))
			}
			all = append(all, synonyms[w]...)
		}
		b, err := json.Marshal(synonyms)
		if err != nil {
			t.Fatal(err)
		}
		r.settings("a", `{"searchableAttributes":["text"],"typoTolerance":{"enabled":false},"synonyms":`+string(b)+`}`)
		r.add("a", fmt.Sprintf(`[{"id":1,"text":"%s hedge"},{"id":2,"text":"%s"}]`, strings.Join(words[:4], " "), strings.Join(all, " ")))
		for _, h := range r.search("a", search.Query{Q: strings.Join(words, " ") + " "}).Hits {
			if h.ID == "1" {
				return h.Score
			}
		}
		t.Fatalf("with %d synonyms of %s the document of what stands for two words is not found", last, words[4])
		return 0
	}
	want := scoreWith(47)
	for _, n := range []int{48, 49, 50} {
		if got := scoreWith(n); got != want {
			t.Errorf("with %d synonyms more, what stands for two words scores %v, want %v", 200+n, got, want)
		}
	}
}
