// Package house opens the whole host for tests, and helps to ask it: as its users
// do, over HTTP, with plugins that are built here and providers that misbehave.
package house

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/testhook"
)

// A House is the whole host with its real parts, serving on loopback, and a
// client of it.
type House struct {
	T      testing.TB
	URL    string
	host   *host.Host
	Hooks  *testhook.Hooks
	Dir    string // of the data
	Log    LogBuffer
	Client *http.Client
	Close  func()
	Key    string // that requests are sent with; empty: none

	mu  sync.Mutex
	saw bytes.Buffer // all that the host ever answered
}

// Grace is how long a house may take to close: no disk is so slow that a test
// fails. A test that closes a house in the midst of a stream sets less.
const Grace = "30s"

// Open serves until the test ends, or Close is called. Options are by
// their names on the command line.
func Open(t testing.TB, flags map[string]string, modules ...[]byte) *House {
	t.Helper()
	return OpenAt(t, host.Pace{}, flags, modules...)
}

// OpenAt is [Open] with a clock of telemetry's.
func OpenAt(t testing.TB, pace host.Pace, flags map[string]string, modules ...[]byte) *House {
	t.Helper()
	return OpenWith(t, flags, host.Options{Embedded: modules, Pace: pace})
}

// OpenWith is [Open] with options of its own.
func OpenWith(t testing.TB, flags map[string]string, o host.Options) *House {
	t.Helper()
	all := map[string]string{"http-addr": "127.0.0.1:0", "shutdown-grace": Grace, "log-level": "trace", "experimental-logs-mode": "json"}
	maps.Copy(all, flags)
	if all["db-path"] == "" {
		all["db-path"] = t.TempDir()
	}
	return OpenFrom(t, config.Sources{Flags: all}, o)
}

// OpenFrom is [Open] with a configuration of its own.
func OpenFrom(t testing.TB, from config.Sources, o host.Options) *House {
	t.Helper()
	c, _, err := config.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	h := &House{T: t, Dir: c.DBPath, Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
	c.PluginCacheDir = cmp.Or(c.PluginCacheDir, CompiledModules(t))
	logs, err := logs.New(&h.Log, c.LogsMode, c.LogLevel)
	if err != nil {
		t.Fatal(err)
	}
	o.Hooks = cmp.Or(o.Hooks, &testhook.Hooks{})
	o.Logs, o.Version = logs, cmp.Or(o.Version, "test")
	opened, err := host.Open(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	<-opened.Loaded()
	h.host, h.Hooks, h.URL = opened, o.Hooks, "http://"+opened.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- opened.Run(ctx) }()
	var once sync.Once
	h.Close = func() {
		once.Do(func() {
			h.Client.CloseIdleConnections()
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(h.Close)
	return h
}

// Long reports whether the tests that take long are switched on; .ci/run does so.
func Long() bool { return os.Getenv("LONG") != "" }

// Repository is the folder of go.mod.
func Repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("no folder above has a go.mod")
		}
		dir = above
	}
}

// CompiledModules is where the tests of all checkouts keep compiled modules: to
// compile one takes seconds. A test's program does not know of which version of
// wazero it is built, so the folder's name has it.
func CompiledModules(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(Repository(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(mod), "github.com/tetratelabs/wazero ")
	version, _, ok := strings.Cut(version, "\n")
	if !ok {
		t.Fatal("go.mod names no version of wazero")
	}
	return filepath.Join(cache, "parley", "compiled-by-tests-"+version)
}

// A Reply is an HTTP answer of the host, read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Call sends body, where there is one, and fails the test where no whole
// answer comes.
func (h *House) Call(method, path, body string) Reply {
	h.T.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		h.T.Fatal(err)
	}
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	if h.Key != "" {
		req.Header.Set("Authorization", "Bearer "+h.Key)
	}
	resp, err := h.Client.Do(req)
	if err != nil {
		h.T.Errorf("%s %s: %v", method, path, err)
		return Reply{}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.T.Errorf("%s %s: %v after %.300q", method, path, err, b)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintln(&h.saw, resp.Header)
	h.saw.Write(b)
	return Reply{resp.StatusCode, resp.Header, string(b)}
}

// Must is [House.Call] for what has to succeed.
func (h *House) Must(method, path, body string) Reply {
	h.T.Helper()
	r := h.Call(method, path, body)
	if r.Status/100 != 2 {
		h.T.Fatalf("%s %s: status %d: %s", method, path, r.Status, r.Body)
	}
	return r
}

// AddFilms makes the index "films" of n documents and waits for it.
func (h *House) AddFilms(n int) {
	h.T.Helper()
	docs := make([]map[string]any, n)
	for i := range docs {
		docs[i] = map[string]any{"id": i, "title": fmt.Sprintf("Film number%d about the weather and the sea", i), "year": 1900 + i%100}
	}
	b, err := json.Marshal(docs)
	if err != nil {
		h.T.Fatal(err)
	}
	h.Finish(h.Must("POST", "/indexes/films/documents", string(b)))
}

// Finish waits for the task that r announced.
func (h *House) Finish(r Reply) {
	h.T.Helper()
	var task struct {
		TaskUID uint32 `json:"taskUid"`
		Status  string `json:"status"`
	}
	if err := json.Unmarshal([]byte(r.Body), &task); err != nil {
		h.T.Fatal(err)
	}
	path := fmt.Sprintf("/tasks/%d", task.TaskUID)
	if !waittest.Until(func() bool {
		r = h.Must("GET", path, "")
		return !strings.Contains(r.Body, `"enqueued"`) && !strings.Contains(r.Body, `"processing"`)
	}) || !strings.Contains(r.Body, `"succeeded"`) {
		h.T.Fatalf("task %d: %s", task.TaskUID, r.Body)
	}
}

// CheckFilms makes sure that all n documents are there and found.
func (h *House) CheckFilms(n int) {
	h.T.Helper()
	var list struct{ Total int }
	if err := json.Unmarshal([]byte(h.Must("GET", "/indexes/films/documents?limit=1", "").Body), &list); err != nil || list.Total != n {
		h.T.Errorf("%d documents, %v, want %d", list.Total, err, n)
	}
	for _, i := range []int{0, n / 2, n - 1} {
		r := h.Must("POST", "/indexes/films/search", fmt.Sprintf(`{"q":"number%d","limit":1}`, i))
		if !strings.Contains(r.Body, fmt.Sprintf(`"id":%d,`, i)) {
			h.T.Errorf("search for document %d: %s", i, r.Body)
		}
	}
}

// Saw is all that the host has answered to Call.
func (h *House) Saw() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.saw.String()
}

// A LogBuffer is a log that can be read while it is written.
type LogBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to the log.
func (l *LogBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is the log so far.
func (l *LogBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Within fails the test where c does not come about in a time that is long.
func Within[T any](t testing.TB, c <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-c:
	case <-time.After(time.Minute):
		t.Errorf("%s: not within a minute", what)
	}
	return got
}
