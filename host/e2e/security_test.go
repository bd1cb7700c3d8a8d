package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityPage wants every test and fuzz target that security.md names to exist.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("../docs/explanation/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, dir := range []string{"..", filepath.Join("..", "..", "cmd"), filepath.Join("..", "..", "abi"), filepath.Join("..", "..", "plugins"), filepath.Join("..", "..", "sdk")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range declared.FindAllSubmatch(b, -1) {
				tests[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`").FindAllSubmatch(page, -1)
	if len(named) < 30 {
		t.Errorf("the page names %d tests, want one for each line", len(named))
	}
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("security.md names %s, which is no test", m[1])
		}
	}
}
