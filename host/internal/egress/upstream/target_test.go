package upstream

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/egress/export"
)

// targetAt returns the target whose API is at address.
func targetAt(t *testing.T, address string, o Options) export.Target {
	t.Helper()
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	o.Private = AnyPrivate()
	all := NewTargets(o)
	t.Cleanup(func() { _ = all.Close() })
	return all.Target(base, secret.New(apiKey))
}

func TestTargetSend(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/moved" {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return
		}
		z, err := gzip.NewReader(r.Body)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(z)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, r.Method, r.URL, r.Header["Authorization"], r.Header["Content-Type"], string(body), err)
	}))
	defer s.Close()
	to := targetAt(t, s.URL+"/api", Options{UserAgent: "us"})
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, "a line")
	z.Close()
	a, err := to.Send(t.Context(), export.Request{Method: "POST", Path: "/x?y=1", Body: []byte(packed.String()), Packed: true})
	want := "POST /api/x?y=1 [Bearer " + apiKey + "] [application/x-ndjson] a line <nil>\n"
	if err != nil || a.Status != 503 || a.After != 7*time.Second || string(a.Body) != want {
		t.Errorf("Send = %+v %s, %v; want 503, after 7 s, %s", a, a.Body, err, want)
	}
	if a, err := to.Send(t.Context(), export.Request{Method: "POST", Path: "/moved", Body: []byte("{}")}); err != nil || a.Status != 307 {
		t.Errorf("Send that is redirected = %+v, %v; want the redirect's own answer", a, err)
	}
}

// What an operator names may be private, but not the metadata of a cloud; and
// no error shows the key.
func TestTargetRefused(t *testing.T) {
	if _, err := targetAt(t, "http://169.254.169.254", Options{}).Send(t.Context(), export.Request{Method: "GET", Path: "/"}); err == nil || !strings.Contains(err.Error(), "metadata") || strings.Contains(err.Error(), apiKey) {
		t.Errorf("Send to metadata = %v, want a refusal without the key", err)
	}
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	if _, err := targetAt(t, s.URL, Options{}).Send(t.Context(), export.Request{Method: "GET", Path: "/"}); err == nil || strings.Contains(err.Error(), apiKey) {
		t.Errorf("Send to nobody = %v, want an error without the key", err)
	}
	hangs := make(chan struct{})
	s = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
	defer s.Close()
	defer close(hangs)
	_, err := targetAt(t, s.URL, Options{Limits: Limits{FirstByte: 10 * time.Millisecond}}).Send(t.Context(), export.Request{Method: "POST", Path: "/", Body: make([]byte, 1<<20)})
	if u, ok := err.(*outbound.Error); !ok || u.Kind != outbound.Timeout {
		t.Errorf("Send to a silent host = %v, want a timeout", err)
	}
}
