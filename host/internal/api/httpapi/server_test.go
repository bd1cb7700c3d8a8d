package httpapi_test

import (
	"context"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

func TestService(t *testing.T) {
	t.Parallel()
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
		{name: "wrong method, a word where an id may be", method: "GET", path: "/tasks/cancel", status: 405, code: "method_not_allowed", responseHeader: []string{"Allow", "POST"}},
		{name: "wrong method, such a word, no id", method: "PUT", path: "/tasks/cancel", status: 405, code: "method_not_allowed", responseHeader: []string{"Allow", "POST"}},
		{name: "wrong method, another such word", method: "DELETE", path: "/keys/current", status: 405, code: "method_not_allowed", responseHeader: []string{"Allow", "GET, HEAD"}},
		{name: "a document may be called so", method: "GET", path: "/indexes/nope/documents/fetch", status: 404, code: "index_not_found"},
		{name: "wrong method, parameter", method: "POST", path: "/chats/demo", status: 405, code: "method_not_allowed", responseHeader: []string{"Allow", "GET, HEAD, DELETE"}},
		{name: "trace", method: "TRACE", path: "/health", status: 405, code: "method_not_allowed"},
		{name: "unknown method", method: "BREW", path: "/health", status: 405, code: "method_not_allowed", contains: []string{"BREW"}},
		{name: "head", method: "HEAD", path: "/health", status: 200},
	})
}

// Every route but the public ones asks for a key, and for the right one.
func TestEveryRouteIsGuarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	nothing := "Bearer " + r.key(nil, []string{"*"})
	public := []string{"GET /", "GET /health", "GET /ready", "GET /openapi.json", "GET /docs/:file?", "GET /console/:file?"}
	anyKey := []string{"GET /keys/current"}
	parameter := regexp.MustCompile(`:[a-z]+\??|\*`)
	guarded := 0
	for _, name := range httpapi.Routes(r.server) {
		if slices.Contains(public, name) {
			continue
		}
		guarded++
		method, path, _ := strings.Cut(parameter.ReplaceAllString(name, "x"), " ")
		for _, tt := range []struct {
			header string
			status int
			code   string
		}{
			{"", 401, "missing_authorization_header"},
			{"Bearer nope", 403, "invalid_api_key"},
			{nothing, 403, "invalid_api_key"},
		} {
			if tt.header == nothing && slices.Contains(anyKey, name) {
				continue
			}
			a := r.do(method, path, "", "Authorization", tt.header)
			if strings.HasPrefix(path, "/v1/messages") {
				checkGuardMessages(t, a, tt.header, nothing)
				continue
			}
			if strings.HasPrefix(path, "/v1/") {
				checkGuardV1(t, a, tt.header, nothing)
				continue
			}
			if path == "/mcp" {
				checkGuardMCP(t, a, tt.header, nothing)
				continue
			}
			if a.status != tt.status {
				t.Errorf("%s %s with %.12q = %d %s, want %d", method, path, tt.header, a.status, a.body, tt.status)
				continue
			}
			checkError(t, a, tt.code)
		}
	}
	if guarded < 150 {
		t.Errorf("%d routes ask for a key, fewer than there are", guarded)
	}
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
