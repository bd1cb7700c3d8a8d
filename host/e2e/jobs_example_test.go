package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin"
)

// A jobServer answers later: a job runs for two questions about it, or without end where
// the question says so.
type jobServer struct {
	mu   sync.Mutex
	seen []string // method, path and idempotency key of each request
	asks int
}

func (s *jobServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Idempotency-Key")))
	if r.Header.Get("Authorization") != "Bearer jobs-key-12345" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case r.Method == "POST" && r.URL.Path == "/v1/jobs":
		fmt.Fprint(w, `{"id":"j1","status":"queued"}`)
	case r.Method == "GET" && r.URL.Path == "/v1/jobs/j1":
		if s.asks++; s.asks == 2 {
			fmt.Fprint(w, `{"id":"j1","status":"succeeded","output":["At"," last"],"tokens":[3,2]}`)
			return
		}
		fmt.Fprint(w, `{"id":"j1","status":"running"}`)
	default:
		fmt.Fprint(w, `{"id":"j1","status":"cancelled"}`)
	}
}

// requests are those that came so far.
func (s *jobServer) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n")
}

// TestJobsExample runs the example that polls, against a server whose answers come later,
// and leaves one before it is there.
func TestJobsExample(t *testing.T) {
	t.Parallel()
	file, err := plugin.Build(t.Context(), filepath.Join(house.Repository(t), "examples", "provider-jobs"), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	jobs := &jobServer{}
	srv := httptest.NewServer(jobs)
	t.Cleanup(srv.Close)
	h := house.Open(t, map[string]string{"allow-private-networks": "127.0.0.1"}, module)
	h.Must("PATCH", "/chats/jobs/settings", fmt.Sprintf(`{"source":"jobs","baseUrl":%q,"apiKey":"jobs-key-12345"}`, srv.URL))
	const asked = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello"}]}`
	ask := func(ctx context.Context, id string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/chats/jobs/chat/completions", strings.NewReader(asked))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Request-Id", id)
		return http.DefaultClient.Do(req)
	}
	if r, _ := h.Ask("jobs", "m"); r.Status != 200 || !strings.Contains(r.Body, "At") || !strings.Contains(r.Body, " last") {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	if got := jobs.requests(); strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, "\nGET /v1/jobs/j1\nGET /v1/jobs/j1") {
		t.Errorf("the server was asked\n%s\nwant a job and two questions", got)
	}
	// A client that leaves ends the job.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waittest.Until(func() bool { return strings.Count(jobs.requests(), "POST /v1/jobs ") == 2 })
		cancel()
	}()
	if r, err := ask(ctx, "leaves-early"); err == nil {
		_ = r.Body.Close()
	}
	waittest.For(t, "the job to be called off", func() bool { return strings.HasSuffix(jobs.requests(), "POST /v1/jobs/j1/cancel") })
	if got := jobs.requests(); !strings.Contains(got, "POST /v1/jobs leaves-early-0") {
		t.Errorf("the server was asked\n%s\nwant the client's request id in the key", got)
	}
	h.CheckSecret("jobs-key-12345", "m")
}
