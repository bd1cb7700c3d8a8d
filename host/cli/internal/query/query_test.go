package query

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// TestFitColumns has the widest columns give way first, and leaves out the last where there is no room.
func TestFitColumns(t *testing.T) {
	table := [][]string{{"id", "title", "text"}, {"1", "a title", "a text that is the longest of all"}}
	for width, want := range map[int][]int{100: {2, 7, 33}, 30: {2, 7, 17}} {
		if got := FitColumns(table, width); !slices.Equal(got, want) {
			t.Errorf("on %d columns: %v, want %v", width, got, want)
		}
	}
	for width := 1; width < 60; width++ {
		got := FitColumns(table, width)
		sum := -2
		for _, w := range got {
			sum += w + 2
		}
		if len(got) == 0 || sum > width {
			t.Errorf("on %d columns: %v takes %d", width, got, sum)
		}
	}
	if got := FitColumns(nil, 80); got != nil {
		t.Errorf("of no table: %v", got)
	}
}

// TestHit keeps the attributes in their order, those that fit on a line.
func TestHit(t *testing.T) {
	var h hit
	if err := json.Unmarshal([]byte(`{"z":"two\nlines","a":3,"list":[1],"none":null,"b":true}`), &h); err != nil {
		t.Fatal(err)
	}
	if want := []string{"z", "a", "b"}; !slices.Equal(h.names, want) {
		t.Errorf("the columns are %q, want %q", h.names, want)
	}
	if h.values["z"] != "two lines" || h.values["a"] != "3" {
		t.Errorf("the values are %q", h.values)
	}
	if err := json.Unmarshal([]byte(`{"a":`), &h); err == nil {
		t.Error("half a hit is taken")
	}
	if got := oneLine("a\x1b[1m\tb\n c"); got != "a[1m b c" {
		t.Errorf("on one line: %q", got)
	}
	for in, want := range map[string]string{"docs": "docs", "docs/gpt-4": "docs"} {
		if got := workspaceOf(in); got != want {
			t.Errorf("the workspace of %s is %s", in, got)
		}
	}
}

// TestNameIndexes: a key that may not list indexes is told which one is not there by the service.
func TestNameIndexes(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer service.Close()
	refused := &cmdutil.StatusError{Status: http.StatusNotFound, Code: "index_not_found", Message: "Index `b` not found."}
	got := nameIndexes(t.Context(), &cmdutil.Client{URL: service.URL}, []string{"a", "b"}, refused)
	if want := "search index a, b: status 404: Index `b` not found."; got.Error() != want {
		t.Errorf("error %q, want %q", got, want)
	}
}
