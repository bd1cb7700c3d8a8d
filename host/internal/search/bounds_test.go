package search_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
)

// What would make an answer out of all proportion is refused, and of a query
// without end the beginning is looked for.
//
//parley:option experimental-search-queue-size
func TestSearchBounds(t *testing.T) {
	r := newRig(t)
	r.add("a", books)
	many := make([]string, 1001)
	for i := range many {
		many[i] = "title"
	}
	long := strings.Repeat("x", 1001)
	for code, q := range map[apierr.Code]search.Query{
		searcherr.InvalidSearchFacets:              {Facets: many},
		searcherr.InvalidSearchAttributesRetrieve:  {AttributesToRetrieve: many},
		searcherr.InvalidSearchAttributesHighlight: {Format: highlight.Format{Highlight: many}},
		searcherr.InvalidSearchAttributesCrop:      {Format: highlight.Format{Crop: many}},
		searcherr.InvalidSearchAttributesSearchOn:  {AttributesToSearchOn: many},
		searcherr.InvalidSearchLocales:             {Locales: many},
		searcherr.InvalidSearchSort:                {Sort: append(many, many...)},
		searcherr.InvalidSearchCropMarker:          {Format: highlight.Format{CropMarker: &long}},
		searcherr.InvalidSearchHighlightPreTag:     {Format: highlight.Format{PreTag: &long}},
		searcherr.InvalidSearchHighlightPostTag:    {Format: highlight.Format{PostTag: &long}},
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
