package httpapi_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/feature"
)

func logsOn() []feature.Feature { return []feature.Feature{feature.LogsRoute} }

//parley:option experimental-enable-logs-route
func TestLogLevel(t *testing.T) {
	r := newRig(t, wish{features: logsOn()})
	if a := r.do("POST", "/logs/stderr", `{"target":"error"}`); a.status != 204 {
		t.Fatalf("set the level = %d %s", a.status, a.body)
	}
	before := r.log.String()
	r.do("GET", "/version", "")
	if got := strings.TrimPrefix(r.log.String(), before); got != "" {
		t.Errorf("logged %s, want nothing below error", got)
	}
	if a := r.do("POST", "/logs/stderr", `{"target":"info"}`); a.status != 204 {
		t.Fatalf("set the level = %d %s", a.status, a.body)
	}
	r.do("GET", "/version", "")
	if got := strings.TrimPrefix(r.log.String(), before); !strings.Contains(got, "/version") {
		t.Errorf("logged %q, want the request", got)
	}
	for body, want := range map[string]string{
		`{"target":"loud"}`:               "off, error, warn",
		`{}`:                              "`target`",
		`{"target":"info","mode":"json"}`: "experimental-logs-mode",
		`{"tarket":"info"}`:               "target",
	} {
		if a := r.do("POST", "/logs/stderr", body); a.status != 400 || !strings.Contains(a.body, want) {
			t.Errorf("%s = %d %s, want 400 with %q", body, a.status, a.body, want)
		}
	}
}

// watchLogs begins a stream of the log and returns its lines.
func (r *rig) watchLogs(t *testing.T, ctx context.Context, body string) *bufio.Scanner {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+"/logs/stream", strings.NewReader(body))
	check(t, err)
	req.Header.Set("Authorization", "Bearer "+master)
	req.Header.Set("Content-Type", "application/json")
	// The head of the answer comes with the first line.
	ctx, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	t.Cleanup(func() { stop(); asking.Wait() })
	asking.Go(func() {
		for ctx.Err() == nil {
			if res, err := r.client.Get(r.url + "/health"); err == nil {
				res.Body.Close()
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	res, err := r.client.Do(req)
	check(t, err)
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 {
		t.Fatalf("stream of the log = %d", res.StatusCode)
	}
	return bufio.NewScanner(res.Body)
}

func TestLogStream(t *testing.T) {
	for mode, want := range map[string]string{"human": "INF ", "json": `"level":"info"`} {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, wish{features: logsOn(), limits: httpapi.Limits{Watch: 10 * time.Millisecond}})
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			lines := r.watchLogs(t, ctx, `{"target":"info","mode":"`+mode+`"}`)
			if !lines.Scan() || !strings.Contains(lines.Text(), want) || !strings.Contains(lines.Text(), "/health") {
				t.Errorf("line = %q, want %q and the request", lines.Text(), want)
			}
			if a := r.do("POST", "/logs/stream", `{"target":"info"}`); a.status != 400 || !strings.Contains(a.body, "DELETE /logs/stream") {
				t.Errorf("a second stream = %d %s", a.status, a.body)
			}
			if mode == "json" {
				if a := r.do("DELETE", "/logs/stream", ""); a.status != 204 {
					t.Errorf("end = %d %s", a.status, a.body)
				}
				for lines.Scan() { // to its end
				}
				if err := lines.Err(); err != nil {
					t.Errorf("the stream ended with %v", err)
				}
			}
			leave()
			// Either way there is room for the next one, soon.
			for range 1000 {
				if a := r.do("DELETE", "/logs/stream", ""); a.status != 204 {
					t.Fatalf("end = %d %s", a.status, a.body)
				}
				next, stop := context.WithTimeout(t.Context(), time.Minute)
				again := r.watchLogs(t, next, `{"target":"trace"}`)
				ok := again.Scan()
				stop()
				if ok {
					return
				}
			}
			t.Error("no next stream of the log")
		})
	}
}

func TestLogStreamRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{features: logsOn()})
	for body, want := range map[string]string{
		`{"target":"info","mode":"xml"}`: "human, json",
		`{"target":"all"}`:               "off, error",
	} {
		if a := r.do("POST", "/logs/stream", body); a.status != 400 || !strings.Contains(a.body, want) {
			t.Errorf("%s = %d %s, want 400 with %q", body, a.status, a.body, want)
		}
	}
	r = newRig(t, wish{})
	for _, route := range []string{"POST /logs/stderr", "POST /logs/stream", "DELETE /logs/stream"} {
		method, path, _ := strings.Cut(route, " ")
		if a := r.do(method, path, `{"target":"info"}`); a.status != 400 || !strings.Contains(a.body, "feature_not_enabled") || !strings.Contains(a.body, "logsRoute") {
			t.Errorf("%s without the feature = %d %s", route, a.status, a.body)
		}
	}
}
