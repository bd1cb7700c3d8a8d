package federate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestJoinFilters makes one filter of several, all of which must hold.
func TestJoinFilters(t *testing.T) {
	for _, tt := range []struct {
		filters []string
		want    string // "": an error
	}{
		{[]string{`"a = 1"`, `["b = 2", ["c = 3", "d = 4"]]`}, `["a = 1","b = 2",["c = 3","d = 4"]]`},
		{[]string{`null`, ``, `"a = 1 OR b = 2"`}, `["a = 1 OR b = 2"]`},
		{[]string{`""`, `[]`}, `null`},
		{[]string{`"a ="`}, ""},
	} {
		var raw []json.RawMessage
		for _, f := range tt.filters {
			raw = append(raw, json.RawMessage(f))
		}
		got, err := joinFilters(raw...)
		if (err != nil) != (tt.want == "") || err == nil && string(got) != tt.want && (got != nil || tt.want != "null") {
			t.Errorf("%q: %s, %v, want %s", tt.filters, got, err, tt.want)
		}
	}
}

// TestPage cuts a page out of a list, wherever it lies.
func TestPage(t *testing.T) {
	list := []int{1, 2, 3}
	for _, tt := range []struct {
		offset, limit int
		want          []int
	}{{0, 2, []int{1, 2}}, {2, 5, []int{3}}, {3, 1, nil}, {9, 1, nil}, {0, 0, nil}} {
		if got := page(list, tt.offset, tt.limit); !slices.Equal(got, tt.want) {
			t.Errorf("from %d, at most %d: %v, want %v", tt.offset, tt.limit, got, tt.want)
		}
	}
}

// TestCheckQueries names the query that is wrong.
func TestCheckQueries(t *testing.T) {
	good := Query{}
	good.IndexUID = "books"
	bad := Query{}
	bad.IndexUID = "a b"
	if err := checkQueries([]Query{good}); err != nil {
		t.Error(err)
	}
	for want, list := range map[string][]Query{
		"`queries[1].indexUid` is missing": {good, {}},
		"`queries[1]`: `a b`":              {good, bad},
		"at most":                          slices.Repeat([]Query{good}, maxQueries+1),
	} {
		if err := checkQueries(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d queries: %v, want %q", len(list), err, want)
		}
	}
}

// TestReadRemote takes the answer of another host as little on trust as a request.
func TestReadRemote(t *testing.T) {
	for body, want := range map[string]string{
		`[]`:                                  "shape",
		`{"hits":null}`:                       "shape",
		`{"hits":[],"estimatedTotalHits":-1}`: "fewer",
		`{"hits":[{"id":1}]}`:                 "hit 0",
		`{"hits":[{"id":1,"_federation":{"queriesPosition":7}}]}`:                 "hit 0",
		`{"hits":[],"facetsByIndex":{"b":{"distribution":{"c":{"red":"many"}}}}}`: "not a number",
	} {
		if a, err := readRemote([]byte(body), []int{0, 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", body, a, err, want)
		}
	}
	for body, want := range map[string]string{`{"code":"index_not_found"}`: ", index_not_found", `{"code":"<b>"}`: "", `no`: "", `{"code":"` + strings.Repeat("a", 65) + `"}`: ""} {
		if got := remoteCode([]byte(body)); got != want {
			t.Errorf("the code of %s is %q, want %q", body, got, want)
		}
	}
}
