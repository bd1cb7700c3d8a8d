package search_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

const shirts = `[
	{"id":1,"style":"s1","color":"Red","size":[1,2],"text":"red shirt"},
	{"id":2,"style":"s1","color":"blue","size":2,"text":"blue shirt"},
	{"id":3,"style":"s2","color":"red","size":3,"text":"red shirt with a collar"},
	{"id":4,"style":"S2","color":["green","Red","red"],"text":"green shirt"},
	{"id":5,"color":"black","size":7.5,"text":"black hat"},
	{"id":6,"color":"","text":"hat"}
]`

func facetText(facets []search.FacetCounts) string {
	var b strings.Builder
	for _, f := range facets {
		fmt.Fprintf(&b, "%s:", f.Attribute)
		for _, v := range f.Values {
			fmt.Fprintf(&b, " %s=%d", v.Value, v.Count)
		}
		if f.Min != nil {
			fmt.Fprintf(&b, " [%v %v]", *f.Min, *f.Max)
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestFacets(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["color","size","style","_geo"],"searchableAttributes":["text"]}`)
	r.add("a", shirts)
	r.add("a", `{"id":7,"_geo":{"lat":4,"lng":5}}`)
	tests := []struct {
		name     string
		q        search.Query
		faceting string
		want     string
	}{
		{"by value, case aside", search.Query{Facets: []string{"color"}}, "", "color: black=1 blue=1 green=1 Red=3"},
		{"by count", search.Query{Facets: []string{"color"}}, `{"sortFacetValuesBy":{"color":"count"}}`, "color: Red=3 green=1 blue=1 black=1"},
		{"at most", search.Query{Facets: []string{"color"}}, `{"maxValuesPerFacet":2,"sortFacetValuesBy":{"*":"count"}}`, "color: Red=3 green=1"},
		{"numbers", search.Query{Facets: []string{"size"}}, "", "size: 1=1 2=2 3=1 7.5=1 [1 7.5]"},
		{"all", search.Query{Q: "hat", Facets: []string{"*"}}, "", "_geo:; _geo.lat:; _geo.lng:; color: black=1; size: 7.5=1 [7.5 7.5]; style:"},
		{"of what is found, whatever is shown", search.Query{Q: "red", Limit: limit(0), Facets: []string{"color", "size"}}, "", "color: Red=2; size: 1=1 2=1 3=1 [1 3]"},
		{"under a filter", search.Query{Filter: filter("size >= 3"), Facets: []string{"color"}}, "", "color: black=1 red=1"},
		{"of distinct hits", search.Query{Distinct: "style", Facets: []string{"style"}}, "", "style: s1=1 s2=1"},
		{"none", search.Query{Facets: []string{}}, "", ""},
		{"an object brings what is in it", search.Query{Facets: []string{"_geo"}}, "", "_geo:; _geo.lat: 4=1 [4 4]; _geo.lng: 5=1 [5 5]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.settings("a", `{"faceting":null}`)
			if tt.faceting != "" {
				r.settings("a", `{"faceting":`+tt.faceting+`}`)
			}
			got := facetText(r.search("a", tt.q).Facets)
			if got != tt.want {
				t.Errorf("facets %q, want %q", got, tt.want)
			}
		})
	}
	for _, f := range []string{"text", "nope", ""} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Facets: []string{f}})
		wantCode(t, "facet "+f, err, searcherr.InvalidSearchFacets)
	}
	if f := r.search("a", search.Query{}).Facets; f != nil {
		t.Errorf("facets %v though none were asked for", f)
	}
}

// What is not displayed is told by no facet, and "*" leaves it out.
func TestFacetsOfHiddenAttributes(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["color","size","style"],"displayedAttributes":["color"]}`)
	r.add("a", shirts)
	_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Facets: []string{"style"}})
	wantCode(t, "facet of a hidden attribute", err, searcherr.InvalidSearchFacets)
	if strings.Contains(err.Error(), "size") {
		t.Errorf("the error tells of hidden attributes: %v", err)
	}
	if got := facetText(r.search("a", search.Query{Facets: []string{"*"}}).Facets); got != "color: black=1 blue=1 green=1 Red=3" {
		t.Errorf("facets %q", got)
	}
	list, err := r.svc.ChatIndexes(context.Background(), auth.Everyone(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list[0].Filterable {
		if f.Attribute != "color" && len(f.Values) > 0 {
			t.Errorf("the model is told values of %s, which is hidden: %v", f.Attribute, f.Values)
		}
	}
}

// TestFacetsOfMixedValues wants numbers before texts, and a text that is written as a
// number to be counted by itself, as in Meilisearch.
func TestFacetsOfMixedValues(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["m"]}`)
	r.add("a", `[{"id":1,"m":1},{"id":2,"m":"1"},{"id":3,"m":["1",2,null]},{"id":4,"m":10},{"id":5,"m":"b"},{"id":6,"m":true},{"id":7,"m":"5"},{"id":8,"m":1},{"id":9,"m":1}]`)
	if got, want := facetText(r.search("a", search.Query{Facets: []string{"m"}}).Facets), "m: 1=2 10=1 2=1 5=1 b=1 true=1 [1 10]"; got != want {
		t.Errorf("facets %q, want %q", got, want)
	}
	// Of the texts none is looked at, or the first alone, whose place a number has.
	for most, want := range map[string]string{"3": "m: 1=3 10=1 2=1 [1 10]", "4": "m: 1=2 10=1 2=1 [1 10]"} {
		r.settings("a", `{"faceting":{"maxValuesPerFacet":`+most+`}}`)
		if got := facetText(r.search("a", search.Query{Facets: []string{"m"}}).Facets); got != want {
			t.Errorf("facets, %s at most: %q, want %q", most, got, want)
		}
	}
	res, err := r.svc.SearchFacet(t.Context(), auth.Everyone(), "a", search.FacetQuery{Facet: "m", Text: "1"})
	if got := facetValues(res.Values); err != nil || got != "1=2" {
		t.Errorf("searched, %q and %v, want the texts alone", got, err)
	}
}

// TestFacetsWrittenLikeNumbers wants texts that a number looks like shown as the first
// hit to come writes them, too.
func TestFacetsWrittenLikeNumbers(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["m"]}`)
	r.add("a", `[{"id":9,"m":"①"},{"id":1,"m":"1"},{"id":2,"m":2}]`)
	if got, want := facetText(r.search("a", search.Query{Facets: []string{"m"}}).Facets), "m: 2=1 ①=2 [2 2]"; got != want {
		t.Errorf("facets %q, want %q", got, want)
	}
}

// TestFacetSearchShows wants a value that is written in several ways shown as the first
// document of all that came writes it, but to callers who may not see them all.
func TestFacetSearchShows(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["m","n"]}`)
	r.add("a", `[{"id":9,"m":"Penguin","n":1},{"id":1,"m":"penguin","n":2},{"id":2,"m":"PENGUIN","n":2},{"id":3,"m":"Quill","n":2}]`)
	q := search.FacetQuery{Facet: "m", Text: "pen", Query: search.Query{Filter: filter("n = 2")}}
	for want, caller := range map[string]*auth.Caller{"Penguin=2": auth.Everyone(), "penguin=2": tenant(t, `{"a":{"filter":"n = 2"}}`)} {
		res, err := r.svc.SearchFacet(t.Context(), caller, "a", q)
		if err != nil {
			t.Fatal(err)
		}
		if got := facetValues(res.Values); got != want {
			t.Errorf("values %q, want %q", got, want)
		}
	}
}

func TestDistinct(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["style","color"],"sortableAttributes":["size"],"searchableAttributes":["text"]}`)
	r.add("a", shirts)
	tests := []struct {
		name  string
		q     search.Query
		want  string
		total int
	}{
		{"the first of each value, and all without one", search.Query{Distinct: "style"}, "1 3 5 6", 4},
		{"in the order of the ranking", search.Query{Q: "shirt", Distinct: "style", Sort: []string{"size:desc"}}, "3 1", 2},
		{"lists share a value", search.Query{Distinct: "color"}, "1 2 5 6", 4},
		{"pages", search.Query{Distinct: "style", Offset: 1, Limit: limit(2)}, "3 5", 4},
		{"none of its value is left among those behind the hits", search.Query{Distinct: "style", Limit: limit(1)}, "1", 5},
		{"no hits asked for", search.Query{Distinct: "style", Limit: limit(0)}, "", 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := r.search("a", tt.q)
			if got := r.ids("a", tt.q); got != tt.want || res.EstimatedTotalHits != tt.total {
				t.Errorf("found %q of %d, want %q of %d", got, res.EstimatedTotalHits, tt.want, tt.total)
			}
		})
	}
	if res := r.search("a", search.Query{Distinct: "style", HitsPerPage: limit(1)}); res.TotalHits != 4 {
		t.Errorf("a page of one hit tells of %d, want exactly 4", res.TotalHits)
	}
	// Document 3, as good as the last hit that is shown, stands for its style before 1 does.
	r.add("b", `[{"id":1,"text":"a red shirt","style":"s2","color":"red"},{"id":2,"text":"shirt","style":"s1","color":"blue"},{"id":3,"text":"shirt","style":"s2","color":"blue"}]`)
	r.settings("b", `{"filterableAttributes":["style","color"],"searchableAttributes":["text"]}`)
	res := r.search("b", search.Query{Q: "shirt", Distinct: "style", HitsPerPage: limit(1), Facets: []string{"color"}})
	if got := facetText(res.Facets); got != "color: blue=2" || res.TotalHits != 2 {
		t.Errorf("a page of one hit: %d in all with the facets %s; want 2 with color: blue=2", res.TotalHits, got)
	}
	_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Distinct: "text"})
	wantCode(t, "distinct by what is not filterable", err, searcherr.InvalidSearchDistinct)
	r.settings("a", `{"distinctAttribute":"style","filterableAttributes":[]}`)
	if got := r.ids("a", search.Query{}); got != "1 3 5 6" {
		t.Errorf("distinctAttribute: found %q, want 1 3 5 6", got)
	}
}

func TestPages(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"pagination":{"maxTotalHits":7}}`)
	r.add("a", docsJSON(1, 10, func(int) string { return `"text":"word"` }))
	tests := []struct {
		name        string
		page, hits  *int
		want        string
		pages, show int
	}{
		{"first", limit(1), limit(3), "1 2 3", 4, 1},
		{"second", limit(2), limit(3), "4 5 6", 4, 2},
		{"last ends at maxTotalHits", limit(3), limit(3), "7", 4, 3},
		{"beyond", limit(4), limit(3), "", 4, 4},
		{"far beyond", limit(1 << 40), limit(1 << 40), "", 1, 1 << 40},
		{"page zero", limit(0), limit(3), "", 4, 0},
		{"only hitsPerPage", nil, limit(5), "1 2 3 4 5", 2, 1},
		{"only page", limit(1), nil, "1 2 3 4 5 6 7", 1, 1},
		{"no hits", limit(1), limit(0), "", 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, q := range []string{"", "word"} {
				query := search.Query{Q: q, Page: tt.page, HitsPerPage: tt.hits, Offset: 4, Limit: limit(2)}
				res := r.search("a", query)
				if got := r.ids("a", query); got != tt.want || !res.Paged || res.TotalHits != 10 || res.TotalPages != tt.pages || res.Page != tt.show {
					t.Errorf("found %q, %+v; want %q", got, res, tt.want)
				}
			}
		})
	}
	res := r.search("a", search.Query{Offset: 6, Limit: limit(5)})
	if len(res.Hits) != 1 || res.Paged || res.Offset != 6 || res.Limit != 5 || res.EstimatedTotalHits != 10 {
		t.Errorf("offset and limit beyond maxTotalHits: %d hits, %+v", len(res.Hits), res)
	}
	for code, q := range map[apierr.Code]search.Query{
		searcherr.InvalidSearchPage:        {Page: limit(-1)},
		searcherr.InvalidSearchHitsPerPage: {HitsPerPage: limit(-1)},
		searcherr.InvalidSearchOffset:      {Offset: -1},
		searcherr.InvalidSearchLimit:       {Limit: limit(-1)},
	} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", q)
		wantCode(t, code.String(), err, code)
	}
}

// TestFacetsOfEqualCounts wants values that equally many hits have in the order in which
// Meilisearch shows few of them: the last first.
func TestFacetsOfEqualCounts(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["text","number"],"faceting":{"maxValuesPerFacet":3,"sortFacetValuesBy":{"*":"count"}}}`)
	r.add("a", `[{"id":0,"text":"v0","number":0},{"id":1,"text":"v1","number":1},{"id":4,"text":"v4","number":4},{"id":12,"text":"v5","number":12}]`)
	const want = "number: 12=1 4=1 1=1 [0 12]; text: v5=1 v4=1 v1=1"
	if got := facetText(r.search("a", search.Query{Facets: []string{"number", "text"}}).Facets); got != want {
		t.Errorf("facets %q, want %q", got, want)
	}
}

// TestFirstCounts compares the first values with those of a list that is sorted as a whole.
func TestFirstCounts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(15, 16))
	for range 2000 {
		values := make([]bleveindex.Count, rng.IntN(300))
		for i := range values { // each key once as a number and once as a text at most
			values[i] = bleveindex.Count{Key: strconv.Itoa(i / 2), Shown: strconv.Itoa(rng.IntN(3)), Count: 1 + rng.IntN(4), Number: i%2 == 0}
		}
		rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		by, many, most := []settings.FacetSort{"", settings.FacetAlpha, settings.FacetCount}[rng.IntN(3)], rng.IntN(2) == 0, rng.IntN(120)
		want := slices.Clone(values)
		slices.SortFunc(want, func(a, b bleveindex.Count) int {
			if a.Number != b.Number {
				return map[bool]int{true: -1, false: 1}[a.Number]
			}
			order := strings.Compare(a.Key, b.Key)
			if a.Number && (many || by == settings.FacetCount) {
				x, _ := strconv.Atoi(a.Key)
				y, _ := strconv.Atoi(b.Key)
				order = cmp.Compare(x, y)
			}
			if by == settings.FacetCount {
				return cmp.Or(cmp.Compare(b.Count, a.Count), -order)
			}
			return order
		})
		if got := search.FirstCounts(values, by, many, most); !slices.Equal(got, want[:min(most, len(want))]) {
			t.Fatalf("the first %d by %q, many %v, of %d values:\n%v, want\n%v", most, by, many, len(values), got, want[:min(most, len(want))])
		}
	}
}

// TestFacetCountsAgree compares the counts of random documents, which came in several
// tasks, with those that are counted one by one.
func TestFacetCountsAgree(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(17, 18))
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["v","half"],"searchableAttributes":["text"],"faceting":{"maxValuesPerFacet":50}}`)
	pool := []any{"Red", "red", "RED", "Blue", "blue", "Ano", "año", "x y", "X Y", 5, 7.5, true}
	var docs []map[string]any
	for range 12 { // tasks
		part := []map[string]any{}
		for range 1 + rng.IntN(20) {
			values := make([]any, rng.IntN(4))
			for i := range values {
				values[i] = pool[rng.IntN(len(pool))]
			}
			part = append(part, map[string]any{"id": len(docs) + len(part), "v": values, "half": rng.IntN(2)})
		}
		docs = append(docs, part...)
		b, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		r.add("a", string(b))
	}
	for _, half := range []int{-1, 0, 1} {
		counts, shown := map[string]int{}, map[string]string{}
		for _, d := range docs {
			if half >= 0 && d["half"] != half {
				continue
			}
			written := []string{}
			for _, v := range d["v"].([]any) {
				written = append(written, fmt.Sprint(v))
			}
			slices.Sort(written)
			seen := map[string]bool{}
			for _, w := range written {
				key := text.FacetKey(w)
				if shown[key] == "" {
					shown[key] = w
				}
				if !seen[key] {
					seen[key] = true
					counts[key]++
				}
			}
		}
		q := search.Query{Facets: []string{"v"}}
		if half >= 0 {
			q.Filter = filter(fmt.Sprintf("half = %d", half))
		}
		res, err := r.svc.Search(context.Background(), auth.Everyone(), "a", q)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(res.Facets[0].Values); n != len(counts) {
			t.Errorf("half %d: %d values, want %d", half, n, len(counts))
		}
		for _, v := range res.Facets[0].Values {
			if key := text.FacetKey(v.Value); v.Count != counts[key] || v.Value != shown[key] {
				t.Errorf("half %d: %s=%d, want %s=%d", half, v.Value, v.Count, shown[key], counts[key])
			}
		}
	}
}
