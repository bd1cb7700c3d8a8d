package upstream_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/task"
)

//parley:option task-webhook-url task-webhook-authorization-header
func TestWebhookPosts(t *testing.T) {
	var path, header, body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		path, body = r.Method+" "+r.URL.Path, string(b)
		header = r.Header.Get("Authorization") + "|" + r.Header.Get("Content-Type") + "|" + r.Header.Get("Content-Encoding") + "|" + r.Header.Get("User-Agent")
		switch r.URL.Path {
		case "/away":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
		case "/elsewhere":
			http.Redirect(w, r, "/ok", http.StatusTemporaryRedirect)
		}
	}))
	defer srv.Close()
	for p, want := range map[string]struct{ fails, refused bool }{
		"/ok": {false, false}, "/away": {true, false}, "/refused": {true, true}, "/elsewhere": {true, true},
	} {
		u, err := upstream.ParseWebhookURL(srv.URL + p)
		if err != nil {
			t.Fatal(err)
		}
		w := upstream.NewWebhook(u, map[string]secret.Text{"Authorization": secret.New("Bearer geheim")}, upstream.Options{UserAgent: "parley/1", Private: upstream.AnyPrivate()})
		err = w.Post(t.Context(), []byte("packed"))
		if (err != nil) != want.fails || errors.Is(err, task.ErrRefused) != want.refused || err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: error %v, want %+v", p, err, want)
		}
		if path != "POST "+p || body != "packed" || header != "Bearer geheim|application/x-ndjson|gzip|parley/1" {
			t.Errorf("%s: the server got %s, %q, %s", p, path, body, header)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestParseWebhookURL(t *testing.T) {
	for s, ok := range map[string]bool{
		"http://10.0.0.1:80/x?t=1": true, "https://example.org": true,
		"": false, "example.org": false, "ftp://x": false, "http://": false, "http://user@x": false, "http://x/#f": false, "http://x:y": false,
	} {
		if _, err := upstream.ParseWebhookURL(s); (err == nil) != ok {
			t.Errorf("ParseWebhookURL(%q): %v", s, err)
		}
	}
}
