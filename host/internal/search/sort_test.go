package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
)

const wares = `[
	{"id":1,"name":"red apple","price":3,"brand":"Zed","tags":["b","x"],"_geo":{"lat":48.85,"lng":2.35}},
	{"id":2,"name":"green apple","price":1,"brand":"acme","tags":["a","z"],"_geo":{"lat":51.5,"lng":-0.12}},
	{"id":3,"name":"apple pie","price":2.5,"brand":"Bolt","tags":[],"_geo":{"lat":52.52,"lng":13.4}},
	{"id":4,"name":"apple","price":null},
	{"id":5,"name":"pear","price":[9,0.5],"brand":7}
]`

func TestSort(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"sortableAttributes":["price","brand","tags","_geo"],"searchableAttributes":["name"]}`)
	r.add("a", wares)
	tests := []struct {
		name, q string
		sort    []string
		want    string
	}{
		{"numbers up; of several the first; none last", "", []string{"price:asc"}, "5 2 3 1 4"},
		{"numbers down; of several the last; none last", "", []string{"price:desc"}, "5 1 3 2 4"},
		{"texts without case, numbers before them", "", []string{"brand:asc"}, "5 2 3 1 4"},
		{"texts down, numbers still before them", "", []string{"brand:desc"}, "5 1 3 2 4"},
		{"lists", "", []string{"tags:asc"}, "2 1 3 4 5"},
		{"lists down", "", []string{"tags:desc"}, "2 1 3 4 5"},
		{"two criteria", "", []string{"tags:asc", "price:desc"}, "2 1 5 3 4"},
		{"place, from Paris", "", []string{"_geoPoint(48.85, 2.35):asc"}, "1 2 3 4 5"},
		{"place, away from Paris", "", []string{"_geoPoint(48.85,2.35):desc"}, "3 2 1 4 5"},
		{"in its place among the rules: after words and their places", "apple", []string{"price:asc"}, "3 4 2 1"},
		{"equal in all before", "apple green", []string{"price:desc"}, "2 3 4 1"},
		{"none", "", nil, "1 2 3 4 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.ids("a", search.Query{Q: tt.q, Sort: tt.sort}); got != tt.want {
				t.Errorf("sort %q of %q gave %q, want %q", tt.sort, tt.q, got, tt.want)
			}
		})
	}
	for _, s := range []string{"price", "price:up", ":asc", "other:asc", "_geo:asc", "_geoPoint(1):asc", "_geoPoint(1,x):asc", "_geoPoint(91,0):asc", "_geoPoint(0,181):desc", "_geoRadius(1,2,3):asc", "_geoPoint(NaN,0):asc", ""} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Sort: []string{s}})
		wantCode(t, "sort "+s, err, searcherr.InvalidSearchSort)
	}
}

// The rule sort, and rules over an attribute, count where they stand.
func TestRuleOrder(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"sortableAttributes":["price"],"searchableAttributes":["name"]}`)
	r.add("a", wares)
	tests := []struct{ name, rules, q, sort, want string }{
		{"sort first, over words", `["sort","words","typo"]`, "apple red ", "price:asc", "2 3 1 4"},
		{"attribute first", `["price:desc","words","typo"]`, "apple red ", "", "1 3 2 4"},
		{"attribute last", `["words","typo","price:asc"]`, "apple red ", "", "1 2 3 4"},
		{"attribute without query", `["words","price:asc"]`, "", "", "5 2 3 1 4"},
		{"sort before an attribute", `["sort","price:asc"]`, "", "price:desc", "5 1 3 2 4"},
		{"words first though it is not named", `["typo"]`, "apple red ", "", "1 2 3 4"},
		{"no rules", `[]`, "apple red ", "", "1 2 3 4"},
		{"attribute before words puts sort last", `["attribute","sort"]`, "apple", "price:asc", "3 4 2 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.settings("a", `{"rankingRules":`+tt.rules+`}`)
			q := search.Query{Q: tt.q}
			if tt.sort != "" {
				q.Sort = []string{tt.sort}
			}
			if got := r.ids("a", q); got != tt.want {
				t.Errorf("rules %s, query %q, sort %q gave %q, want %q", tt.rules, tt.q, tt.sort, got, tt.want)
			}
		})
	}
	r.settings("a", `{"rankingRules":["words"]}`)
	_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Sort: []string{"price:asc"}})
	wantCode(t, "sort without the rule", err, searcherr.InvalidSearchSort)
}

// Pages of a sorted search put together are the whole list in order, whatever
// the number of documents and segments, and deletions among them.
func TestSortPages(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"sortableAttributes":["n"],"filterableAttributes":["n"],"pagination":{"maxTotalHits":100000}}`)
	rng := rand.New(rand.NewPCG(3, 4))
	type doc struct{ id, n int }
	var docs []doc
	for part := range 3 {
		var b strings.Builder
		for i := range 700 {
			d := doc{part*700 + i, rng.IntN(300)}
			docs = append(docs, d)
			fmt.Fprintf(&b, `%c{"id":%d,"n":%d,"text":"word"}`, "[,"[min(i, 1)], d.id, d.n)
		}
		r.add("a", b.String()+"]")
	}
	var gone []string
	docs = slices.DeleteFunc(docs, func(d doc) bool {
		if d.id%7 == 3 {
			gone = append(gone, fmt.Sprint(d.id))
			return true
		}
		return false
	})
	r.ok(write.DeleteDocuments("a", gone))
	for _, descending := range []bool{false, true} {
		order, by := "asc", func(a, b doc) int { return a.n - b.n }
		if descending {
			order, by = "desc", func(a, b doc) int { return b.n - a.n }
		}
		slices.SortFunc(docs, func(a, b doc) int { return a.id - b.id })
		slices.SortStableFunc(docs, by)
		var want []string
		for _, d := range docs {
			want = append(want, fmt.Sprint(d.id))
		}
		for _, q := range []string{"", "word"} {
			var got []string
			for from := 0; from < len(docs); from += 333 {
				got = append(got, strings.Fields(r.ids("a", search.Query{Q: q, Sort: []string{"n:" + order}, Offset: from, Limit: limit(333)}))...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %q sorted %s are not the list: %d of %d hits", q, order, len(got), len(want))
			}
		}
	}
}

func TestGeoDistance(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"sortableAttributes":["_geo"]}`)
	r.add("a", wares)
	from := []string{"_geoPoint(48.85, 2.35):asc"}
	res := r.search("a", search.Query{Sort: from})
	for i, want := range []int64{0, 343_000, 878_000} {
		if d := res.Hits[i].Distance; d == nil || *d < want-2000 || *d > want+2000 {
			t.Errorf("hit %d is %v metres away, want about %d", i, d, want)
		}
	}
	for _, h := range res.Hits[3:] {
		if h.Distance != nil {
			t.Errorf("hit %s has no place and is %d metres away", h.ID, *h.Distance)
		}
	}
	if d := r.search("a", search.Query{}).Hits[0].Distance; d != nil {
		t.Errorf("distance %d without a place to start from", *d)
	}
	r.settings("a", `{"displayedAttributes":["name"]}`)
	if d := r.search("a", search.Query{Sort: from}).Hits[1].Distance; d != nil {
		t.Errorf("distance %d to a place that is hidden", *d)
	}
}
