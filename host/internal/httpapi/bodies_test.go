package httpapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/feature"
	"github.com/parley-search/parley/host/internal/httpapi"
)

// bodiless are the routes that write and read no body.
var bodiless = []string{"POST /dumps", "POST /snapshots", "POST /tasks/cancel", "POST /plugins/reload"}

// TestBadBodies sends to every route that reads a body what no route takes. The
// bodies say nothing of the route: they are refused before anything is done.
func TestBadBodies(t *testing.T) {
	r := newRig(t, wish{features: []feature.Feature{feature.Network, feature.LogsRoute}, limits: httpapi.Limits{Body: 1 << 20}})
	deep := strings.Repeat("[", 200_000)
	tests := []struct{ name, body, code, says string }{
		{"empty", "", "missing_payload", "empty"},
		{"blank", " \n\t ", "missing_payload", "empty"},
		{"cut off", `{"a":[1,{"b":"c`, "malformed_payload", "line 1, column"},
		{"two values", `{} {}`, "malformed_payload", "line 1, column 4"},
		{"not UTF-8", "{\"a\":\n\"\xff\"}", "malformed_payload", "line 2, column 2"},
		{"never ends to nest", deep, "malformed_payload", ""},
		{"nested deep", deep[:100_000] + strings.Repeat("]", 100_000), "malformed_payload", ""},
		{"nested deep below a name", `{"a":` + deep[:100_000] + strings.Repeat("]", 100_000) + "}", "malformed_payload", ""},
		{"a name of 100,000 bytes", `{"` + strings.Repeat("x", 100_000) + `":1}`, "", ""},
		{"unknown and huge", `{"nobodyKnowsThis":1e999999}`, "", ""},
		{"twice", `{"nobodyKnowsThis":1,"nobodyKnowsThis":2}`, "", ""},
		{"no object", `123456789012345678901234567890`, "", ""},
	}
	sent := 0
	for _, route := range httpapi.Routes(r.server) {
		method, path, _ := strings.Cut(route, " ")
		if method == "GET" || method == "DELETE" || slices.Contains(bodiless, route) {
			continue
		}
		path = strings.NewReplacer(":uid", "demo", ":key", "nope").Replace(path)
		// These two take any field: a document has what it has, and what a
		// provider knows is its own.
		free := strings.HasSuffix(path, "/documents") || path == completions
		for _, tt := range tests {
			if free && tt.code == "" {
				continue
			}
			sent++
			a := r.do(method, path, tt.body)
			var e struct{ Code, Message string }
			if err := json.Unmarshal([]byte(a.body), &e); err != nil {
				t.Errorf("%s with a body that is %s: %v in %.300s", route, tt.name, err, a.body)
			}
			if a.status != 400 || tt.code != "" && e.Code != tt.code || e.Code == "" || !strings.Contains(e.Message, tt.says) || len(e.Message) > 1000 {
				t.Errorf("%s with a body that is %s = %d %.300s, want 400 %s with %q", route, tt.name, a.status, a.body, tt.code, tt.says)
			}
		}
	}
	if sent < 40*len(tests) {
		t.Errorf("%d bodies sent, want those of all routes", sent)
	}
	r.play(t, []scenario{{name: "no task came of it", method: "GET", path: "/tasks", status: 200, contains: []string{`"total":0`}}})
}

// TestDeepFilters nests filters as deep as a body may be: they are refused, and
// neither the stack nor the time runs out.
func TestDeepFilters(t *testing.T) {
	r := newMovies(t)
	const n = 9000 // what JSON lets through
	for name, filter := range map[string]string{
		"arrays":      strings.Repeat("[", n) + `"year > 1"` + strings.Repeat("]", n),
		"parentheses": `"` + strings.Repeat("(", 1<<20) + `"`,
		"closed":      `"` + strings.Repeat("(", 1<<18) + "year > 1" + strings.Repeat(")", 1<<18) + `"`,
		"NOT":         `"` + strings.Repeat("NOT ", 1<<18) + `year > 1"`,
	} {
		body := `{"filter":` + filter + "}"
		r.play(t, []scenario{
			{name: name + ", search", method: "POST", path: "/indexes/movies/search", body: body, status: 400, code: "invalid_search_filter"},
			{name: name + ", fetch", method: "POST", path: "/indexes/movies/documents/fetch", body: body, status: 400, code: "invalid_document_filter"},
			{name: name + ", delete", method: "POST", path: "/indexes/movies/documents/delete", body: body, status: 400, code: "invalid_document_filter"},
		})
	}
}
