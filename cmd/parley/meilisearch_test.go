package main

import (
	"os"
	"path/filepath"
	"regexp"
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
// and holds what happens to host/COMPATIBILITY.md: what the page says works
// does, what it says is not offered is not, and it leaves nothing out.
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
	page, err := os.ReadFile(filepath.Join(root(t), "host", "COMPATIBILITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\| (works|differs|not offered) \\|(.*)\\|$").FindAllStringSubmatch(string(page), -1)
	for _, row := range rows {
		name, says, why := row[1], row[2], strings.TrimSpace(row[3])
		line, called := happened[name]
		delete(happened, name)
		switch {
		case !called:
			t.Errorf("the page has %s, which meilisearch.js does not call", name)
		case (says == "not offered") == strings.HasPrefix(line, "ok"):
			t.Errorf("the page says that %s %s; the client: %s", name, says, line)
		case says != "works" && why == "":
			t.Errorf("the page says that %s %s, and not why", name, says)
		}
	}
	for _, line := range happened {
		t.Errorf("the page has no row for: %s", line)
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
