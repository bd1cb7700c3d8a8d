// Package e2e tests the whole host, as its users meet it: started with options,
// asked over HTTP, with plugins, providers, clocks and networks that misbehave.
package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/testhook"
)

// A house is the whole host with its real parts, serving on loopback, and a
// client of it.
type house struct {
	t      testing.TB
	url    string
	host   *host.Host
	hooks  *testhook.Hooks
	dir    string // of the data
	log    logBuffer
	client *http.Client
	close  func()
	key    string // that requests are sent with; empty: none

	mu  sync.Mutex
	saw bytes.Buffer // all that the host ever answered
}

// grace is how long a house may take to close: no disk is so slow that a test
// fails. A test that closes a house in the midst of a stream sets less.
const grace = "30s"

// openHouse serves until the test ends, or close is called. Options are by
// their names on the command line.
func openHouse(t testing.TB, flags map[string]string, modules ...[]byte) *house {
	t.Helper()
	return openHouseAt(t, host.Pace{}, flags, modules...)
}

// openHouseAt is openHouse with a clock of telemetry's.
func openHouseAt(t testing.TB, pace host.Pace, flags map[string]string, modules ...[]byte) *house {
	t.Helper()
	return openHouseWith(t, flags, host.Options{Embedded: modules, Pace: pace})
}

// openHouseWith is openHouse with options of its own.
func openHouseWith(t testing.TB, flags map[string]string, o host.Options) *house {
	t.Helper()
	all := map[string]string{"http-addr": "127.0.0.1:0", "shutdown-grace": grace, "log-level": "trace", "experimental-logs-mode": "json"}
	maps.Copy(all, flags)
	if all["db-path"] == "" {
		all["db-path"] = t.TempDir()
	}
	return openHouseFrom(t, host.Sources{Flags: all}, o)
}

// openHouseFrom is openHouse with a configuration of its own.
func openHouseFrom(t testing.TB, from host.Sources, o host.Options) *house {
	t.Helper()
	c, _, err := host.LoadConfig(from)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: c.DBPath, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
	c.PluginCacheDir = cmp.Or(c.PluginCacheDir, compiledModules(t))
	logs, err := host.OpenLogs(c, &h.log)
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
	h.host, h.hooks, h.url = opened, o.Hooks, "http://"+opened.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- opened.Run(ctx) }()
	var once sync.Once
	h.close = func() {
		once.Do(func() {
			h.client.CloseIdleConnections()
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(h.close)
	return h
}

// long reports whether the tests that take long are switched on; .ci/run does so.
func long() bool { return os.Getenv("LONG") != "" }

// compiledModules is where the tests of all checkouts keep compiled modules: to
// compile one takes seconds. A test's program does not know of which version of
// wazero it is built, so the folder's name has it.
func compiledModules(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(repository(t), "go.mod"))
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

// shipped builds a plugin of ours and returns its module.
func shipped(t testing.TB, name string) []byte {
	t.Helper()
	root := repository(t)
	file, err := plugin.Build(t.Context(), filepath.Join(root, "plugins", "provider", name), filepath.Join(root, "plugins", "dist"), nil)
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// A reply is an HTTP answer of the host, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// call sends body, where there is one, and fails the test where no whole
// answer comes.
func (h *house) call(method, path, body string) reply {
	h.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	if h.key != "" {
		req.Header.Set("Authorization", "Bearer "+h.key)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		h.t.Errorf("%s %s: %v", method, path, err)
		return reply{}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Errorf("%s %s: %v after %.300q", method, path, err, b)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintln(&h.saw, resp.Header)
	h.saw.Write(b)
	return reply{resp.StatusCode, resp.Header, string(b)}
}

// must is call for what has to succeed.
func (h *house) must(method, path, body string) reply {
	h.t.Helper()
	r := h.call(method, path, body)
	if r.status/100 != 2 {
		h.t.Fatalf("%s %s: status %d: %s", method, path, r.status, r.body)
	}
	return r
}

// addFilms makes the index "films" of n documents and waits for it.
func (h *house) addFilms(n int) {
	h.t.Helper()
	docs := make([]map[string]any, n)
	for i := range docs {
		docs[i] = map[string]any{"id": i, "title": fmt.Sprintf("Film number%d about the weather and the sea", i), "year": 1900 + i%100}
	}
	b, err := json.Marshal(docs)
	if err != nil {
		h.t.Fatal(err)
	}
	h.finish(h.must("POST", "/indexes/films/documents", string(b)))
}

// finish waits for the task that r announced.
func (h *house) finish(r reply) {
	h.t.Helper()
	var task struct {
		TaskUID uint32 `json:"taskUid"`
		Status  string `json:"status"`
	}
	if err := json.Unmarshal([]byte(r.body), &task); err != nil {
		h.t.Fatal(err)
	}
	path := fmt.Sprintf("/tasks/%d", task.TaskUID)
	if !settles(func() bool {
		r = h.must("GET", path, "")
		return !strings.Contains(r.body, `"enqueued"`) && !strings.Contains(r.body, `"processing"`)
	}) || !strings.Contains(r.body, `"succeeded"`) {
		h.t.Fatalf("task %d: %s", task.TaskUID, r.body)
	}
}

// checkFilms makes sure that all n documents are there and found.
func (h *house) checkFilms(n int) {
	h.t.Helper()
	var list struct{ Total int }
	if err := json.Unmarshal([]byte(h.must("GET", "/indexes/films/documents?limit=1", "").body), &list); err != nil || list.Total != n {
		h.t.Errorf("%d documents, %v, want %d", list.Total, err, n)
	}
	for _, i := range []int{0, n / 2, n - 1} {
		r := h.must("POST", "/indexes/films/search", fmt.Sprintf(`{"q":"number%d","limit":1}`, i))
		if !strings.Contains(r.body, fmt.Sprintf(`"id":%d,`, i)) {
			h.t.Errorf("search for document %d: %s", i, r.body)
		}
	}
}

// ask asks workspace in the way that OpenAI's clients do.
func (h *house) ask(workspace, model string) (reply, map[string]any) {
	h.t.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true}}`, model)
	r := h.call("POST", "/chats/"+workspace+"/chat/completions", body)
	if r.status != http.StatusOK {
		return r, nil
	}
	var f frames
	f.WriteString(r.body)
	return r, f.aggregate(h.t)
}

// A logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// checkSecret makes sure that secret stands in no answer, no log line and no
// file of the data directory, where plain, which was stored along with it,
// does. The host is closed, so that all is on the disk.
func (h *house) checkSecret(secret, plain string) {
	h.t.Helper()
	h.must("GET", "/plugins", "")
	h.must("GET", "/stats", "")
	h.close()
	if strings.Contains(h.saw.String(), secret) {
		h.t.Error("an answer holds the API key")
	}
	if log := h.log.String(); strings.Contains(log, secret) {
		h.t.Errorf("the log holds the API key: %s", around(log, secret))
	}
	err := filepath.WalkDir(h.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(secret)) {
			h.t.Errorf("%s holds the API key", name)
		}
		return err
	})
	if err != nil {
		h.t.Errorf("read data directory: %v", err)
	}
	// The files are compressed, and might hide both.
	values, found := 0, false
	h.values(func(key, value []byte) {
		values++
		found = found || bytes.Contains(value, []byte(plain))
		if bytes.Contains(value, []byte(secret)) || bytes.Contains(key, []byte(secret)) {
			h.t.Errorf("the database holds the API key, under %q", key)
		}
	})
	if !found {
		h.t.Errorf("%q is not among the %d values of the database", plain, values)
	}
}

// values calls f with all that the database of a closed host holds.
func (h *house) values(f func(key, value []byte)) {
	h.t.Helper()
	db, err := badger.Open(badger.DefaultOptions(filepath.Join(h.dir, "badger")).WithLogger(nil))
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{AllVersions: true, PrefetchValues: true, PrefetchSize: 100})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := it.Item().Value(func(v []byte) error { f(it.Item().Key(), v); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
}

// around is the part of text about the first occurrence of what.
func around(text, what string) string {
	at := strings.Index(text, what)
	if at < 0 {
		return "nothing"
	}
	return text[max(at-300, 0):min(at+300, len(text))]
}

// within fails the test where c does not come about in a time that is long.
func within[T any](t testing.TB, c <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-c:
	case <-time.After(time.Minute):
		t.Errorf("%s: not within a minute", what)
	}
	return got
}
