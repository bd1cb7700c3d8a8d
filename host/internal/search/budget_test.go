package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/highlight"
)

// asJSON writes v, which is of strings and lists of them.
func asJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// A request has one budget of conditions, however it spreads them.
func TestHostileFilterConditions(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["n"]}`)
	r.add("a", docsJSON(0, 3, func(i int) string { return fmt.Sprintf(`"n":%d`, i) }))
	conditions := func(n int) string { return strings.TrimSuffix(strings.Repeat("n = 1 OR ", n), " OR ") }
	values := func(n int) string { return "n IN [" + strings.Repeat("1,", n) + "]" }
	list := func(n int, s string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = s
		}
		return out
	}
	everyone := auth.Everyone()
	ruled := tenant(t, `{"*":{"filter":`+string(asJSON(conditions(100)))+`}}`)
	one := func(caller *auth.Caller, filters ...json.RawMessage) func() error {
		return func() error {
			_, err := r.svc.Search(context.Background(), caller, "a", search.Query{Filter: filters[0]})
			return err
		}
	}
	queries := func(filters ...json.RawMessage) []federate.Query {
		var out []federate.Query
		for _, f := range filters {
			out = append(out, federate.Query{IndexUID: "a", Query: search.Query{Filter: f}})
		}
		return out
	}
	multi := func(caller *auth.Caller, filters ...json.RawMessage) func() error {
		return func() error {
			_, err := multiSearch(r.federate(), context.Background(), caller, queries(filters...))
			return err
		}
	}
	federated := func(caller *auth.Caller, filters ...json.RawMessage) func() error {
		return func() error {
			_, err := r.federate().FederatedSearch(context.Background(), caller, federate.Federation{}, queries(filters...))
			return err
		}
	}
	half := asJSON(conditions(5000))
	var hundred []json.RawMessage
	for range 100 {
		hundred = append(hundred, asJSON("n = 1"))
	}
	for name, tt := range map[string]struct {
		search func() error
		fits   bool
	}{
		"a string":                         {one(everyone, asJSON(conditions(10_000))), true},
		"a string of more":                 {one(everyone, asJSON(conditions(10_001))), false},
		"an array":                         {one(everyone, asJSON(list(100, conditions(100)))), true},
		"an array of more":                 {one(everyone, asJSON(list(100, conditions(101)))), false},
		"100 strings of 9000":              {one(everyone, asJSON(list(100, conditions(9000)))), false},
		"an array in an array":             {one(everyone, asJSON([][]string{list(100, conditions(9000))})), false},
		"values":                           {one(everyone, asJSON(values(10_000))), true},
		"values of more":                   {one(everyone, asJSON(list(2, values(5001)))), false},
		"negations":                        {one(everyone, asJSON(list(101, strings.Repeat("NOT ", 99)+"n = 1"))), false},
		"some negations":                   {one(everyone, asJSON(list(100, strings.Repeat("NOT ", 99)+"n = 1"))), true},
		"queries":                          {multi(everyone, half, half), true},
		"queries of more":                  {multi(everyone, half, half, asJSON("n = 1")), false},
		"a federation":                     {federated(everyone, half, half), true},
		"a federation of more":             {federated(everyone, half, half, asJSON("n = 1")), false},
		"a rule":                           {one(ruled, asJSON(conditions(9900))), true},
		"a rule and more":                  {one(ruled, asJSON(conditions(9901))), false},
		"a rule for each query":            {multi(ruled, hundred...), false},
		"a rule for each of a federation":  {federated(ruled, hundred...), false},
		"a rule for some of a federation":  {federated(ruled, hundred[:90]...), true},
		"a rule for some of those queries": {multi(ruled, hundred[:90]...), true},
	} {
		err := tt.search()
		if tt.fits {
			if err != nil {
				t.Errorf("%s: %.200v, want it to be answered", name, err)
			}
			continue
		}
		wantCode(t, name, err, searcherr.InvalidSearchFilter)
		if !strings.Contains(fmt.Sprint(err), "more than 10000 conditions") {
			t.Errorf("%s: error %.200v, want that there are more than 10000 conditions", name, err)
		}
	}
}

// The time of a search bounds its filters and facets, and that of a federation or of a list of
// searches all of its queries.
func TestHostileCutoff(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["text","id"]}`)
	r.add("a", docsJSON(0, 3000, func(i int) string { return fmt.Sprintf(`"text":"one w%d"`, i) }))
	ctx, everyone := context.Background(), auth.Everyone()
	slow := search.Query{Filter: filter("text CONTAINS w99")}
	if res := r.search("a", slow); res.EstimatedTotalHits == 0 || res.Degraded {
		t.Fatalf("with time enough %d documents, degraded %v; want some, not degraded", res.EstimatedTotalHits, res.Degraded)
	}
	r.close()
	r.cutoff = time.Nanosecond
	r.open()

	_, err := r.svc.Search(ctx, everyone, "a", slow)
	wantCode(t, "filter", err, searcherr.InvalidSearchFilter)
	_, err = r.federate().FederatedSearch(ctx, everyone, federate.Federation{}, []federate.Query{{IndexUID: "a", Query: slow}})
	wantCode(t, "filter in a federation", err, searcherr.InvalidSearchFilter)

	res := r.search("a", search.Query{Facets: []string{"id", "text"}})
	if !res.Degraded || len(res.Facets) != 0 || len(res.Hits) != 20 {
		t.Errorf("degraded %v with %d facets and %d hits; want degraded, none and 20", res.Degraded, len(res.Facets), len(res.Hits))
	}
	_, err = r.svc.SearchFacet(ctx, everyone, "a", search.FacetQuery{Facet: "text"})
	wantCode(t, "facet search", err, searcherr.InvalidFacetQuery)

	two := []federate.Query{{IndexUID: "a"}, {IndexUID: "a"}}
	_, err = multiSearch(r.federate(), ctx, everyone, two)
	wantCode(t, "a query for which those before left no time", err, apierr.BadRequest)
	if !strings.Contains(fmt.Sprint(err), "`queries[1]`") {
		t.Errorf("error %v, want it to name the second query", err)
	}

	queries := make([]federate.Query, 50)
	for i := range queries {
		queries[i] = federate.Query{IndexUID: "a", Query: search.Query{Q: fmt.Sprintf("w%d", i)}}
	}
	f, err := r.federate().FederatedSearch(ctx, everyone, federate.Federation{FacetsByIndex: map[string][]string{"a": {"id", "text"}}}, queries)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range f.Hits {
		if h.Query != 0 {
			t.Fatalf("query %d was asked after the time was up", h.Query)
		}
	}
	if !f.Degraded || len(f.Hits) == 0 {
		t.Errorf("degraded %v with %d hits of the first query; want degraded, and some", f.Degraded, len(f.Hits))
	}
}

// Of a query without end nothing is kept or shown but the beginning.
func TestHostileQueryText(t *testing.T) {
	r := newRig(t)
	r.add("a", books)
	res := r.search("a", search.Query{Q: "solaris " + strings.Repeat("é", 1<<20)})
	if n := len(res.Query); n > 8<<10 || !strings.HasPrefix(res.Query, "solaris éé") {
		t.Errorf("a query of two megabytes is shown with %d bytes, %.20q; want its first 8 KiB", n, res.Query)
	}
	if !strings.HasSuffix(res.Query, "é") {
		t.Errorf("the query shown ends in the middle of a character: %q", res.Query[len(res.Query)-4:])
	}
}

// TestSearchEndsWithContext: each way to search ends with what its context ended with.
func TestSearchEndsWithContext(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["*"],"embedders":{"e":{"source":"userProvided","dimensions":2}}}`)
	r.add("a", `[{"id":1,"text":"one","_vectors":{"e":[1,2]}}]`)
	left := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	everyone := auth.Everyone()
	q := search.Query{Q: "one", Filter: filter("id = 1"), Facets: []string{"id"}, Format: highlight.Format{Highlight: []string{"*"}}}
	plain := q
	plain.Facets = nil
	for name, ask := range map[string]func() error{
		"search":   func() error { _, err := r.svc.Search(ctx, everyone, "a", q); return err },
		"passages": func() error { _, err := r.svc.Passages(ctx, everyone, "a", plain, 0); return err },
		"facet search": func() error {
			_, err := r.svc.SearchFacet(ctx, everyone, "a", search.FacetQuery{Facet: "id"})
			return err
		},
		"similar": func() error {
			_, err := r.svc.Similar(ctx, everyone, "a", search.SimilarQuery{ID: "1", Embedder: "e"})
			return err
		},
		"multi-search": func() error {
			_, err := multiSearch(r.federate(), ctx, everyone, []federate.Query{{IndexUID: "a", Query: q}})
			return err
		},
		"federation": func() error {
			_, err := r.federate().FederatedSearch(ctx, everyone, federate.Federation{}, []federate.Query{{IndexUID: "a", Query: plain}})
			return err
		},
	} {
		if err := ask(); !errors.Is(err, left) {
			t.Errorf("%s: error %v, want %v", name, err, left)
		}
	}
}

// multiSearch is [federate.Service.MultiSearch] with its results in a list.
func multiSearch(s *federate.Service, ctx context.Context, caller *auth.Caller, queries []federate.Query) (list []*search.Result, err error) {
	err = s.MultiSearch(ctx, caller, queries, func(int) func(*search.Result) error {
		return func(res *search.Result) error {
			list = append(list, res)
			return nil
		}
	})
	return list, err
}
