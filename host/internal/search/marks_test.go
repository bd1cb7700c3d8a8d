package search_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2"

	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/write"
)

// marked are pairs of values that differ by marks, or by letters that only some
// write apart.
var marked = `[{"id":1,"n":"ano","x":"w"},{"id":2,"n":"año","x":"w"},{"id":3,"n":"Jose","x":"w"},{"id":4,"n":"José","x":"w"},{"id":5,"n":"がき","x":"w"},{"id":6,"n":"かき","x":"w"},
	{"id":7,"n":"е","x":"w"},{"id":8,"n":"ё","x":"w"},{"id":9,"n":"strasse","x":"w"},{"id":10,"n":"straße","x":"w"},{"id":11,"n":" AÑO ","x":"w"}]`

// wantMarked checks that filters, tenants' rules, distinct and facets tell the
// values of marked apart.
func wantMarked(t *testing.T, r *rig) {
	t.Helper()
	for value, want := range map[string]string{
		"ano": "1", "año": "2 11", "AÑO": "2 11", "Jose": "3", "josé": "4", "がき": "5", "かき": "6", "е": "7", "Ё": "8", "strasse": "9", "STRAßE": "10",
	} {
		for _, f := range []string{"n = '" + value + "'", "n IN ['" + value + "']"} {
			if got := r.ids("a", search.Query{Filter: filter(f)}); got != want {
				t.Errorf("%s found %q, want %q", f, got, want)
			}
		}
		rules := `{"a":{"filter":` + string(filter("n = '"+value+"'")) + `}}`
		res, err := r.svc.Search(t.Context(), tenant(t, rules), "a", search.Query{Facets: []string{"n"}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, h := range res.Hits {
			got = strings.TrimSpace(got + " " + h.ID)
		}
		if got != want || len(res.Facets) != 1 || len(res.Facets[0].Values) != 1 {
			t.Errorf("a tenant of %q sees %q and the facets %s, want %q and one facet", value, got, facetText(res.Facets), want)
		}
	}
	res := r.search("a", search.Query{Facets: []string{"n"}, Distinct: "n", Limit: limit(100)})
	if len(res.Hits) != 10 || len(res.Facets[0].Values) != 10 {
		t.Errorf("%d hits that are distinct, with the facets %s; want 10 of each", len(res.Hits), facetText(res.Facets))
	}
}

// TestMarks wants values that differ by marks to be different wherever whole
// values are compared. Words go on being found without.
func TestMarks(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["n"]}`)
	r.add("a", marked)
	wantMarked(t, r)
	if got := r.ids("a", search.Query{Q: "ano "}); got != "1 2 11" {
		t.Errorf("the word ano found %q, want 1 2 11", got)
	}
	r.ok(r.svc.DeleteByFilter("a", filter("n = ano")))
	if got := r.ids("a", search.Query{Q: "ano "}); got != "2 11" {
		t.Errorf("after deletion of n = ano there are %q, want 2 11", got)
	}
}

// TestOutdatedFolder opens a folder that says that it is of the layout before:
// it answers at once, takes a change, and is built anew.
func TestOutdatedFolder(t *testing.T) {
	r := newRig(t)
	r.damaged = true
	r.settings("a", `{"filterableAttributes":["n"]}`)
	r.add("a", strings.Replace(marked, `"id":11`, `"id":12`, 1))
	r.close()
	old := r.folder()
	idx, err := bleve.Open(old)
	mustDo(t, err)
	schema, err := idx.GetInternal([]byte("schema"))
	mustDo(t, err)
	today := fmt.Sprintf(`"Layout":%d`, bleveindex.LayoutVersion)
	before := strings.Replace(string(schema), today, `"Layout":3`, 1)
	if before == string(schema) {
		t.Fatalf("schema %s; want %s", schema, today)
	}
	mustDo(t, idx.SetInternal([]byte("schema"), []byte(before)), idx.Close())
	r.open()
	waittest.For(t, "the folder is built anew", func() bool {
		if got := r.ids("a", search.Query{Filter: filter("n = año")}); got != "2 12" {
			t.Fatalf("while it is built anew n = año found %q, want 2 12", got)
		}
		list, err := filepath.Glob(filepath.Join(r.folders(), "*"))
		return err == nil && !slices.Contains(list, old)
	})
	r.ok(write.DeleteDocuments("a", []string{"12"}))
	r.add("a", `{"id":11,"n":" AÑO ","x":"w"}`)
	wantMarked(t, r)
}
