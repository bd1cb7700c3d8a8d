package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
)

// TestFilterSameFromFolderAndDocument asks random filters of the folder and of
// the documents themselves; the answers must be the same.
func TestFilterSameFromFolderAndDocument(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(5, 6))
	values := []string{`1`, `2`, `2.0`, `-3.5`, `1e3`, `"1"`, `"red"`, `"RED"`, `"réd"`, `"dark red"`, `""`, `null`, `[]`, `{}`, `true`, `false`, `[1,"red",null]`, `[{"c":1},{"c":"x"}]`, `{"c":2,"d":null}`, `[[1],[]]`, `1e400`, `"a\u0000b"`}
	geo := func() string {
		return fmt.Sprintf(`{"lat":%d,"lng":%d}`, rng.IntN(181)-90, rng.IntN(361)-180)
	}
	r.settings("a", `{"filterableAttributes":["p","q","_geo","_geojson"]}`)
	for range 4 { // several segments
		first := rng.IntN(250)
		r.add("a", docsJSON(first, 60, func(int) string {
			s := fmt.Sprintf(`"p":%s,"q":%s`, values[rng.IntN(len(values))], values[rng.IntN(len(values))])
			if rng.IntN(2) == 0 {
				s += `,"_geo":` + geo()
			}
			return s
		}))
		r.ok(write.DeleteDocuments("a", []string{fmt.Sprint(first), fmt.Sprint(first + 7)}))
	}
	attr := func() string { return []string{"p", "q", "p.c", "q.c", "p.d"}[rng.IntN(5)] }
	value := func() string {
		return []string{"1", "2", "2.0", "red", "'dark red'", "''", "true", "x", "1000", "-3.5", "'a b'"}[rng.IntN(11)]
	}
	var expression func(depth int) string
	expression = func(depth int) string {
		if depth > 0 {
			switch rng.IntN(4) {
			case 0:
				return "(" + expression(depth-1) + ") AND (" + expression(depth-1) + ")"
			case 1:
				return "(" + expression(depth-1) + ") OR (" + expression(depth-1) + ")"
			case 2:
				return "NOT (" + expression(depth-1) + ")"
			}
		}
		switch rng.IntN(13) {
		case 11:
			return fmt.Sprintf("%s %s %s", attr(), []string{">", ">=", "<", "<="}[rng.IntN(4)], value())
		case 12:
			return attr() + " " + value() + " TO " + value()
		case 0:
			return attr() + " = " + value()
		case 1:
			return attr() + " != " + value()
		case 2:
			return fmt.Sprintf("%s %s %d", attr(), []string{">", ">=", "<", "<="}[rng.IntN(4)], rng.IntN(4)-1)
		case 3:
			return fmt.Sprintf("%s %d TO %d", attr(), rng.IntN(4)-4, rng.IntN(1200))
		case 4:
			return attr() + " IN [" + value() + ", " + value() + "]"
		case 5:
			return attr() + " EXISTS"
		case 6:
			return attr() + " IS NULL"
		case 7:
			return attr() + " IS EMPTY"
		case 8:
			return attr() + " CONTAINS re"
		case 9:
			return attr() + " STARTS WITH re"
		}
		switch rng.IntN(3) {
		case 0:
			corners := ""
			for range 3 + rng.IntN(4) {
				corners += fmt.Sprintf(", [%d, %d]", rng.IntN(181)-90, rng.IntN(361)-180)
			}
			return "_geoPolygon(" + corners[2:] + ")"
		case 1:
			return fmt.Sprintf("_geoRadius(%d, %d, %d)", rng.IntN(181)-90, rng.IntN(361)-180, rng.IntN(12_000_000))
		}
		return fmt.Sprintf("_geoBoundingBox([%d, %d], [%d, %d])", rng.IntN(91), rng.IntN(361)-180, rng.IntN(91)-90, rng.IntN(361)-180)
	}
	found := 0
	for range 2000 {
		e := expression(rng.IntN(3))
		fromFolder := strings.Fields(r.ids("a", search.Query{Filter: filter(e), Limit: limit(1000)}))
		page, err := listDocuments(r.svc, context.Background(), auth.Everyone(), "a", search.DocumentsQuery{Filter: filter(e), Limit: limit(1000)})
		if err != nil {
			t.Fatal(err)
		}
		var fromDocs []string
		for _, d := range page.Documents {
			id, _, _ := strings.Cut(strings.TrimPrefix(string(d), `{"id":`), ",")
			fromDocs = append(fromDocs, id)
		}
		slices.Sort(fromFolder)
		slices.Sort(fromDocs)
		found += len(fromDocs)
		if !slices.Equal(fromFolder, fromDocs) {
			t.Fatalf("%s\nfolder    %v\ndocuments %v", e, fromFolder, fromDocs)
		}
	}
	if found < 1000 {
		t.Errorf("only %d documents were let through by 2000 filters", found)
	}
}

// TestFilterTextOrder wants texts in the order of their facet keys, where numbers stand
// in their own, and STARTS WITH and CONTAINS to find texts alone, as in Meilisearch.
func TestFilterTextOrder(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["p"]}`)
	r.add("a", `[{"id":1,"p":"apple"},{"id":2,"p":"Banana"},{"id":3,"p":["cherry","quince"]},{"id":4,"p":12},{"id":5,"p":"12"},{"id":6,"p":[3,"fig"]},{"id":7,"p":true},{"id":8,"p":null}]`)
	for f, want := range map[string]string{
		"p > banana":       "3 6 7",
		"p >= banana":      "2 3 6 7",
		"p < banana":       "1 5",
		"p <= 'BANANA'":    "1 2 5",
		"p b TO d":         "2 3",
		"p 1 TO 2":         "5", // numbers from 1 to 2, texts from "1" to "2"
		"p > 3":            "1 2 3 4 6 7",
		"p < 3":            "5",
		"p STARTS WITH 1":  "5",
		"p STARTS WITH ''": "1 2 3 4 5 6 7 8",
		"p CONTAINS r":     "3 7",
		"p CONTAINS 2":     "5",
	} {
		if got := r.ids("a", search.Query{Filter: filter(f)}); got != want {
			t.Errorf("%s: found %q, want %q", f, got, want)
		}
	}
}

func TestGeoFilter(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["_geo"]}`)
	polygon := search.Query{Filter: filter(`_geoPolygon([48, 2], [50, 2], [50, 3], [48, 3])`)}
	if _, err := r.svc.Search(t.Context(), auth.Everyone(), "a", polygon); !apierr.Is(err, searcherr.InvalidSearchFilter) || !strings.Contains(err.Error(), "`_geojson` at column 1 is not filterable") {
		t.Errorf("a polygon without _geojson: %v, want it refused", err)
	}
	r.settings("a", `{"filterableAttributes":["_geo","_geojson"]}`)
	r.add("a", `[{"id":"paris","_geo":{"lat":48.8566,"lng":2.3522}},{"id":"london","_geo":{"lat":51.5074,"lng":-0.1278}},
		{"id":"suva","_geo":{"lat":-18.1416,"lng":178.4419}},{"id":"apia","_geo":{"lat":-13.8333,"lng":-171.7667}},{"id":"nowhere"}]`)
	for f, want := range map[string]string{
		`_geoRadius(48.85, 2.35, 10000)`:                  "paris",
		`_geoRadius(48.85, 2.35, 345000)`:                 "paris london",
		`_geoRadius(48.85, 2.35, 340000)`:                 "paris",
		`_geoRadius(-16, 179.9, 1000000)`:                 "suva apia",
		`_geoRadius(90, 0, 5000000)`:                      "paris london",
		`_geoRadius(0, 0, 21000000)`:                      "paris london suva apia",
		`_geoRadius(48.85, 2.35, 10000, 125)`:             "paris",
		`_geoBoundingBox([50, 3], [48, 2])`:               "paris",
		`_geoPolygon([48, 2], [50, 2], [50, 3], [48, 3])`: "paris",
		`_geoPolygon([50, 3], [48, 3], [48, 2], [50, 2])`: "paris",
		`_geoPolygon([52, -1], [48, 2], [50, 3])`:         "paris london",
		// Two triangles that meet at a corner: what lies between them is outside.
		`_geoPolygon([52, -1], [52, 1], [48, 2], [48, 3])`:                                      "london",
		`_geoPolygon([48.8566, 2.3522], [48.8566, 9], [40, 9])`:                                 "paris",
		`_geoPolygon([52, -1], [40, -1], [40, 9], [52, 9], [52, 3], [45, 3], [45, 1], [52, 1])`: "london",
		`NOT _geoPolygon([52, -1], [40, -1], [40, 9], [52, 9])`:                                 "suva apia nowhere",
		`_geoBoundingBox([-10, -170], [-20, 170])`:                                              "suva apia",
		`NOT _geoBoundingBox([90, 180], [-90, -180])`:                                           "nowhere",
		`_geoRadius(48.85, 2.35, 10000) OR '_geo' NOT EXISTS`:                                   "paris nowhere",
	} {
		if got := r.ids("a", search.Query{Filter: filter(f)}); got != want {
			t.Errorf("%s found %q, want %q", f, got, want)
		}
	}
}
