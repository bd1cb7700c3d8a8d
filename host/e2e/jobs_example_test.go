package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

// A jobServer answers later: a job is done at the second question about it, or never where
// it is asked for one that runs forever.
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
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == "POST" && r.URL.Path == "/v1/jobs":
		id := "j1"
		if strings.Contains(string(body), "forever") {
			id = "j2"
		}
		fmt.Fprintf(w, `{"id":%q,"status":"queued"}`, id)
	case r.Method == "GET" && r.URL.Path == "/v1/jobs/j1":
		if s.asks++; s.asks%2 == 0 {
			fmt.Fprint(w, `{"id":"j1","status":"succeeded","output":["At"," last"],"tokens":[3,2]}`)
			return
		}
		fmt.Fprint(w, `{"id":"j1","status":"running"}`)
	case r.Method == "GET":
		fmt.Fprint(w, `{"id":"j2","status":"running"}`)
	default:
		fmt.Fprint(w, `{"id":"j2","status":"cancelled"}`)
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
	module := house.Built(t, filepath.Join("examples", "provider-jobs"))
	jobs := &jobServer{}
	srv := httptest.NewServer(jobs)
	t.Cleanup(srv.Close)
	h := house.Open(t, map[string]string{"allow-private-networks": "127.0.0.1"}, module)
	h.Must("PATCH", "/chats/jobs/settings", fmt.Sprintf(`{"source":"jobs","baseUrl":%q,"apiKey":"jobs-key-12345"}`, srv.URL))
	const asked = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Run forever"}]}`
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
	tryJobs(t, module, srv.URL)
	// A client that leaves ends the job.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waittest.Until(func() bool { return strings.Contains(jobs.requests(), "POST /v1/jobs leaves-early-0") })
		cancel()
	}()
	if r, err := ask(ctx, "leaves-early"); err == nil {
		_ = r.Body.Close()
	}
	waittest.For(t, "the job to be called off", func() bool { return strings.HasSuffix(jobs.requests(), "POST /v1/jobs/j2/cancel") })
	if got := jobs.requests(); !strings.Contains(got, "POST /v1/jobs leaves-early-0") {
		t.Errorf("the server was asked\n%s\nwant the client's request id in the key", got)
	}
	h.CheckSecret("jobs-key-12345", "m")
}

// tryJobs shows what goes in and out by `parley plugin try`: the request alone, and all of
// it, but no secret.
func tryJobs(t *testing.T, module []byte, url string) {
	values := map[string]string{"baseUrl": url, "apiKey": "jobs-key-12345"}
	for _, tt := range []struct {
		send bool
		want []string
	}{
		{false, []string{"encode   round 0, step 0", "request  POST " + url + "/v1/jobs", "signed in by key, the scheme header", `"content":"Hello"`}},
		{true, []string{"event    {\"id\":\"j1\"", "again after 500 ms, or called off", "encode   round 0, step 1", "request  GET " + url + "/v1/jobs/j1", `text "At"`, "usage 3 prompt, 2 completion", `finish "stop"`}},
	} {
		var out bytes.Buffer
		o := trial.TryOptions{Chat: []byte(`{"model":"m","messages":[{"role":"user","content":"Hello"}]}`), Values: values, Send: tt.send}
		if err := trial.Try(t.Context(), module, o, &out); err != nil {
			t.Errorf("try, send %v: %v", tt.send, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("try, send %v, prints\n%s\nwithout %q", tt.send, &out, want)
			}
		}
		if strings.Contains(out.String(), "jobs-key") || !tt.send && strings.Contains(out.String(), "event") {
			t.Errorf("try, send %v, prints\n%s", tt.send, &out)
		}
	}
	var out bytes.Buffer
	if err := trial.Try(t.Context(), module, trial.TryOptions{Chat: []byte(`{"model":"m","messages":[]}`), Values: map[string]string{"nope": "x"}}, &out); err == nil || !strings.Contains(err.Error(), "has no option") {
		t.Errorf("try with an option that is not there: %v", err)
	}
	if err := trial.Try(t.Context(), module, trial.TryOptions{Chat: []byte(`{"model":"m","messages":[{"role":"user","content":"x"}]}`)}, &out); err == nil || !strings.Contains(err.Error(), "apiKey") {
		t.Errorf("try without the key that the manifest needs: %v", err)
	}
}
