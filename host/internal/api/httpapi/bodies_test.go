package httpapi_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/feature"
)

// bodiless are the routes that write and read no body, or none of JSON.
var bodiless = []string{"POST /dumps", "POST /snapshots", "POST /cluster/snapshot", "POST /cluster/resign", "POST /cluster/upgrade", "POST /tasks/cancel", "POST /plugins/reload", "POST /telemetry/flush", "POST /plugins/install/file", "POST /plugins/diff/file", "POST /indexes/:uid/files", "POST /v1/responses/:id/cancel"}

// TestBadBodies sends to every route that reads a body what no route takes. The
// bodies say nothing of the route: they are refused before anything is done.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{features: []feature.Feature{feature.Network, feature.LogsRoute, feature.Feedback}, limits: httpapi.Limits{Body: 1 << 20}})
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
			mayLack := route == "POST /chats/:uid/test" || route == "POST /chats/:uid/models"
			if mayLack && (tt.name == "empty" || tt.name == "blank") {
				continue
			}
			if free && tt.code == "" {
				continue
			}
			sent++
			a := r.do(method, path, tt.body)
			type failure struct{ Code, Message string }
			var e struct {
				failure
				Error failure
			}
			if path == "/mcp" {
				a.body = strings.Replace(a.body, `"code":-32`, `"number":-32`, 1) // JSON-RPC's own
				a.body = strings.Replace(a.body, `"data":{"code":`, `"code":`, 1)
				a.body = strings.Replace(a.body, "}}}", "}}", 1)
			}
			if err := json.Unmarshal([]byte(a.body), &e); err != nil {
				t.Errorf("%s with a body that is %s: %v in %.300s", route, tt.name, err, a.body)
			}
			if strings.HasPrefix(path, "/v1/") || path == "/mcp" {
				e.failure = e.Error
			}
			if strings.HasPrefix(path, "/v1/messages") && strings.Contains(a.body, `"type":"invalid_request_error"`) {
				e.Code = cmp.Or(tt.code, "none") // the form has no codes
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
	t.Parallel()
	r := newMovies(t)
	const n = 9000 // what JSON lets through
	for name, filter := range map[string]string{
		"arrays":      strings.Repeat("[", n) + `"year > 1"` + strings.Repeat("]", n),
		"parentheses": `"` + strings.Repeat("(", 1_000_000) + `"`,
		"closed":      `"` + strings.Repeat("(", 1<<18) + "year > 1" + strings.Repeat(")", 1<<18) + `"`,
		"NOT":         `"` + strings.Repeat("NOT ", 250_000) + `year > 1"`,
	} {
		body := `{"filter":` + filter + "}"
		r.play(t, []scenario{
			{name: name + ", search", method: "POST", path: "/indexes/movies/search", body: body, status: 400, code: "invalid_search_filter"},
			{name: name + ", fetch", method: "POST", path: "/indexes/movies/documents/fetch", body: body, status: 400, code: "invalid_document_filter"},
			{name: name + ", delete", method: "POST", path: "/indexes/movies/documents/delete", body: body, status: 400, code: "invalid_document_filter"},
		})
	}
}

// Any key of a front end may search, so that the bodies of searches have a
// limit of their own, packed and unpacked, and what is beyond it is not read.
//
//parley:option http-search-payload-size-limit
func TestHostileSearchBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	pack := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(text))
		check(t, err)
		check(t, w.Close())
		return b.String()
	}
	packed := []string{"Content-Encoding", "gzip"}
	long := strings.Repeat("x", 20<<20)
	for path, body := range map[string]string{
		"/indexes/a/search":       `{"q":"` + long + `"}`,
		"/indexes/a/facet-search": `{"facetName":"a","facetQuery":"` + long + `"}`,
		"/indexes/a/similar":      `{"id":"` + long + `"}`,
		"/multi-search":           `{"queries":[{"indexUid":"a","q":"` + long + `"}]}`,
	} {
		says := []string{"1048576", "--http-search-payload-size-limit"}
		r.play(t, []scenario{
			{name: path, method: "POST", path: path, body: body[:2<<20], status: 413, code: "payload_too_large", contains: says},
			{name: path + ", packed", method: "POST", path: path, body: pack(body), header: packed, status: 413, code: "payload_too_large", contains: says},
		})
	}
	r.play(t, []scenario{
		{name: "other bodies", method: "POST", path: "/indexes/a/documents", body: `[{"id":1,"text":"` + long[:2<<20] + `"}]`, status: 202},
	})
	raised := newRig(t, wish{limits: httpapi.Limits{Search: 4 << 20}})
	raised.play(t, []scenario{
		{name: "raised", method: "POST", path: "/indexes/a/search", body: `{"q":"` + long[:3<<20] + `"}`, status: 404, code: "index_not_found"},
		{name: "over what it was raised to", method: "POST", path: "/indexes/a/search", body: `{"q":"` + long[:5<<20] + `"}`, status: 413, code: "payload_too_large", contains: []string{"4194304"}},
	})
	raised = newRig(t, wish{limits: httpapi.Limits{Search: 8 << 20, Body: 8 << 20}})
	raised.play(t, []scenario{
		{name: "raised to that of all bodies", method: "POST", path: "/indexes/a/search", body: `{"q":"` + long[:5<<20] + `"}`, status: 404, code: "index_not_found"},
		{name: "over that of all bodies", method: "POST", path: "/indexes/a/search", body: `{"q":"` + long[:9<<20] + `"}`, status: 413, code: "payload_too_large", contains: []string{"8388608", "--http-payload-size-limit"}},
	})
}

// What a query is shown with is what was looked at of it.
func TestHostileQueryIsCut(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	for path, tt := range map[string]struct {
		body, at string
		most     int
	}{
		"/indexes/shop/search":       {`{"q":"%s"}`, "query", 8 << 10},
		"/indexes/shop/facet-search": {`{"facetName":"kind","facetQuery":"%s"}`, "facetQuery", 400},
	} {
		a := r.do("POST", path, fmt.Sprintf(tt.body, strings.Repeat("é", 100_000)))
		var got map[string]any
		check(t, json.Unmarshal([]byte(a.body), &got))
		text, _ := got[tt.at].(string)
		if a.status != 200 || len(text) != tt.most || strings.Trim(text, "é") != "" {
			t.Errorf("%s = %d with %d bytes of %s, want 200 with %d", path, a.status, len(text), tt.at, tt.most)
		}
	}
}
