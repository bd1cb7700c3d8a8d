package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/host"
)

// TestErrorTable holds the table of errors, to which every error's link
// points, to the codes that there are.
func TestErrorTable(t *testing.T) {
	var codes []byte
	for _, pkg := range []string{".", "chaterr", "indexerr", "searcherr"} {
		file, err := os.ReadFile(filepath.Join("..", "internal", "base", "apierr", pkg, "codes.go"))
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, file...)
	}
	statuses := map[string]string{
		"InternalServerError": "500", "UnsupportedMediaType": "415", "RequestEntityTooLarge": "413", "NotFound": "404",
		"MethodNotAllowed": "405", "Unauthorized": "401", "Forbidden": "403", "Conflict": "409", "RequestTimeout": "408", "RequestHeaderFieldsTooLarge": "431", "PreconditionFailed": "412", "NotImplemented": "501",
		"ServiceUnavailable": "503", "BadGateway": "502", "TooManyRequests": "429", "GatewayTimeout": "504", "UnprocessableEntity": "422",
	}
	line := regexp.MustCompile(`(?m)^\t\w+\s+= (?:apierr\.)?(?:InvalidField|Invalid|NewCode)\("(\w+)"(?:, http\.Status(\w+))?(?:, (?:apierr\.)?Type(\w+))?`)
	var b strings.Builder
	b.WriteString("| code | status | type |\n|---|---|---|\n")
	found := line.FindAllStringSubmatch(string(codes), -1)
	for _, m := range found {
		status, typ := "400", "invalid_request"
		if m[2] != "" {
			if status = statuses[m[2]]; status == "" {
				t.Fatalf("code %s has status %s, which this test does not know", m[1], m[2])
			}
		}
		if m[3] != "" {
			typ = strings.ToLower(m[3])
		}
		fmt.Fprintf(&b, "| <a id=\"error-%s\"></a>`%s` | %s | %s |\n", m[1], m[1], status, typ)
	}
	if len(found) < 250 {
		t.Fatalf("found %d codes in the files codes.go, want all of them", len(found))
	}
	const begin, end = "<!-- errors: written by UPDATE=1 go test ./host/e2e -run TestErrorTable -->\n", "<!-- end of errors -->"
	readme, err := os.ReadFile("../docs/reference/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(readme), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("errors.md has lost the marks of the table of errors")
	}
	if old == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("the table of errors in errors.md is not that of the files codes.go: UPDATE=1 go test ./host/e2e -run TestErrorTable writes it")
	}
	if err := os.WriteFile("../docs/reference/errors.md", []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentation wants the pages that the program carries to lead to the files
// that they were made of, and nothing but pages among them.
func TestDocumentation(t *testing.T) {
	const base = "https://example.org/host"
	b, err := host.Documentation(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Path, URL string }
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, d := range list {
		page, _, _ := strings.Cut(strings.TrimPrefix(d.URL, base+"/"), "#")
		if _, err := os.Stat(filepath.Join("..", page)); err != nil || page != d.Path {
			t.Fatalf("a passage of %s has the URL %s, where no page is: %v", d.Path, d.URL, err)
		}
		pages[page] = true
	}
	if len(pages) < 50 || !pages["docs/how-to/mcp.md"] {
		t.Errorf("%d pages, want all of docs", len(pages))
	}
}
