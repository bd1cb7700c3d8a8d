package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/write"
)

// A good is a document of TestSearchAgreesWithItself.
type good struct {
	ID    int      `json:"id"`
	Title string   `json:"title"`
	Text  string   `json:"text"`
	Price *float64 `json:"price,omitempty"`
	Kind  []string `json:"kind"`
}

// goods makes documents of few words, in which much is equal.
func goods(rng *rand.Rand, first, n int) []good {
	vocabulary := []string{"silver", "silvre", "slivers", "spoon", "spoons", "table", "tables", "tablespoon", "copper", "copperplate", "plate", "of", "the", "tea"}
	text := func(n int) string {
		var ws []string
		for range n {
			ws = append(ws, vocabulary[rng.IntN(len(vocabulary))])
		}
		return strings.Join(ws, " ")
	}
	var out []good
	for i := range n {
		g := good{ID: first + i, Title: text(1 + rng.IntN(3)), Text: text(rng.IntN(8)), Kind: []string{}}
		if rng.IntN(5) > 0 {
			g.Price = new(float64(rng.IntN(6)))
		}
		for range rng.IntN(3) {
			g.Kind = append(g.Kind, []string{"a", "b", "B", "c", "d"}[rng.IntN(5)])
		}
		out = append(out, g)
	}
	return out
}

// TestSearchAgreesWithItself asks the same in several ways, of several segments
// with deletions, and wants the answers to agree: pages with the whole, sort
// and distinct with what a client would make of the ranked list, facets with the
// documents that were found.
func TestSearchAgreesWithItself(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"],"filterableAttributes":["kind","price"],"sortableAttributes":["price","kind"],"pagination":{"maxTotalHits":10000},
		"synonyms":{"tea":["copper plate"],"silver":["tea"]},"stopWords":["of"]}`)
	rng := rand.New(rand.NewPCG(21, 22))
	byID := map[string]good{}
	for part := range 4 {
		docs := goods(rng, part*150, 150)
		body, err := json.Marshal(docs)
		if err != nil {
			t.Fatal(err)
		}
		r.add("a", string(body))
		for _, d := range docs {
			byID[fmt.Sprint(d.ID)] = d
		}
	}
	var gone []string
	for id := range byID {
		if byID[id].ID%9 == 4 {
			gone = append(gone, id)
			delete(byID, id)
		}
	}
	r.ok(write.DeleteDocuments("a", gone))
	queries := []string{"", "silver", "silver spoon", "table spoon ", "tablespoon", "copper plate table", "slivr of tea", `"silver spoon" table`, "the -table", "tea", "coper"}
	texts := []string{"words", "typo", "proximity", "attribute", "exactness"}
	rounds := 3
	if os.Getenv("LONG") != "" {
		rounds = 8
	} else if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		order := slices.Clone(texts)
		if round > 0 {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for _, text := range queries {
			base := search.Query{Q: text, Limit: limit(10_000), MatchingStrategy: []settings.Strategy{settings.Last, settings.All, settings.Frequency, settings.Any}[rng.IntN(4)]}
			rules := func(list ...string) {
				b, err := json.Marshal(list)
				if err != nil {
					t.Fatal(err)
				}
				r.settings("a", `{"rankingRules":`+string(b)+`}`)
			}
			rules(append([]string{"sort"}, order...)...)
			ranked := strings.Fields(r.ids("a", base))
			name := fmt.Sprintf("%q, %s, %v", text, base.MatchingStrategy, order)
			total := r.search("a", search.Query{Q: text, Limit: limit(0), MatchingStrategy: base.MatchingStrategy}).EstimatedTotalHits
			if total != len(ranked) {
				t.Errorf("%s: %d hits counted, %d given", name, total, len(ranked))
			}
			r.agreePages(t, name, base, ranked, 1+rng.IntN(40))
			r.agreeSort(t, name, base, ranked, byID)
			r.agreeDistinct(t, name, base, ranked, byID)
			r.agreeFacets(t, name, base, ranked, byID)
			if t.Failed() {
				return
			}
		}
	}
}

func (r *rig) agreePages(t *testing.T, name string, q search.Query, ranked []string, size int) {
	t.Helper()
	var got []string
	for from := 0; from < len(ranked); from += size {
		q.Offset, q.Limit = from, &size
		got = append(got, strings.Fields(r.ids("a", q))...)
	}
	if !slices.Equal(got, ranked) {
		t.Errorf("%s: pages of %d are not the list\n%v\n%v", name, size, got, ranked)
	}
}

// agreeSort sorts the ranked list by price as a client would.
func (r *rig) agreeSort(t *testing.T, name string, q search.Query, ranked []string, byID map[string]good) {
	t.Helper()
	for order, sign := range map[string]float64{"asc": 1, "desc": -1} {
		q.Sort = []string{"price:" + order}
		want := slices.Clone(ranked)
		slices.SortStableFunc(want, func(a, b string) int {
			x, y := byID[a].Price, byID[b].Price
			switch {
			case x == nil && y == nil:
				return 0
			case x == nil:
				return 1
			case y == nil:
				return -1
			}
			return int(sign * (*x - *y))
		})
		if got := strings.Fields(r.ids("a", q)); !slices.Equal(got, want) {
			t.Errorf("%s: sorted by price %s\n%v, want\n%v", name, order, got, want)
		}
	}
}

// agreeDistinct takes, of the ranked list, what brings a new kind.
func (r *rig) agreeDistinct(t *testing.T, name string, q search.Query, ranked []string, byID map[string]good) {
	t.Helper()
	q.Distinct = "kind"
	seen := map[string]bool{}
	var want []string
	for _, id := range ranked {
		again := false
		for _, k := range byID[id].Kind {
			again = again || seen[strings.ToLower(k)]
		}
		if again {
			continue
		}
		for _, k := range byID[id].Kind {
			seen[strings.ToLower(k)] = true
		}
		want = append(want, id)
	}
	if got := strings.Fields(r.ids("a", q)); !slices.Equal(got, want) {
		t.Errorf("%s: distinct by kind\n%v, want\n%v", name, got, want)
	}
}

// agreeFacets counts kinds and prices of the ranked list.
func (r *rig) agreeFacets(t *testing.T, name string, q search.Query, ranked []string, byID map[string]good) {
	t.Helper()
	q.Facets, q.Limit = []string{"kind", "price"}, limit(1)
	kinds, prices := map[string]int{}, map[string]int{}
	for _, id := range ranked {
		of := map[string]bool{}
		for _, k := range byID[id].Kind {
			of[strings.ToLower(k)] = true
		}
		for k := range of {
			kinds[k]++
		}
		if p := byID[id].Price; p != nil {
			prices[fmt.Sprint(*p)]++
		}
	}
	for i, want := range []map[string]int{kinds, prices} {
		f := r.search("a", q).Facets[i]
		got := map[string]int{}
		for _, v := range f.Values {
			got[strings.ToLower(v.Value)] = v.Count
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: facet %s is %v, want %v", name, f.Attribute, got, want)
		}
	}
}
