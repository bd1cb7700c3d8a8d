package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedTests holds the pages of what happens in trouble to the tests that they name.
func TestNamedTests(t *testing.T) {
	known := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(b, -1) {
			known[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"machine.md", "clock.md", "shutdown.md"} {
		b, err := os.ReadFile(filepath.Join("explanation", page))
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(b, -1)
		if len(named) < 4 {
			t.Errorf("%s names %d tests, want some", page, len(named))
		}
		for _, m := range named {
			if !known[string(m[1])] {
				t.Errorf("%s names %s, which there is not", page, m[1])
			}
		}
		for line := range strings.Lines(string(b)) {
			if row, ok := strings.CutPrefix(line, "| "); ok && page == "machine.md" && !strings.HasPrefix(row, "what |") && !strings.Contains(row, "`Test") {
				t.Errorf("%s has a row without a test: %s", page, line)
			}
		}
	}
}
