package httpapi_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/httpapi"
	"github.com/parley-search/parley/host/internal/search/settings"
)

func TestService(t *testing.T) {
	r := newRig(t, wish{})
	r.play(t, []scenario{
		{name: "health", method: "GET", path: "/health", header: []string{"Authorization", ""}, status: 200, contains: []string{`{"status":"available"}`}},
		{name: "health, wrong key", method: "GET", path: "/health", header: []string{"Authorization", "Bearer x"}, status: 200},
		{name: "health, parameter", method: "GET", path: "/health?x=1", status: 400, code: "bad_request"},
		{name: "version", method: "GET", path: "/version", status: 200, contains: []string{`{"commitSha":"abc","commitDate":"2026-11-21","pkgVersion":"1.2.3"}`}},
		{name: "stats", method: "GET", path: "/stats", status: 200, contains: []string{`"maxVectorMemory":1073741824,"lastUpdate":null,"indexes":{}}`}},
		{name: "plugins", method: "GET", path: "/plugins", status: 200, contains: []string{`"results":[{"name":"test","kind":"provider","version":"1.0.0"`, `"total":1`}},
		{name: "no route", method: "GET", path: "/nope", status: 404, code: "not_found", contains: []string{`\"/nope\"`, "/host/docs/reference/routes.md"}},
		{name: "no route, root", method: "GET", path: "/", status: 404, code: "not_found"},
		{name: "no route, case", method: "GET", path: "/Health", status: 404, code: "not_found"},
		{name: "no route, markup", method: "GET", path: "/%3Cscript%3E", status: 404, code: "not_found"},
		{name: "no cluster", method: "GET", path: "/cluster", status: 200, contains: []string{`"node":null`, `"enabled":false`}},
		{name: "ready", method: "GET", path: "/ready", header: []string{"Authorization", ""}, status: 200, contains: []string{`{"status":"ready"}`}},
		{name: "wrong method", method: "DELETE", path: "/health", status: 405, code: "method_not_allowed", contains: []string{"GET"}, responseHeader: []string{"Allow", "GET, HEAD"}},
		{name: "wrong method, parameter", method: "POST", path: "/chats/demo", status: 405, code: "method_not_allowed", responseHeader: []string{"Allow", "GET, HEAD, DELETE"}},
		{name: "trace", method: "TRACE", path: "/health", status: 405, code: "method_not_allowed"},
		{name: "unknown method", method: "BREW", path: "/health", status: 405, code: "method_not_allowed", contains: []string{"BREW"}},
		{name: "head", method: "HEAD", path: "/health", status: 200},
	})
}

// Every route but the public ones asks for a key, and for the right one.
func TestEveryRouteIsGuarded(t *testing.T) {
	r := newRig(t, wish{})
	nothing := "Bearer " + r.key(nil, []string{"*"})
	routes := []struct{ method, path string }{
		{"GET", "/version"},
		{"GET", "/stats"},
		{"GET", "/usage"},
		{"GET", "/cluster"},
		{"POST", "/cluster/snapshot"},
		{"POST", "/cluster/resign"},
		{"POST", "/cluster/upgrade"},
		{"GET", "/metrics"},
		{"GET", "/plugins"},
		{"POST", "/plugins/reload"},
		{"POST", "/plugins/install"},
		{"POST", "/plugins/install/file"},
		{"POST", "/plugins/pin"},
		{"POST", "/plugins/rollback"},
		{"POST", "/plugins/remove"},
		{"POST", "/plugins/diff"},
		{"POST", "/plugins/diff/file"},
		{"GET", "/telemetry/windows"},
		{"GET", "/telemetry/deliveries"},
		{"GET", "/telemetry/export"},
		{"POST", "/telemetry/verify"},
		{"POST", "/telemetry/flush"},
		{"GET", "/experimental-features"},
		{"PATCH", "/experimental-features"},
		{"GET", "/network"},
		{"PATCH", "/network"},
		{"GET", "/chats"},
		{"GET", "/chats/demo"},
		{"DELETE", "/chats/demo"},
		{"GET", "/chats/demo/settings"},
		{"PATCH", "/chats/demo/settings"},
		{"DELETE", "/chats/demo/settings"},
		{"POST", "/chats/demo/chat/completions"},
		{"POST", "/chats/demo/test"},
		{"GET", "/chats/demo/models"},
		{"GET", "/v1/models"},
		{"GET", "/v1/models/*"},
		{"POST", "/v1/chat/completions"},
		{"POST", "/v1/responses"},
		{"GET", "/v1/responses/1"},
		{"DELETE", "/v1/responses/1"},
		{"GET", "/v1/responses/1/input_items"},
		{"POST", "/v1/responses/1/cancel"},
		{"POST", "/mcp"},
		{"GET", "/keys"},
		{"POST", "/keys"},
		{"GET", "/keys/x"},
		{"PATCH", "/keys/x"},
		{"DELETE", "/keys/x"},
		{"GET", "/telemetry"},
		{"GET", "/telemetry/messages"},
		{"GET", "/telemetry/metrics"},
		{"GET", "/indexes"},
		{"POST", "/indexes"},
		{"GET", "/indexes/m"},
		{"PATCH", "/indexes/m"},
		{"DELETE", "/indexes/m"},
		{"GET", "/indexes/m/stats"},
		{"GET", "/indexes/m/documents"},
		{"POST", "/indexes/m/documents"},
		{"PUT", "/indexes/m/documents"},
		{"DELETE", "/indexes/m/documents"},
		{"POST", "/indexes/m/documents/fetch"},
		{"POST", "/indexes/m/documents/delete-batch"},
		{"POST", "/indexes/m/documents/delete"},
		{"POST", "/swap-indexes"},
		{"GET", "/indexes/m/documents/1"},
		{"DELETE", "/indexes/m/documents/1"},
		{"POST", "/indexes/m/search"},
		{"GET", "/indexes/m/search"},
		{"POST", "/indexes/m/facet-search"},
		{"POST", "/indexes/m/similar"},
		{"POST", "/render-template"},
		{"GET", "/indexes/m/similar"},
		{"POST", "/multi-search"},
		{"GET", "/indexes/m/settings"},
		{"PATCH", "/indexes/m/settings"},
		{"DELETE", "/indexes/m/settings"},
		{"GET", "/tasks"},
		{"GET", "/tasks/0"},
		{"DELETE", "/tasks"},
		{"POST", "/tasks/cancel"},
		{"POST", "/dumps"},
		{"POST", "/export"},
		{"POST", "/snapshots"},
		{"POST", "/logs/stderr"},
		{"POST", "/logs/stream"},
		{"DELETE", "/logs/stream"},
		{"GET", "/batches"},
		{"GET", "/batches/0"},
		{"PUT", "/indexes/m/settings/chat"},
		{"POST", "/indexes/m/files"},
		{"GET", "/webhooks"},
		{"POST", "/webhooks"},
		{"GET", "/webhooks/w"},
		{"PATCH", "/webhooks/w"},
		{"DELETE", "/webhooks/w"},
	}
	for name, patch := range settings.SettingRoutes() {
		path, verb := "/indexes/m/settings/"+name, "PUT"
		if patch {
			verb = "PATCH"
		}
		for _, method := range []string{"GET", verb, "DELETE"} {
			routes = append(routes, struct{ method, path string }{method, path})
		}
	}
	for _, route := range routes {
		for _, tt := range []struct {
			header string
			status int
			code   string
		}{
			{"", 401, "missing_authorization_header"},
			{"Bearer nope", 403, "invalid_api_key"},
			{nothing, 403, "invalid_api_key"},
		} {
			a := r.do(route.method, route.path, "", "Authorization", tt.header)
			if strings.HasPrefix(route.path, "/v1/") {
				checkGuardV1(t, a, tt.header, nothing)
				continue
			}
			if route.path == "/mcp" {
				checkGuardMCP(t, a, tt.header, nothing)
				continue
			}
			if a.status != tt.status {
				t.Errorf("%s %s with %.12q = %d %s, want %d", route.method, route.path, tt.header, a.status, a.body, tt.status)
				continue
			}
			checkError(t, a, tt.code)
		}
	}
	if listed := httpapi.Routes(r.server); len(listed) < len(routes) {
		t.Errorf("%d routes, fewer than this test knows", len(listed))
	} else {
		known := make(map[string]bool)
		for _, route := range routes {
			known[route.method+" "+pattern(route.path)] = true
		}
		for _, name := range listed {
			if !known[name] && name != "GET /health" && name != "GET /ready" && name != "GET /openapi.json" && name != "GET /docs/:file?" && name != "GET /keys/current" {
				t.Errorf("route %s is in no row of this test", name)
			}
		}
	}
}

// pattern puts the names of parameters where this file has values.
func pattern(path string) string {
	return strings.NewReplacer("/demo", "/:uid", "/webhooks/w", "/webhooks/:uuid", "/x", "/:key", "/indexes/m", "/indexes/:uid", "/1", "/:id", "/0", "/:uid").Replace(path)
}

func TestCORS(t *testing.T) {
	r := newRig(t, wish{})
	r.play(t, []scenario{
		{
			name: "preflight", method: "OPTIONS", path: completions,
			header: []string{"Authorization", "", "Origin", "https://a.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,x-stainless-os,x-stainless-retry-count"},
			status: 204,
			responseHeader: []string{
				"Access-Control-Allow-Origin", "*", "Access-Control-Allow-Headers", "authorization,content-type,x-stainless-os,x-stainless-retry-count",
				"Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS", "Access-Control-Max-Age", "86400",
			},
		},
		{name: "options of anything", method: "OPTIONS", path: "/nope", header: []string{"Authorization", ""}, status: 204, responseHeader: []string{"Access-Control-Allow-Headers", "Authorization, Content-Type"}},
		{name: "answer", method: "GET", path: "/health", header: []string{"Origin", "https://a.example"}, status: 200, responseHeader: []string{"Access-Control-Allow-Origin", "*"}},
		{name: "error", method: "GET", path: "/nope", header: []string{"Origin", "https://a.example"}, status: 404, responseHeader: []string{"Access-Control-Allow-Origin", "*"}},
	})
}

func TestRequestID(t *testing.T) {
	r := newRig(t, wish{})
	if id := r.do("GET", "/health", "", "X-Request-Id", "abc-1.2_3").header.Get("X-Request-Id"); id != "abc-1.2_3" {
		t.Errorf("request id = %q, want the client's", id)
	}
	for _, bad := range []string{"a b", `a"b`, strings.Repeat("x", 65)} {
		if id := r.do("GET", "/health", "", "X-Request-Id", bad).header.Get("X-Request-Id"); len(id) != 16 {
			t.Errorf("request id for %q = %q, want a new one", bad, id)
		}
	}
}

// The log says what happened, and nothing of what was said.
//
//parley:option experimental-logs-mode
func TestLog(t *testing.T) {
	r := newRig(t, wish{})
	key := r.key([]string{"*"}, []string{"*"})
	_ = r.do("POST", completions, hello, "Authorization", "Bearer "+key)
	_ = r.do("GET", "/indexes/secret-index/search?q=secret-words", "")
	_ = r.do("GET", "/keys/"+key, "")
	_ = r.do("PATCH", "/chats/demo/settings", `{"apiKey":"secret-key"}`)
	_, _, _, _ = r.raw(t, "secret\r\n\r\n")
	_, _, _, _ = r.raw(t, "SECRET /secret HTTP/1.1\r\nHost: secret\r\n\r\n")
	_ = r.do("GET", "/secret", "")
	r.client.CloseIdleConnections()
	log := r.log.String()
	for _, want := range []string{
		`"method":"POST","route":"/chats/:uid/chat/completions","status":200,"ms":`, `"source":"test"`, `"finish":"stop"`,
		`"method":"other","route":"none","status":400,`, `"method":"other","route":"none","status":405,`, `"method":"GET","route":"none","status":404,`,
		`"route":"/indexes/:uid/search","status":404`, `"route":"/keys/:key","status":200`, `"request_id":"`, `"bytes":`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("log lacks %s:\n%s", want, log)
		}
	}
	for _, not := range []string{"secret", "SECRET", "words of a user", key, master, demoKey} {
		if strings.Contains(log, not) {
			t.Errorf("log holds %q:\n%s", not, log)
		}
	}
}

// A panic answers 500 without a word of what it said, and the host goes on.
func TestPanic(t *testing.T) {
	r := newRig(t, wish{panics: true})
	for range 2 {
		a := r.do("GET", "/plugins", "")
		if a.status != 500 || strings.Contains(a.body, "secret") {
			t.Errorf("panic = %d %s, want 500 without its text", a.status, a.body)
		}
		checkError(t, a, "internal")
	}
	if log := r.log.String(); strings.Contains(log, "secret") || !strings.Contains(log, "handler panicked") || !strings.Contains(log, `"status":500`) {
		t.Errorf("log = %s, want the panic without its text", log)
	}
	r.play(t, []scenario{{name: "goes on", method: "GET", path: "/health", status: 200}})
}

func TestShutdownBeforeListen(t *testing.T) {
	s := httpapi.New(httpapi.Deps{})
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	if err := s.Listen(ln); err != nil {
		t.Errorf("Listen after Shutdown = %v, want nil", err)
	}
}
