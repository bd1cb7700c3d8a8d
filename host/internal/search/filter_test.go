package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/search"
)

func TestFilterErrorsNameColumnAndExpectation(t *testing.T) {
	tests := []struct{ filter, want string }{
		{`year`, "the filter ends at column 5; expected an operator: = != > >= < <= TO IN EXISTS IS NULL IS EMPTY"},
		{`year =`, "the filter ends at column 7; expected a value"},
		{`year = 1 OR`, "the filter ends at column 12; expected an attribute, NOT or ("},
		{`year = 1 year = 2`, "found `year` at column 10; expected AND, OR or the end of the filter"},
		{`(year = 1`, "the filter ends at column 10; expected AND, OR or )"},
		{`year > x`, "found `x` at column 8; expected a number"},
		{`year > NaN`, "found `NaN` at column 8; expected a number"},
		{`year 1 2`, "found `2` at column 8; expected TO"},
		{`year 1 TO`, "the filter ends at column 10; expected a number"},
		{`year IN 1`, "found `1` at column 9; expected [ after IN"},
		{`year IN [1 2]`, "found `2` at column 12; expected a comma or ]"},
		{`year IN [1,`, "the filter ends at column 12; expected a value or ]"},
		{`year NOT = 1`, "found `=` at column 10; expected EXISTS, IN, CONTAINS or STARTS WITH after NOT"},
		{`year IS 1`, "found `1` at column 9; expected NULL or EMPTY"},
		{`é = 'abc`, "the text that begins with ' at column 5 has no end; expected a closing '"},
		{`year ! 1`, "a single ! at column 6; expected !=, or NOT before a condition"},
		{`AND = 1`, "found `AND` at column 1; expected an attribute, NOT or ("},
		{`x CONTAINS y`, "`CONTAINS` at column 3 needs the feature `containsFilter`, which is off: switch it on by PATCH /experimental-features with {\"containsFilter\": true}"},
		{`x STARTS WITH y`, "`STARTS` at column 3 needs the feature `containsFilter`, which is off: switch it on by PATCH /experimental-features with {\"containsFilter\": true}"},
		{`_geoRadius(1, 2)`, "found `)` at column 16; expected , as in _geoRadius(latitude, longitude, metres)"},
		{`_geoRadius(91, 2, 3)`, "latitude 91 of the condition at column 1; expected -90 to 90"},
		{`_geoBoundingBox([1, 200], [0, 0])`, "longitude 200 of the condition at column 1; expected -180 to 180"},
		{`_geoRadius(1, 2, -3)`, "distance -3 of the condition at column 1; expected metres, zero or more"},
		{`_geo = 1`, "`_geo` at column 1 is reserved: ask where documents are by _geoRadius(latitude, longitude, metres) or _geoBoundingBox([latitude, longitude], [latitude, longitude]), and whether they say it by '_geo' EXISTS"},
		{strings.Repeat("(", 300) + "a=1" + strings.Repeat(")", 300), "found `(` at column 201; expected at most 200 levels of parentheses and NOT"},
	}
	for _, tt := range tests {
		if err := search.ParseExpression(tt.filter); err == nil || err.Error() != tt.want {
			t.Errorf("%.60s\n got %v\nwant %s", tt.filter, err, tt.want)
		}
	}
	for raw, want := range map[string]string{
		`7`:                 "the filter is a number",
		`["a=1", 7]`:        "filter[1] is a number; expected a string",
		`["a=1", ["b", 1]]`: "filter[1][0]: the filter ends",
		`[["a=1", ["b"]]]`:  "filter[0][1] is an array; expected a string",
	} {
		if _, err := search.ParseFilter([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
}

// The words about places that are no condition are refused wherever they stand,
// and are like other words in quotes.
func TestFilterReserves(t *testing.T) {
	for _, word := range []string{"_geo", "_geoPoint", "_geoDistance"} {
		for _, f := range []string{"%s != 1", "%s > 1", "%s 1 TO 2", "%s IN [1]", "%s NOT IN [1]", "%s EXISTS", "%s NOT EXISTS", "%s IS NULL", "%s IS NOT EMPTY", "%s(1, 2)", "%s", "NOT (a = 1 AND %s = 2)", "a = %s", "a IN [%s]"} {
			f = fmt.Sprintf(f, word)
			if err := search.ParseExpression(f); err == nil || !strings.Contains(err.Error(), "`"+word+"` at column ") || !strings.Contains(err.Error(), "is reserved") {
				t.Errorf("%s: error %v, want that %s is reserved", f, err, word)
			}
		}
		for _, f := range []string{"'%s' EXISTS", `"%s" = 1`, "a = '%s'", "%s.lat > 1", "x%s = 1"} {
			if f = fmt.Sprintf(f, word); search.ParseExpression(f) != nil {
				t.Errorf("%s: %v, want it to be taken", f, search.ParseExpression(f))
			}
		}
	}
}

func TestFilterParses(t *testing.T) {
	same := [][]string{
		{`"a=1 AND b=2 AND c=3"`, `["a = 1", "b=2", "c=3"]`},
		{`"a=1 OR b=2"`, `[["a=1","b=2"]]`},
		{`"a=1 AND (b=2 OR c=3)"`, `["a=1", ["b=2","c=3"]]`},
		{`"(((a=1)))"`, `["a=1"]`, `[["a=1"]]`, `"\n a\t=1 "`},
		{`""`, `null`, `[]`, `[[]]`, `[" ", []]`, `  `},
		{`"'a b' = 'it\\'s'"`, `"\"a b\" = \"it's\""`},
		{`"a NOT IN [1, 2,]"`, `"NOT a IN [1,2]"`},
	}
	for _, group := range same {
		first, err := search.ParseFilter([]byte(group[0]))
		if err != nil {
			t.Errorf("%s: %v", group[0], err)
		}
		for _, other := range group[1:] {
			if got, err := search.ParseFilter([]byte(other)); err != nil || len(got) == 0 != (len(first) == 0) {
				t.Errorf("%s is %s, %v; %s is %s", group[0], first, err, other, got)
			}
		}
	}
}

// FuzzFilter feeds anything to the parser: it must neither panic nor take a
// filter whose canonical form differs when parsed again.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{
		`a = 1`, `a != 'b c' AND NOT (d EXISTS OR e IS NOT NULL)`, `x 1 TO 2`, `y NOT IN ["a", b]`, `_geoRadius(1,2,3)`,
		`_geoBoundingBox([1,2],[3,4])`, `q CONTAINS r`, `q NOT STARTS WITH "\""`, `((((`, "a\x00=é", `'`, `NOT NOT a = AND`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		first, err := search.ParseFilter(raw)
		if err != nil {
			if !strings.Contains(err.Error(), "column") && !strings.Contains(err.Error(), "conditions") {
				t.Errorf("error without a column: %v", err)
			}
			return
		}
		inArray, err := search.ParseFilter([]byte("[[" + string(raw) + "]]"))
		if err != nil || inArray != first {
			t.Errorf("%q is %s, in an array %s, %v", s, first, inArray, err)
		}
	})
}

// TestFilterSameFromFolderAndDocument asks random filters of the folder and of
// the documents themselves; the answers must be the same.
func TestFilterSameFromFolderAndDocument(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(5, 6))
	values := []string{`1`, `2`, `2.0`, `-3.5`, `1e3`, `"1"`, `"red"`, `"RED"`, `"réd"`, `"dark red"`, `""`, `null`, `[]`, `{}`, `true`, `false`, `[1,"red",null]`, `[{"c":1},{"c":"x"}]`, `{"c":2,"d":null}`, `[[1],[]]`, `1e400`, `"a\u0000b"`}
	geo := func() string {
		return fmt.Sprintf(`{"lat":%d,"lng":%d}`, rng.IntN(181)-90, rng.IntN(361)-180)
	}
	r.settings("a", `{"filterableAttributes":["p","q","_geo"]}`)
	for range 4 { // several segments
		first := rng.IntN(250)
		r.add("a", docsJSON(first, 60, func(int) string {
			s := fmt.Sprintf(`"p":%s,"q":%s`, values[rng.IntN(len(values))], values[rng.IntN(len(values))])
			if rng.IntN(2) == 0 {
				s += `,"_geo":` + geo()
			}
			return s
		}))
		r.ok(search.DeleteDocuments("a", []string{fmt.Sprint(first), fmt.Sprint(first + 7)}))
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
		switch rng.IntN(11) {
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
		if rng.IntN(2) == 0 {
			return fmt.Sprintf("_geoRadius(%d, %d, %d)", rng.IntN(181)-90, rng.IntN(361)-180, rng.IntN(12_000_000))
		}
		return fmt.Sprintf("_geoBoundingBox([%d, %d], [%d, %d])", rng.IntN(91), rng.IntN(361)-180, rng.IntN(91)-90, rng.IntN(361)-180)
	}
	found := 0
	for range 2000 {
		e := expression(rng.IntN(3))
		fromFolder := strings.Fields(r.ids("a", search.Query{Filter: filter(e), Limit: limit(1000)}))
		page, err := r.svc.Documents(context.Background(), auth.Everyone(), "a", search.DocumentsQuery{Filter: filter(e), Limit: limit(1000)})
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

func TestGeoFilter(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["_geo"]}`)
	r.add("a", `[{"id":"paris","_geo":{"lat":48.8566,"lng":2.3522}},{"id":"london","_geo":{"lat":51.5074,"lng":-0.1278}},
		{"id":"suva","_geo":{"lat":-18.1416,"lng":178.4419}},{"id":"apia","_geo":{"lat":-13.8333,"lng":-171.7667}},{"id":"nowhere"}]`)
	for f, want := range map[string]string{
		`_geoRadius(48.85, 2.35, 10000)`:                      "paris",
		`_geoRadius(48.85, 2.35, 345000)`:                     "paris london",
		`_geoRadius(48.85, 2.35, 340000)`:                     "paris",
		`_geoRadius(-16, 179.9, 1000000)`:                     "suva apia",
		`_geoRadius(90, 0, 5000000)`:                          "paris london",
		`_geoRadius(0, 0, 21000000)`:                          "paris london suva apia",
		`_geoBoundingBox([50, 3], [48, 2])`:                   "paris",
		`_geoBoundingBox([-10, -170], [-20, 170])`:            "suva apia",
		`NOT _geoBoundingBox([90, 180], [-90, -180])`:         "nowhere",
		`_geoRadius(48.85, 2.35, 10000) OR '_geo' NOT EXISTS`: "paris nowhere",
	} {
		if got := r.ids("a", search.Query{Filter: filter(f)}); got != want {
			t.Errorf("%s found %q, want %q", f, got, want)
		}
	}
}
