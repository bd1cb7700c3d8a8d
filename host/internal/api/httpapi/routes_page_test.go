package httpapi_test

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// TestRoutesPage holds routes.md, which the answer to a route that there is not
// names, to the routes that there are.
func TestRoutesPage(t *testing.T) {
	r := newRig(t, wish{})
	routes := httpapi.Table(r.server)
	if len(routes) < 90 {
		t.Fatalf("found %d routes, want all of them", len(routes))
	}
	slices.SortStableFunc(routes, func(a, b httpapi.Row) int { // by path, and then by method
		methodA, pathA, _ := strings.Cut(a.Name, " ")
		methodB, pathB, _ := strings.Cut(b.Name, " ")
		return cmp.Or(cmp.Compare(pathA, pathB), cmp.Compare(methodA, methodB))
	})
	var b strings.Builder
	b.WriteString("# Routes\n\nWritten by `UPDATE=1 go test ./host/internal/api/httpapi -run TestRoutesPage`. Where the host has a master key, a caller's key must allow the action; it is sent as `Authorization: Bearer KEY`, whose `Bearer` may be in any case (RFC 9110, section 11.1). Routes below `/chats`, `/logs` and `/network`,\n" +
		"and `/metrics`, answer while their [feature](features.md) is on. What requests and answers hold: [compatibility](meilisearch.md); errors: [errors](errors.md).\n\n" +
		"| route | action |\n|---|---|\n")
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, route := range routes {
		action := "`" + strings.Join(route.Actions, "` and `") + "`"
		switch {
		case route.Public:
			action = "none: it asks for no key"
		case len(route.Actions) == 0:
			action = "none: any valid key will do"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", parameter.ReplaceAllString(route.Name, "{$1}"), action)
	}
	const page = "../../../docs/reference/routes.md"
	old, err := os.ReadFile(page)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(old) == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("routes.md is not what routes.go says: UPDATE=1 go test ./host/internal/api/httpapi -run TestRoutesPage writes it")
	}
	if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
