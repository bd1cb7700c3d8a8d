package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// TestOpenAPI holds openapi.json to the table of routes and the files of
// openapi/: every route, query parameter and action is described, and nothing
// else is.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	p := readParts(t)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	check(t, e.Encode(p.document(httpapi.Table(r.server))))
	if t.Failed() {
		return
	}
	doc, err := openapi3.NewLoader().LoadFromData(b.Bytes())
	check(t, err)
	if err := doc.Validate(t.Context()); err != nil {
		t.Errorf("the description is not valid: %v", err)
	}
	const file = "openapi.json"
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if bytes.Equal(old, b.Bytes()) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("openapi.json is not what openapi/ and routes.go say: UPDATE=1 go test ./host/internal/api/httpapi -run TestOpenAPI writes it")
	}
	check(t, os.WriteFile(file, b.Bytes(), 0o644))
}

// TestAnswersAreChecked has the check of answers refuse what it is there for.
func TestAnswersAreChecked(t *testing.T) {
	tests := []struct {
		name, method, path string
		status             int
		kind, body         string
		ok                 bool
	}{
		{"as described", "GET", "/indexes/movies", 200, "application/json; charset=utf-8", `{"uid":"movies","primaryKey":null,"createdAt":"2026-11-22T18:00:00Z","updatedAt":"2026-11-22T18:00:00Z"}`, true},
		{"a field too few", "GET", "/indexes/movies", 200, "application/json", `{"uid":"movies","primaryKey":null,"createdAt":"2026-11-22T18:00:00Z"}`, false},
		{"a field too many", "GET", "/indexes/movies", 200, "application/json", `{"uid":"movies","primaryKey":null,"createdAt":"2026-11-22T18:00:00Z","updatedAt":"2026-11-22T18:00:00Z","more":1}`, false},
		{"of another type", "GET", "/indexes/movies", 200, "application/json", `{"uid":1,"primaryKey":null,"createdAt":"2026-11-22T18:00:00Z","updatedAt":"2026-11-22T18:00:00Z"}`, false},
		{"not a time", "GET", "/indexes/movies", 200, "application/json", `{"uid":"movies","primaryKey":null,"createdAt":"today","updatedAt":"2026-11-22T18:00:00Z"}`, false},
		{"another status", "GET", "/indexes/movies", 202, "application/json", `{}`, false},
		{"another content", "GET", "/indexes/movies", 200, "text/html", `{}`, false},
		{"an error of another shape", "GET", "/indexes/movies", 404, "application/json", `{"error":{"message":"m","type":"t","code":"c","param":null}}`, false},
		{"no body", "DELETE", "/keys/k", 204, "", ``, true},
		{"a body where there is none", "DELETE", "/keys/k", 204, "", `{}`, false},
		{"a chunk", "POST", "/chats/demo/chat/completions", 200, "text/event-stream", "data: " + `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"more":1}` + "\n\ndata: [DONE]\n\n", true},
		{"a chunk without id", "POST", "/chats/demo/chat/completions", 200, "text/event-stream", "data: " + `{"object":"chat.completion.chunk","created":1,"model":"m","choices":[]}` + "\n\n", false},
	}
	d := *described()
	d.seen = map[string]bool{}
	for _, tt := range tests {
		req, err := http.NewRequest(tt.method, "http://localhost"+tt.path, nil)
		check(t, err)
		op := d.operation(req)
		if op == nil {
			t.Fatalf("%s: no operation for %s %s", tt.name, tt.method, tt.path)
		}
		err = d.checkAnswer(op, &http.Response{StatusCode: tt.status, Header: http.Header{"Content-Type": {tt.kind}}}, []byte(tt.body), true)
		if (err == nil) != tt.ok {
			t.Errorf("%s: the check says %v, want an error: %v", tt.name, err, !tt.ok)
		}
	}
}
