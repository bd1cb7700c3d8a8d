package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
)

func facetValues(values []search.FacetValue) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%s=%d", v.Value, v.Count))
	}
	return strings.Join(out, ", ")
}

// Of the documents that share a value of the distinct attribute one counts, as far as a
// search of 20 hits looks at them, or all where exact counts are asked for.
func TestFacetSearchDistinct(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["size","style"],"distinctAttribute":"style","searchableAttributes":["title"]}`)
	var docs []string
	for i := range 30 {
		docs = append(docs, fmt.Sprintf(`{"id":%d,"title":"shirt","style":"s%d","size":"small"}`, i, i))
	}
	// Styles that the first 20 hits have, and one that none of them has.
	docs = append(docs, `{"id":30,"title":"shirt","style":"s0","size":"large"}`, `{"id":31,"title":"shirt","style":"s19","size":"large"}`, `{"id":32,"title":"shirt","style":"s29","size":"large"}`)
	r.add("a", "["+strings.Join(docs, ",")+"]")
	for _, tt := range []struct {
		name string
		q    search.FacetQuery
		want string
	}{
		{"as far as hits go", search.FacetQuery{Facet: "size"}, "large=1, small=30"},
		{"with words", search.FacetQuery{Facet: "size", Query: search.Query{Q: "shirt"}}, "small=30"}, // all are equal
		{"exact", search.FacetQuery{Facet: "size", Exact: true}, "small=30"},
		{"the query's distinct and order say nothing", search.FacetQuery{Facet: "size", Query: search.Query{Distinct: "size", Sort: []string{"nope:asc"}}}, "large=1, small=30"},
	} {
		res, err := r.svc.SearchFacet(context.Background(), auth.Everyone(), "a", tt.q)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := facetValues(res.Values); got != tt.want {
			t.Errorf("%s: found %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestFacetSearch(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["genre","year",{"attributePatterns":["quiet"],"features":{"facetSearch":false}}],"displayedAttributes":["id","genre","year","quiet"],"searchableAttributes":["title"]}`)
	r.settings("b", `{"facetSearch":false,"filterableAttributes":["genre"]}`)
	r.add("a", `[{"id":1,"title":"alpha","genre":["Science Fiction","Drama"],"year":1999},{"id":2,"title":"beta","genre":"drama","year":1998,"quiet":"x"},
		{"id":3,"title":"alpha beta","genre":"Fantasy"},{"id":4,"title":"gamma","genre":"Comédie dramatique","year":2001},{"id":5,"title":"delta","genre":"science fiction"}]`)
	r.add("b", `[{"id":1,"genre":"x"}]`)
	tests := []struct {
		name string
		q    search.FacetQuery
		want string
	}{
		{"all", search.FacetQuery{Facet: "genre"}, "Comédie dramatique=1, drama=2, Fantasy=1, science fiction=2"},
		{"beginning", search.FacetQuery{Facet: "genre", Text: "Sci"}, "Science Fiction=2"},
		{"beginning of the whole value alone", search.FacetQuery{Facet: "genre", Text: "dram"}, "Drama=2"},
		{"accents", search.FacetQuery{Facet: "genre", Text: "come"}, "Comédie dramatique=1"},
		{"typo", search.FacetQuery{Facet: "genre", Text: "fnatasy"}, "Fantasy=1"},
		{"two words", search.FacetQuery{Facet: "genre", Text: "science fic"}, "Science Fiction=2"},
		{"words in another order", search.FacetQuery{Facet: "genre", Text: "fiction sci"}, ""},
		{"a typo in the first letter", search.FacetQuery{Facet: "genre", Text: "xantasy"}, "Fantasy=1"},
		{"numbers", search.FacetQuery{Facet: "year", Text: "199"}, ""},
		{"nothing", search.FacetQuery{Facet: "genre", Text: "west"}, ""},
		{"signs", search.FacetQuery{Facet: "genre", Text: "?"}, ""},
		{"among what a query finds", search.FacetQuery{Facet: "genre", Query: search.Query{Q: "alpha"}}, "Drama=1, Fantasy=1, Science Fiction=1"},
		{"under a filter", search.FacetQuery{Facet: "genre", Query: search.Query{Filter: filter("year > 1998")}}, "Comédie dramatique=1, Drama=1, Science Fiction=1"},
		{"all words", search.FacetQuery{Facet: "genre", Query: search.Query{Q: "alpha beta", MatchingStrategy: settings.All}}, "Fantasy=1"},
		{"above a score", search.FacetQuery{Facet: "genre", Query: search.Query{Q: "alpha beta", RankingScoreThreshold: 0.9}}, "Fantasy=1"},
		{"page and limit say nothing", search.FacetQuery{Facet: "genre", Text: "fan", Query: search.Query{Limit: limit(0), Page: limit(9)}}, "Fantasy=1"},
	}
	// Of two ways of writing that are as frequent, either is shown.
	same := func(got, want string) bool { return strings.EqualFold(got, want) }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := r.svc.SearchFacet(context.Background(), auth.Everyone(), "a", tt.q)
			if err != nil {
				t.Fatal(err)
			}
			if got := facetValues(res.Values); !same(got, tt.want) {
				t.Errorf("found %s, want %s", got, tt.want)
			}
		})
	}
	r.settings("a", `{"faceting":{"maxValuesPerFacet":2,"sortFacetValuesBy":{"genre":"count"}}}`)
	res, err := r.svc.SearchFacet(context.Background(), auth.Everyone(), "a", search.FacetQuery{Facet: "genre"})
	if err != nil || !same(facetValues(res.Values), "science fiction=2, drama=2") {
		t.Errorf("by count, at most two: %v, %v", res, err)
	}
	for _, tt := range []struct {
		index string
		q     search.FacetQuery
		code  apierr.Code
	}{
		{"a", search.FacetQuery{Facet: "title"}, searcherr.InvalidFacetName},
		{"a", search.FacetQuery{Facet: "quiet"}, searcherr.InvalidFacetName},
		{"a", search.FacetQuery{Facet: "genre", Query: search.Query{Filter: filter("x =")}}, searcherr.InvalidSearchFilter},
		{"b", search.FacetQuery{Facet: "genre"}, searcherr.FacetSearchDisabled},
		{"c", search.FacetQuery{Facet: "genre"}, indexerr.IndexNotFound},
	} {
		_, err := r.svc.SearchFacet(context.Background(), auth.Everyone(), tt.index, tt.q)
		wantCode(t, fmt.Sprintf("%s %+v", tt.index, tt.q), err, tt.code)
	}
	r.settings("a", `{"displayedAttributes":["id"]}`)
	_, err = r.svc.SearchFacet(context.Background(), auth.Everyone(), "a", search.FacetQuery{Facet: "genre"})
	wantCode(t, "values of a hidden attribute", err, searcherr.InvalidFacetName)
}

// As many searches run and wait as the options say; the next is told to come
// again, and one that gave up waiting leaves its place.
func TestSearchQueueHammer(t *testing.T) {
	r := newRig(t)
	r.add("a", books)
	r.close()
	r.running, r.waiting = 1, 2
	r.open()
	ctx := t.Context()
	leave, err := r.svc.Enter(ctx)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		n   int
		err error
	}
	answers := make(chan answer)
	search1 := func(ctx context.Context) {
		res, err := r.svc.Search(ctx, auth.Everyone(), "a", search.Query{Q: "solaris"})
		if err != nil {
			answers <- answer{0, err}
			return
		}
		answers <- answer{len(res.Hits), nil}
	}
	impatient, giveUp := context.WithCancel(ctx)
	defer giveUp()
	go search1(ctx)
	go search1(impatient)
	waitFor(t, "two searches to wait", func() bool { return r.svc.Waiting() == 2 })
	_, err = r.svc.Search(ctx, auth.Everyone(), "a", search.Query{})
	wantCode(t, "a search too many", err, searcherr.TooManySearchRequests)
	if e := apierr.From(err); e.RetryAfter < time.Second {
		t.Errorf("retry after %v, want a second at least", e.RetryAfter)
	}
	giveUp()
	if a := <-answers; a.err == nil {
		t.Error("a search whose caller left was answered")
	}
	go search1(ctx)
	waitFor(t, "its place to be taken", func() bool { return r.svc.Waiting() == 2 })
	leave()
	for range 2 {
		if a := <-answers; a.err != nil || a.n != 1 {
			t.Errorf("a search that waited found %d hits, %v; want 1", a.n, a.err)
		}
	}
	if n := r.svc.Waiting(); n != 0 {
		t.Errorf("%d searches wait though none does", n)
	}
}

// waitFor waits until it is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	waittest.For(t, what, so)
}
