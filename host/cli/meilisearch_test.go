package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const meilisearchKey = "a master key for clients"

// searchHost is demoHost with a master key, for clients of the search.
func searchHost(t *testing.T) (env []string) {
	t.Helper()
	base := demoHost(t, newProvider(t).url, "--master-key", meilisearchKey)
	host, _, _ := strings.Cut(base, "/chats/")
	return append(os.Environ(), "CLIENT_HOST="+host, "CLIENT_MASTER_KEY="+meilisearchKey)
}

// TestMeilisearchJS calls every public method of the official JavaScript client
// and holds what happens to host/docs/reference/meilisearch.md: what the page says is
// not offered is not, and all else works.
func TestMeilisearchJS(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs Node")
	}
	node := filepath.Join(root(t), "examples", "clients", "node")
	if _, err := os.Stat(filepath.Join(node, "node_modules", "meilisearch")); err != nil {
		t.Skip("the npm packages are not installed: `npm ci` in examples/clients/node installs them")
	}
	out, err := command(node, searchHost(t), "node", "meilisearch.js").CombinedOutput()
	if err != nil {
		t.Fatalf("meilisearch.js: %v\n%s", err, out)
	}
	happened := map[string]string{}
	for line := range strings.Lines(string(out)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, _, _ := strings.Cut(strings.TrimSpace(rest), ":")
		switch word {
		case "ok", "no":
			happened[name] = strings.TrimSpace(line)
		default:
			t.Errorf("meilisearch.js printed %q", line)
		}
	}
	if len(happened) < 100 {
		t.Fatalf("meilisearch.js told of %d methods, want all of them:\n%s", len(happened), out)
	}
	for _, row := range differences(t) {
		for name := range strings.SplitSeq(row.methods, ", ") {
			if name = strings.Trim(name, "`"); name == "" {
				continue
			}
			line, called := happened[name]
			delete(happened, name)
			switch {
			case !called:
				t.Errorf("the page has %s, which meilisearch.js does not call", name)
			case (row.here == "not offered") == strings.HasPrefix(line, "ok"):
				t.Errorf("the page says of %s %q; the client: %s", name, row.here, line)
			}
		}
	}
	for name, line := range happened {
		if !strings.HasPrefix(line, "ok") {
			t.Errorf("the page does not say that %s is not offered: %s", name, line)
		}
	}
}

// differencesPage is the page of what differs from Meilisearch.
func differencesPage(t *testing.T) string {
	return filepath.Join(root(t), "host", "docs", "reference", "meilisearch.md")
}

// A difference is a row of the page's table.
type difference struct{ line, what, here, why, methods, tests string }

// differences reads the table.
func differences(t *testing.T) (rows []difference) {
	t.Helper()
	page, err := os.ReadFile(differencesPage(t))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n|---|---|---|---|---|\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if len(cells) != 7 {
			break
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", `\|`)
		}
		rows = append(rows, difference{line, cells[1], cells[2], cells[3], cells[4], cells[5]})
		if cells[1] == "" || cells[2] == "" || cells[3] == "" {
			t.Errorf("a cell of what differs is empty in %q", line)
		}
	}
	if len(rows) < 20 {
		t.Fatalf("the page has %d rows of what differs", len(rows))
	}
	return rows
}

// TestMeilisearchCauses holds the page's counts of tests that fail to
// .ci/compat.expected, whose reasons are rows of the page. UPDATE=1 writes them.
func TestMeilisearchCauses(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(root(t), ".ci", "compat.expected"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]map[string]int{} // row, suite
	for line := range strings.Lines(string(list)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != 3 {
			t.Fatalf("row %q has %d columns, want suite, test and reason", line, len(row))
		}
		if counts[row[2]] == nil {
			counts[row[2]] = map[string]int{}
		}
		counts[row[2]][strings.TrimPrefix(row[0], "meilisearch-")]++
	}
	page, err := os.ReadFile(differencesPage(t))
	if err != nil {
		t.Fatal(err)
	}
	written := string(page)
	for _, row := range differences(t) {
		var tests []string
		for _, suite := range slices.Sorted(maps.Keys(counts[row.what])) {
			tests = append(tests, fmt.Sprintf("%s %d", suite, counts[row.what][suite]))
		}
		delete(counts, row.what)
		if want := strings.Join(tests, ", "); row.tests != want {
			line := "| " + strings.Join([]string{row.what, row.here, row.why, row.methods, want}, " | ") + " |\n"
			written = strings.Replace(written, row.line, strings.ReplaceAll(line, "|  |", "| |"), 1)
		}
	}
	for cause := range counts {
		t.Errorf("tests fail for %q, which is no row of the page", cause)
	}
	switch {
	case written == string(page):
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(differencesPage(t), []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the page's counts of tests are out of date: write them with UPDATE=1")
	}
}

// TestMeilisearchGo runs the Go client's example.
func TestMeilisearchGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a client")
	}
	skipUnlessLong(t, "compiles a client")
	dir := filepath.Join(root(t), "examples", "clients", "go")
	if out, err := command(dir, os.Environ(), "go", "mod", "download").CombinedOutput(); err != nil {
		t.Skipf("meilisearch-go cannot be had: %s", out)
	}
	out, err := command(dir, searchHost(t), "go", "run", "./meilisearch").CombinedOutput()
	if n := strings.Count(string(out), "ok   "); err != nil || n != 12 {
		t.Errorf("go run ./meilisearch: error %v, %d of 12 checks good:\n%s", err, n, out)
	}
}
