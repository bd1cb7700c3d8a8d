package search_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
)

// What would make an answer out of all proportion is refused, and of a query
// without end the beginning is looked for.
func TestSearchBounds(t *testing.T) {
	r := newRig(t)
	r.add("a", books)
	many := make([]string, 1001)
	for i := range many {
		many[i] = "title"
	}
	long := strings.Repeat("x", 1001)
	for code, q := range map[apierr.Code]search.Query{
		apierr.InvalidSearchFacets:              {Facets: many},
		apierr.InvalidSearchAttributesRetrieve:  {AttributesToRetrieve: many},
		apierr.InvalidSearchAttributesHighlight: {Format: highlight.Format{Highlight: many}},
		apierr.InvalidSearchAttributesCrop:      {Format: highlight.Format{Crop: many}},
		apierr.InvalidSearchAttributesSearchOn:  {AttributesToSearchOn: many},
		apierr.InvalidSearchLocales:             {Locales: many},
		apierr.InvalidSearchSort:                {Sort: append(many, many...)},
		apierr.InvalidSearchCropMarker:          {Format: highlight.Format{CropMarker: &long}},
		apierr.InvalidSearchHighlightPreTag:     {Format: highlight.Format{PreTag: &long}},
		apierr.InvalidSearchHighlightPostTag:    {Format: highlight.Format{PostTag: &long}},
	} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", q)
		wantCode(t, code.String(), err, code)
	}
	if got := r.ids("a", search.Query{Q: "solaris " + strings.Repeat("- ", 1<<20)}); got != "3" {
		t.Errorf("a query of two megabytes found %q, want 3", got)
	}
	if got := r.ids("a", search.Query{Q: strings.Repeat("solaris ", 1<<18)}); got != "3" {
		t.Errorf("a word a quarter of a million times found %q, want 3", got)
	}
}

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
		want := 8
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
		if got := search.Apart(a, b); got != want {
			t.Fatalf("%v and %v are %d apart, want %d", a, b, got, want)
		}
	}
	many := places(1 << 16)
	if got := search.Apart(many, many); got != 1 {
		t.Errorf("words everywhere are %d apart, want 1", got)
	}
}
