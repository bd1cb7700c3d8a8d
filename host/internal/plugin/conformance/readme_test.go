package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestReadmeTable holds the table of checks in the contract to the checks that
// there are.
func TestReadmeTable(t *testing.T) {
	var b strings.Builder
	for _, list := range []struct {
		of     string
		checks []check
	}{{"Every plugin", moduleChecks()}, {"A provider", kindChecks(abi.KindProvider)}, {"A collector", kindChecks(abi.KindCollector)}, {"A guard", kindChecks(abi.KindGuard)}} {
		fmt.Fprintf(&b, "\n| Check | %s |\n|---|---|\n", list.of)
		for _, c := range list.checks {
			if c.name == "" || c.about == "" || c.remedy == "" {
				t.Errorf("check %q lacks its name, what it is about or a remedy", c.name)
			}
			fmt.Fprintf(&b, "| %s | %s |\n", c.name, c.about)
		}
	}
	const begin, end = "<!-- checks: written by UPDATE=1 go test ./host/internal/plugin/conformance -run TestReadmeTable -->\n", "<!-- end of checks -->"
	file := filepath.Join("..", "..", "..", "..", "abi", "README.md")
	readme, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(readme), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("abi/README.md has lost the marks of the table of checks")
	}
	if old == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("the table of checks in abi/README.md is not that of the kit: UPDATE=1 go test ./host/internal/plugin/conformance -run TestReadmeTable writes it")
	}
	if err := os.WriteFile(file, []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
