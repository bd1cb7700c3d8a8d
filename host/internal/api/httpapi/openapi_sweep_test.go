package httpapi_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/feature"
)

// TestSweep asks every route in the ways that all have in common, so that what
// openapi.json says of that is seen: an unknown query parameter, and names of
// what does not exist.
func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{features: []feature.Feature{feature.Metrics, feature.Network, feature.LogsRoute}})
	bound := "Bearer " + r.key([]string{"*"}, []string{"mine"}) // to which no other index is there
	for _, row := range httpapi.Table(r.server) {
		method, path, _ := strings.Cut(row.Name, " ")
		path = strings.NewReplacer(":uid", "404", ":key", "nope", ":id", "nope", "*", "nope").Replace(path)
		if row.Dialect == "" {
			if a := r.do(method, path+"?nobodyKnowsThis=1", ""); a.status != 400 || !strings.Contains(a.body, "nobodyKnowsThis") {
				t.Errorf("%s with an unknown parameter = %d %s, want 400 with its name", row.Name, a.status, a.body)
			}
		}
		if strings.HasPrefix(path, "/indexes/404") && (method == "GET" || strings.Contains(path, "/settings")) {
			body := ""
			if method == "PUT" || method == "PATCH" {
				body = "null"
			}
			if path == "/indexes/404/settings" {
				body = "{}"
			}
			if strings.HasSuffix(path, "/similar") {
				path += "?id=1&embedder=e"
			}
			if a := r.do(method, path, body, "Authorization", bound); a.status != 404 {
				t.Errorf("%s of what does not exist = %d %s, want 404", row.Name, a.status, a.body)
			}
		}
	}
}

// TestSweepRest asks the routes that no other test of this package does.
func TestSweepRest(t *testing.T) {
	r := newRig(t, wish{idle: true})
	bound := "Bearer " + r.key([]string{"*"}, []string{"mine"})
	r.play(t, []scenario{
		{name: "dump", method: "POST", path: "/dumps", status: 202, contains: []string{`"type":"dumpCreation"`, `"indexUid":null`}},
		{name: "snapshot", method: "POST", path: "/snapshots", status: 202, contains: []string{`"type":"snapshotCreation"`}},
		{name: "export", method: "POST", path: "/export", body: `{"url":"http://127.0.0.1:1","indexes":{"*":{}}}`, status: 200, contains: []string{`"type":"export"`}},
		{name: "reload", method: "POST", path: "/plugins/reload", status: 200, contains: []string{`"loaded":[]`}},
		{name: "windows", method: "GET", path: "/telemetry/windows", status: 200, contains: []string{`"results":[]`}},
		{name: "deliveries", method: "GET", path: "/telemetry/deliveries", status: 200, contains: []string{`"results":[]`}},
		{name: "export of telemetry", method: "GET", path: "/telemetry/export", status: 200, contains: []string{`"windows":[]`}},
		{name: "delete by filter", method: "POST", path: "/indexes/other/documents/delete", body: `{"filter":"a = 1"}`, header: []string{"Authorization", bound}, status: 404, code: "index_not_found"},
	})
}

// TestOpenAPIServed reads the description as clients do.
func TestOpenAPIServed(t *testing.T) {
	r := newRig(t, wish{})
	a := r.do("GET", "/openapi.json", "", "Authorization", "")
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") || !strings.Contains(a.body, `"openapi": "3.1.0"`) || !strings.Contains(a.body, `"version": "1.2.3"`) {
		t.Errorf("GET /openapi.json = %d %v %.200s", a.status, a.header, a.body)
	}
	tag := a.header.Get("ETag")
	if a := r.do("GET", "/openapi.json", "", "If-None-Match", tag); a.status != 304 || a.body != "" || a.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("GET /openapi.json again = %d %v %.200s, want 304", a.status, a.header, a.body)
	}
}
