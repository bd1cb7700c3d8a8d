package chat

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestContractKinds holds the table of error kinds in abi/README.md to what a
// client gets of each where no status says otherwise.
func TestContractKinds(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "abi", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| [^|]* \\| [^|]* \\| (\\d{3}) `(llm_[a-z_]+)`(?:, reason `([a-z_]+)`)? \\|$")
	rows := row.FindAllStringSubmatch(string(page), -1)
	for _, r := range rows {
		kind, status, name, reason := r[1], r[2], r[3], r[4]
		code := providerCode(kind, 0)
		if knownKind(kind) != kind || code.String() != name || strconv.Itoa(code.Status()) != status || reasons[kind] != reason {
			t.Errorf("a client gets %d %s, reason %q, for %s; the page says %s %s, %q", code.Status(), code, reasons[kind], kind, status, name, reason)
		}
	}
	if len(rows) != 11 {
		t.Errorf("the page has %d kinds with what a client gets, want 11", len(rows))
	}
}
