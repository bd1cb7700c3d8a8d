package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/cli/internal/benchmark"
)

// TestBenchSearch measures a few documents and queries: all that the operator
// gave is indexed and asked for.
func TestBenchSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a host")
	}
	t.Setenv(reexec, "parley") // for the host that it starts
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	documents := file("teas.csv", "sku,name,text\n1,Green tea,from Kyoto\n2,Black tea,from Assam\n3,Coffee,from Kyoto\n")
	queries := file("queries.txt", "tea\n\n  kyoto  \n{\"q\":\"coffee\",\"limit\":1}\nwine\n")
	settings := file("settings.json", `{"searchableAttributes":["name"]}`)
	var out, progress bytes.Buffer
	code := run(t.Context(), []string{
		"bench", "search", documents, "--queries", queries, "--settings", settings, "--primary-key", "sku", "--clients", "1,2", "--rounds", "3", "--json",
	}, &out, &progress)
	if code != exitOK {
		t.Fatalf("bench search ended with %d: %s", code, progress.String())
	}
	var got benchmark.SearchFigures
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	_, _, told := bench.RSS(os.Getpid())
	if got.Indexing.Documents != 3 || got.Disk <= 0 || told && (got.Indexing.PeakRSS <= 0 || got.PeakRSS < got.Indexing.PeakRSS) {
		t.Errorf("figures %+v, want 3 documents, disk and memory", got)
	}
	for i, clients := range []int{1, 2} {
		if len(got.Searches) != 2 {
			t.Fatalf("%d rows, want one for each number of clients", len(got.Searches))
		}
		// Kyoto is not searched, and wine is nowhere.
		if r := got.Searches[i]; r.Clients != clients || r.Searches != 12 || r.Empty != 6 || r.Failed != 0 || r.P50 <= 0 || r.P99 < r.P50 || r.PerSecond <= 0 {
			t.Errorf("row %+v, want 12 searches by %d at a time, 6 of them without hits", r, clients)
		}
	}
}

func TestBenchSearchRefuses(t *testing.T) {
	dir := t.TempDir()
	queries, broken, none := filepath.Join(dir, "queries"), filepath.Join(dir, "broken"), filepath.Join(dir, "none")
	for name, text := range map[string]string{queries: "tea\n", broken: "tea\n{\"q\":\n", none: "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"teas.csv"}, exitUsage, "--queries"},
		{[]string{"teas.csv", "--queries", queries, "--rounds", "0"}, exitUsage, "--rounds is 0"},
		{[]string{"teas.csv", "--queries", queries, "--clients", "0"}, exitUsage, "--clients has 0"},
		{[]string{"teas.xml", "--queries", queries}, exitUsage, "--format"},
		{[]string{"teas.csv", "--queries", broken}, exitFailed, "line 2"},
		{[]string{"teas.csv", "--queries", none}, exitFailed, "no query"},
		{[]string{filepath.Join(dir, "teas.csv"), "--queries", queries}, exitFailed, "read documents"},
	} {
		var out, progress bytes.Buffer
		code := run(t.Context(), append([]string{"bench", "search"}, tt.args...), &out, &progress)
		if code != tt.code || !bytes.Contains(progress.Bytes(), []byte(tt.want)) {
			t.Errorf("%v ended with %d: %s; want %d and %q", tt.args, code, progress.String(), tt.code, tt.want)
		}
	}
}
