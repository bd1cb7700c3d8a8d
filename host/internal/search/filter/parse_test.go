package filter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/filter"
)

// parse parses one expression, with CONTAINS off.
func parse(s string) error {
	raw, err := json.Marshal(s)
	if err == nil {
		_, err = filter.Parse(raw, false, nil)
	}
	return err
}

// canonical parses a filter of a request and writes it so that equal filters have
// equal texts.
func canonical(raw []byte) (string, error) {
	n, err := filter.Parse(raw, true, nil)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}

func TestFilterErrorsNameColumnAndExpectation(t *testing.T) {
	tests := []struct{ filter, want string }{
		{`year`, "the filter ends at column 5; expected an operator: = != > >= < <= TO IN EXISTS IS NULL IS EMPTY"},
		{`year =`, "the filter ends at column 7; expected a value"},
		{`year = 1 OR`, "the filter ends at column 12; expected an attribute, NOT or ("},
		{`year = 1 year = 2`, "found `year` at column 10; expected AND, OR or the end of the filter"},
		{`(year = 1`, "the filter ends at column 10; expected AND, OR or )"},
		{`year >`, "the filter ends at column 7; expected a value"},
		{`year 1 2`, "found `1` at column 6; expected an operator: = != > >= < <= TO IN EXISTS IS NULL IS EMPTY"},
		{`year 1 TO`, "the filter ends at column 10; expected a value"},
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
		{`a = 1 AND _geoBoundingBox([1, 20], [3, 0])`, "the top latitude 1 of the condition at column 11 is below the bottom one 3; the first corner is the north-eastern one"},
		{`_geoRadius(1, 2, -3)`, "distance -3 of the condition at column 1; expected metres, zero or more"},
		{`_geoRadius(1, 2, 3, 4.5)`, "resolution 4.5 of the condition at column 1; expected an integer from 3 to 1000"},
		{`_geoRadius(1, 2, 3, 2)`, "resolution 2 of the condition at column 1; expected an integer from 3 to 1000"},
		{`_geoRadius(1, 2, 3, 125, 6)`, "found `,` at column 24; expected ) as in _geoRadius(latitude, longitude, metres)"},
		{`_geoPolygon([1, 2], [3, 4])`, "found `)` at column 27; expected , as in _geoPolygon([latitude, longitude], [latitude, longitude], [latitude, longitude], …)"},
		{`_geoPolygon([1, 2], [3, 4], 5)`, "found `5` at column 29; expected [ as in _geoPolygon([latitude, longitude], [latitude, longitude], [latitude, longitude], …)"},
		{`_geoPolygon([1, 2], [3, 4], [5, 181])`, "longitude 181 of the condition at column 1; expected -180 to 180"},
		{`_geo = 1`, "`_geo` at column 1 is reserved: ask where documents are by _geoRadius(latitude, longitude, metres), _geoBoundingBox([latitude, longitude], [latitude, longitude]) or _geoPolygon([latitude, longitude], [latitude, longitude], [latitude, longitude], …), and whether they say it by '_geo' EXISTS"},
		{strings.Repeat("(", 300) + "a=1" + strings.Repeat(")", 300), "found `(` at column 201; expected at most 200 levels of parentheses and NOT"},
	}
	for _, tt := range tests {
		if err := parse(tt.filter); err == nil || err.Error() != tt.want {
			t.Errorf("%.60s\n got %v\nwant %s", tt.filter, err, tt.want)
		}
	}
	for raw, want := range map[string]string{
		`7`:                 "the filter is a number",
		`["a=1", 7]`:        "filter[1] is a number; expected a string",
		`["a=1", ["b", 1]]`: "filter[1][0]: the filter ends",
		`[["a=1", ["b"]]]`:  "filter[0][1] is an array; expected a string",
	} {
		if _, err := canonical([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
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
			if err := parse(f); err == nil || !strings.Contains(err.Error(), "`"+word+"` at column ") || !strings.Contains(err.Error(), "is reserved") {
				t.Errorf("%s: error %v, want that %s is reserved", f, err, word)
			}
		}
		for _, f := range []string{"'%s' EXISTS", `"%s" = 1`, "a = '%s'", "%s.lat > 1", "x%s = 1"} {
			if f = fmt.Sprintf(f, word); parse(f) != nil {
				t.Errorf("%s: %v, want it to be taken", f, parse(f))
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
		first, err := canonical([]byte(group[0]))
		if err != nil {
			t.Errorf("%s: %v", group[0], err)
		}
		for _, other := range group[1:] {
			if got, err := canonical([]byte(other)); err != nil || len(got) == 0 != (len(first) == 0) {
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
		`_geoBoundingBox([1,2],[3,4])`, `_geoPolygon([1,2],[3,4],[5,6])`, `_geoRadius(1,2,3,125)`, `q CONTAINS r`, `q NOT STARTS WITH "\""`, `((((`, "a\x00=é", `'`, `NOT NOT a = AND`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		first, err := canonical(raw)
		if err != nil {
			if !strings.Contains(err.Error(), "column") && !strings.Contains(err.Error(), "conditions") {
				t.Errorf("error without a column: %v", err)
			}
			return
		}
		inArray, err := canonical([]byte("[[" + string(raw) + "]]"))
		if err != nil || inArray != first {
			t.Errorf("%q is %s, in an array %s, %v", s, first, inArray, err)
		}
	})
}
