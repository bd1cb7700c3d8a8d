package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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
	page, err := os.ReadFile(filepath.Join(root(t), "host", "docs", "reference", "meilisearch.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (`[A-Za-z.`, ]+`) \\| (differs|not offered) \\|(.*)\\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Fatalf("the page has %d rows of methods", len(rows))
	}
	for _, row := range rows {
		says, why := row[2], strings.TrimSpace(row[3])
		if why == "" {
			t.Errorf("the page says that %s %s, and not why", row[1], says)
		}
		for name := range strings.SplitSeq(row[1], ", ") {
			name = strings.Trim(name, "`")
			line, called := happened[name]
			delete(happened, name)
			switch {
			case !called:
				t.Errorf("the page has %s, which meilisearch.js does not call", name)
			case (says == "not offered") == strings.HasPrefix(line, "ok"):
				t.Errorf("the page says that %s %s; the client: %s", name, says, line)
			}
		}
	}
	for name, line := range happened {
		if !strings.HasPrefix(line, "ok") {
			t.Errorf("the page does not say that %s is not offered: %s", name, line)
		}
	}
}

// TestMeilisearchCauses holds the page's table of causes to .ci/compat.expected. UPDATE=1
// writes it.
func TestMeilisearchCauses(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(root(t), ".ci", "compat.expected"))
	if err != nil {
		t.Fatal(err)
	}
	suites, causes, total := map[string]map[string]int{}, []string{}, map[string]int{}
	for line := range strings.Lines(string(list)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != 3 {
			t.Fatalf("row %q has %d columns, want suite, test and reason", line, len(row))
		}
		suite, cause := row[0], row[2]
		if suites[cause] == nil {
			suites[cause], causes = map[string]int{}, append(causes, cause)
		}
		suites[cause][suite]++
		total[cause]++
	}
	slices.SortFunc(causes, func(a, b string) int { return cmp.Or(total[b]-total[a], strings.Compare(a, b)) })
	var table strings.Builder
	table.WriteString("| cause | tests that fail |\n|---|---|\n")
	for _, cause := range causes {
		var counts []string
		for _, suite := range slices.Sorted(maps.Keys(suites[cause])) {
			counts = append(counts, fmt.Sprintf("%s %d", suite, suites[cause][suite]))
		}
		fmt.Fprintf(&table, "| %s | %s |\n", cause, strings.Join(counts, ", "))
	}
	path := filepath.Join(root(t), "host", "docs", "reference", "meilisearch.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- causes: written by UPDATE=1 go test ./cmd/parley -run TestMeilisearchCauses -->\n", "<!-- end of causes -->"
	before, rest, ok := strings.Cut(string(page), begin)
	is, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("the page has no %q and %q", begin, end)
	case is == table.String():
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the page's table of causes is out of date: write it with UPDATE=1. It should be\n%s", table.String())
	}
}

// TestMeilisearchGo runs the Go client's example.
func TestMeilisearchGo(t *testing.T) {
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
