package indexapi

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
)

// TestSplitSort keeps what parentheses hold together.
func TestSplitSort(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, "a:asc": {"a:asc"}, "a:asc, b:desc": {"a:asc", "b:desc"},
		"_geoPoint(48.8, 2.3):asc,a:desc": {"_geoPoint(48.8, 2.3):asc", "a:desc"},
	} {
		if got := splitSort(in); !slices.Equal(got, want) {
			t.Errorf("splitSort(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestReadFilter takes an array of JSON, and all else as one expression.
func TestReadFilter(t *testing.T) {
	for in, want := range map[string]string{`a = 1`: `"a = 1"`, ` ["a = 1"]`: ` ["a = 1"]`, `[a = 1]`: `"[a = 1]"`, `a = "x"`: `"a = \"x\""`} {
		if got := string(readFilter(request.Query{"filter": in})); got != want {
			t.Errorf("filter %s is %s, want %s", in, got, want)
		}
	}
	if got := readFilter(request.Query{}); got != nil {
		t.Errorf("no filter is %s", got)
	}
}

// TestURLSearch reads parameters, and keeps the first that is wrong.
func TestURLSearch(t *testing.T) {
	p := &urlSearch{Query: request.Query{"limit": "7", "vector": "1, -0.5", "facets": "a, b", "hybridEmbedder": "e", "hybridSemanticRatio": "0.25"}, codes: apierr.Fields{}}
	if n := p.integer("limit"); n == nil || *n != 7 {
		t.Errorf("limit is %v", n)
	}
	if v := p.vector(); !slices.Equal(v, []float32{1, -0.5}) {
		t.Errorf("vector is %v", v)
	}
	if names := p.names("facets"); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("facets are %q", names)
	}
	if h := p.hybrid(); h == nil || h.Embedder != "e" || h.Ratio() != 0.25 {
		t.Errorf("hybrid is %+v", h)
	}
	if p.integer("offset") != nil || p.text("q") != nil || p.err != nil {
		t.Errorf("what was not sent is there, or wrong: %v", p.err)
	}
	bad := &urlSearch{Query: request.Query{"vector": "1,NaN", "hybridSemanticRatio": "much"}, codes: apierr.Fields{}}
	bad.vector()
	bad.hybrid()
	if !apierr.Is(bad.err, searcherr.InvalidSearchVector) || !strings.Contains(bad.err.Error(), `"NaN"`) {
		t.Errorf("the error is %v, want the first one, which shows NaN", bad.err)
	}
}

// TestDocumentIDs takes strings and integers as they are written.
func TestDocumentIDs(t *testing.T) {
	raw := func(list ...string) (out []json.RawMessage) {
		for _, s := range list {
			out = append(out, json.RawMessage(s))
		}
		return out
	}
	if got, err := documentIDs(raw(`"a"`, `12345678901234567890`), searcherr.InvalidSearchVector); err != nil || !slices.Equal(got, []string{"a", "12345678901234567890"}) {
		t.Errorf("ids are %q, %v", got, err)
	}
	for _, bad := range []string{`null`, `true`, `[1]`, `{}`} {
		if got, err := documentIDs(raw(`"a"`, bad), searcherr.InvalidSearchVector); err == nil || !strings.Contains(err.Error(), "position 1") {
			t.Errorf("id %s: %q, %v, want an error that says which", bad, got, err)
		}
	}
	if got := allIfStar([]string{"a", "*"}); got != nil {
		t.Errorf("fields with * among them are %q, want nil, which is all", got)
	}
}

// TestForms writes durations and facets as clients of Meilisearch read them.
func TestForms(t *testing.T) {
	for d, want := range map[time.Duration]string{1250 * time.Microsecond: "1.25ms", 999: "999.00ns", 1500: "1.50µs", 90 * time.Second: "90.00s"} {
		if got := roundDuration(d); got != want {
			t.Errorf("roundDuration(%s) = %s, want %s", d, got, want)
		}
	}
	low, high := 1.0, 2.5
	facets := []search.FacetCounts{
		{Attribute: "b", Values: []search.FacetValue{{Value: "z\"", Count: 2}, {Value: "a", Count: 1}}},
		{Attribute: "n", Min: &low, Max: &high},
	}
	if got := string(facetDistribution(facets)); got != `{"b":{"z\"":2,"a":1},"n":{}}` {
		t.Errorf("the distribution is %s, want the values in the order in which they were given", got)
	}
	if st := facetStats(facets); len(st) != 1 || st["n"].Max != 2.5 {
		t.Errorf("the numbers are %+v, want those of n", st)
	}
}
