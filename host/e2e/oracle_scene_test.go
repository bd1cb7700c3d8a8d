package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A stage is where scenarios happen. Each host is opened when it is first
// asked for.
type stage struct {
	t       *testing.T
	modules [][]byte
	hosts   map[scenario]*scene
	windows map[scenario]map[string]any // what scenarios that happened came to
}

// A scene is a host whose telemetry has a clock of its own.
type scene struct {
	*house.House
	clock *clock
}

// A clock goes when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{t: t, modules: shippedCollectors(t), hosts: map[scenario]*scene{}, windows: map[scenario]map[string]any{}}
}

// shippedCollectors builds the collectors.
func shippedCollectors(t testing.TB) (modules [][]byte) {
	t.Helper()
	for _, name := range collectorNames(t) {
		modules = append(modules, house.Built(t, filepath.Join("plugins", "collector", name)))
	}
	return modules
}

// window returns what the metrics are at the end of a window in which sc
// happened.
func (s *stage) window(t *testing.T, sc scenario) map[string]any {
	t.Helper()
	if w, ok := s.windows[sc]; ok {
		return w
	}
	launch, launched := launches()[sc]
	if !launched {
		launch = served
	}
	at := sc
	if !launched {
		at = ""
	}
	h, open := s.hosts[at]
	if !open {
		h = launch(s)
		s.hosts[at] = h
	}
	h.turn()
	if !launched {
		h.happen(t, sc)
	}
	w := h.metrics(t)
	s.windows[sc] = w
	return w
}

// open opens a host; its clock may be one that goes already.
func (s *stage) open(from config.Sources, o host.Options, c *clock) *scene {
	s.t.Helper()
	o.Embedded, o.Pace.Now, o.Version = s.modules, c.Now, cmp.Or(o.Version, "1.2.3")
	if o.Hooks != nil {
		o.Hooks.Machine.Used = badgerdir.Use
	}
	return &scene{house.OpenFrom(s.t, from, o), c}
}

// turn ends the window under way.
func (h *scene) turn() {
	h.clock.pass(time.Hour)
	h.Hooks.Engine().Tick(context.Background())
}

// metrics are what `parley telemetry show --next` shows, by path.
func (h *scene) metrics(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, body := range next(h.House) {
		var m struct{ Context, Properties, Traits map[string]any }
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatalf("read message %s: %v", body, err)
		}
		leaves("context", m.Context, all)
		leaves("", m.Properties, all)
		leaves("", m.Traits, all)
	}
	return all
}

// aRequest is the form of a line of a scenario.
var aRequest = regexp.MustCompile(`^(?:(\d{3}) )?(?:\[([A-Za-z-]+): ?([^\]]*)\] )?([A-Z]+) (/\S*) ?(.*)$`)

// happen makes the requests of sc and waits for their tasks.
func (h *scene) happen(t *testing.T, sc scenario) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(string(sc)), "\n") {
		f := aRequest.FindStringSubmatch(line)
		if f == nil {
			t.Fatalf("the line %q of a scenario is no request", line)
		}
		status, name, value, method, path, body := f[1], f[2], f[3], f[4], f[5], f[6]
		header := http.Header{}
		if body != "" {
			header.Set("Content-Type", "application/json")
		}
		if name != "" {
			header.Set(name, value)
		}
		if path == "/logs/stream" && method == "POST" {
			watchLog(h.House, body, header)
			continue
		}
		r := send(h.House, method, path, body, header)
		if status == "" && r.Status/100 != 2 || status != "" && status != strconv.Itoa(r.Status) {
			t.Fatalf("%s: status %d %s", line, r.Status, r.Body)
		}
		if r.Status == http.StatusAccepted {
			settleByBatch(h.House, r)
		}
	}
}

// send makes a request, with a content type where header has one alone.
func send(h *house.House, method, path, body string, header http.Header) house.Reply {
	h.T.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		h.T.Fatal(err)
	}
	req.Header = header
	resp, err := h.Client.Do(req)
	if err != nil {
		h.T.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.T.Fatalf("%s %s: %v", method, path, err)
	}
	return house.Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(b)}
}

// settleByBatch waits for the task of r by way of its batch: who asks for a task by
// its number moves a metric.
func settleByBatch(h *house.House, r house.Reply) {
	h.T.Helper()
	var task struct{ TaskUID int }
	if err := json.Unmarshal([]byte(r.Body), &task); err != nil {
		h.T.Fatal(err)
	}
	var seen string
	waittest.Until(func() bool {
		seen = h.Must("GET", fmt.Sprintf("/batches?uids=%d", task.TaskUID), "").Body
		return strings.Contains(seen, `"finishedAt":"`)
	})
	if !strings.Contains(seen, `"status":{"succeeded":`) {
		h.T.Fatalf("task %d: %s", task.TaskUID, seen)
	}
}

// watchLog streams the log until somebody ends that.
func watchLog(h *house.House, body string, header http.Header) {
	h.T.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		send(h, "POST", "/logs/stream", body, header)
	}()
	for {
		// It may not have begun yet, which is not to be seen from here.
		h.Must("DELETE", "/logs/stream", "")
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// served is the host of all scenarios that are requests, and what they find
// there.
func served(s *stage) *scene {
	h := s.open(config.Sources{Preset: preset(s.t)}, host.Options{}, newClock())
	h.happen(s.t, `
PATCH /experimental-features {"logsRoute":true}
PATCH /indexes/films/settings {"filterableAttributes":["genre","_geo"],"sortableAttributes":["year","_geo"],"embedders":{"v":{"source":"userProvided","dimensions":3}}}
POST /indexes/films/documents [{"id":1,"title":"one two three","genre":"x","year":1,"_geo":{"lat":48,"lng":2},"_vectors":{"v":[1,0,0]}},{"id":2,"title":"four","genre":"y","year":2,"_vectors":{"v":[0,1,0]}}]
PATCH /indexes/slow/settings {"searchCutoffMs":0}
POST /indexes/slow/documents [{"id":1,"title":"one two three"},{"id":2,"title":"two"}]`)
	return h
}
