package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientVersions holds .ci/versions, which names each client and suite once, to
// the files that lock the clients. `.ci/clients update` writes both.
func TestClientVersions(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(root(t), ".ci", "versions"))
	if err != nil {
		t.Fatal(err)
	}
	locks := map[string]string{}
	form := map[string]func(name, version string) string{
		"npm":  func(name, version string) string { return `"` + name + `": "` + version + `"` },
		"pypi": func(name, version string) string { return "\n" + name + "==" + version + "\n" },
		"go":   func(name, version string) string { return "\t" + name + " " + version + "\n" },
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(list)) {
		row := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(row) == 4 && row[0] == "suite" {
			continue
		}
		if len(row) != 4 || form[row[0]] == nil {
			t.Fatalf("row %q is not a kind, a file, a name and a version", line)
		}
		file := row[1]
		if locks[file] == "" {
			text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			locks[file] = "\n" + string(text)
		}
		seen[file]++
		if want := form[row[0]](row[2], row[3]); !strings.Contains(locks[file], want) {
			t.Errorf("%s does not lock %s at %s, as .ci/versions has it", file, row[2], row[3])
		}
	}
	for file, text := range locks {
		_, clients, npm := strings.Cut(text, `"dependencies": {`)
		if n := strings.Count(clients, `": "`); npm && n != seen[file] {
			t.Errorf("%s has %d clients, and .ci/versions %d of them", file, n, seen[file])
		}
	}
}
