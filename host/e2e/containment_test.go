package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// containmentPage is where the outcome of the attacks stands.
const containmentPage = "../docs/explanation/containment.md"

// checkPage holds the tables of the page to what the attacks just came to.
func checkPage(t *testing.T, files []badFile, attacks []attack) {
	t.Helper()
	var refused, contained strings.Builder
	refused.WriteString("| module with | the operator reads |\n|---|---|\n")
	for _, f := range files {
		if f.what != "" {
			fmt.Fprintf(&refused, "| %s | … %s … |\n", f.what, f.reason)
		}
	}
	contained.WriteString("| attack | in | the host | the client sees |\n|---|---|---|---|\n")
	for _, a := range attacks {
		fmt.Fprintf(&contained, "| %s | %s | %s | %s |\n", a.what, cmp.Or(a.in, a.where), a.does, strings.ReplaceAll(a.saw, "|", "\\|"))
	}
	b, err := os.ReadFile(containmentPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for mark, table := range map[string]string{"refused": refused.String(), "contained": contained.String()} {
		begin := fmt.Sprintf("<!-- %s: written by UPDATE=1 go test ./host/e2e -run TestHostilePlugins -->\n", mark)
		head, rest, ok := strings.Cut(page, begin)
		_, tail, ok2 := strings.Cut(rest, fmt.Sprintf("<!-- end of %s -->", mark))
		if !ok || !ok2 {
			t.Fatalf("%s has lost the marks of the table %q", containmentPage, mark)
		}
		page = head + begin + table + fmt.Sprintf("<!-- end of %s -->", mark) + tail
	}
	if page == string(b) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what came of the attacks: UPDATE=1 go test ./host/e2e -run TestHostilePlugins writes it", containmentPage)
	}
	if err := os.WriteFile(containmentPage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// decodeError reads the error of an answer that is no stream.
func decodeError(body string) (e struct{ Message, Code string }) {
	_ = json.Unmarshal([]byte(body), &e) // what is not an error has neither
	return e
}
