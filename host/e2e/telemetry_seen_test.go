package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/freeport"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// A handClock is telemetry's clock, which a test sets.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *handClock) pace() host.Pace {
	c.now = time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)
	return host.Pace{Tick: 5 * time.Millisecond, Now: func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.now
	}}
}

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A taker is a platform, or a listener: it keeps what it is sent.
type taker struct {
	url string

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func newTaker(t testing.TB) *taker {
	t.Helper()
	p := &taker{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests, p.bodies = append(p.requests, r), append(p.bodies, string(b))
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	return p
}

// took is what came until now.
func (p *taker) took() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.bodies...)
}

// TestTelemetrySeen pins a collector for the platform, drops a version with one
// more metric into the running host, and finds that metric everywhere: in the
// explanation, in what is shown, in the next batch and in GET /metrics. What came
// is, byte for byte, what was shown.
//
//parley:option telemetry-url telemetry-write-key telemetry-collectors
func TestTelemetrySeen(t *testing.T) {
	t.Parallel()
	platform, clock := newTaker(t), &handClock{}
	dir := filepath.Join(t.TempDir(), "plugins")
	install := func(module []byte) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "counter.wasm")
		put(t, filepath.Dir(file), "counter.wasm", module)
		if _, err := host.OpenInstaller(config.Config{PluginDir: dir}, host.Options{}).InstallFrom(t.Context(), file, deploy.InstallOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	install(counter(t, "1.0.0", ""))
	h := house.OpenAt(t, clock.pace(), map[string]string{
		"plugin-dir": dir, "telemetry-url": platform.url + "/v1/batch", "telemetry-write-key": "the-write-key", "telemetry-collectors": "counter", "experimental-enable-metrics": "true",
	})
	for range 5 {
		h.Must("GET", "/version", "")
	}
	if got := h.Must("GET", "/metrics", "").Body; strings.Contains(got, "parley_usage_") {
		t.Errorf("GET /metrics has usage before a window ended:\n%s", got)
	}
	install(counter(t, "1.1.0", `,{"path":"gpu","kind":"bool","constant":false,"meaning":"No GPU.","aggregation":"constant","noData":"always"}`))
	h.Must("POST", "/plugins/reload", "")
	if got := next(h)["counter"]; !strings.Contains(got, `"gpu":false`) {
		t.Errorf("the window under way says %s, want the new metric", got)
	}
	if got := h.Must("GET", "/telemetry/metrics", "").Body; !strings.Contains(got, "No GPU.") {
		t.Errorf("GET /telemetry/metrics = %s, want the new metric", got)
	}
	clock.pass(61 * time.Minute)
	h.WaitFor("a delivery", func() bool { return len(platform.took()) > 0 })
	got := platform.took()[0]
	if !strings.Contains(got, `"gpu":false`) || !strings.Contains(got, `"version":"1.1.0"`) {
		t.Errorf("the platform got %s, want the new metric", got)
	}

	var windows struct {
		Results []struct {
			Window   uint64
			Messages []struct{ Body string }
			Requests []string
		}
	}
	read(h, "/telemetry/windows?limit=9", &windows)
	if len(windows.Results) != 1 || windows.Results[0].Window != 1 || len(windows.Results[0].Requests) != 1 || windows.Results[0].Requests[0] != got {
		t.Errorf("GET /telemetry/windows = %+v, want the one window, as it was delivered:\n%s", windows, got)
	}
	var count struct{ Properties struct{ Requests int } }
	if err := json.Unmarshal([]byte(windows.Results[0].Messages[0].Body), &count); err != nil || count.Properties.Requests < 5 {
		t.Errorf("the window has %d requests, %v, want 5 at least", count.Properties.Requests, err)
	}
	metrics := h.Must("GET", "/metrics", "").Body
	for _, want := range []string{
		"# HELP parley_usage_counter_gpu No GPU.\n# TYPE parley_usage_counter_gpu gauge\n" + `parley_usage_counter_gpu{collector="counter",path="gpu",text=""} 0` + "\n",
		fmt.Sprintf(`parley_usage_counter_requests{collector="counter",path="requests",text=""} %d`+"\n", count.Properties.Requests),
		fmt.Sprintf("parley_telemetry_window_sealed_timestamp_seconds %v\n", float64(clock.now.Unix())),
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("GET /metrics has no %q", want)
		}
	}
	var deliveries struct{ Results []telemetry.Delivery }
	h.WaitFor("a line in the log of deliveries", func() bool {
		read(h, "/telemetry/deliveries", &deliveries)
		return len(deliveries.Results) > 0
	})
	h.WaitFor("an empty spool", func() bool { return strings.Contains(h.Must("GET", "/telemetry", "").Body, `"pending":0`) })
	if d := deliveries.Results[0]; !d.Taken || d.To != platform.url+"/v1/batch" || d.Bytes != len(got) || len(d.Messages) != 1 || d.Messages[0].Collector != "counter" {
		t.Errorf("GET /telemetry/deliveries = %+v, want the one delivery", deliveries)
	}
	verify(t, h)

	var all struct {
		InstanceUID               string
		Next, Pending             []struct{ Body string }
		Windows                   []struct{ Window uint64 }
		Deliveries                []telemetry.Delivery
		State                     struct{ Window uint64 }
		Quarantined, Undocumented json.RawMessage
	}
	read(h, "/telemetry/export", &all)
	if all.InstanceUID == "" || len(all.Next) != 1 || len(all.Pending) != 0 || len(all.Windows) != 1 || len(all.Deliveries) != 1 || all.State.Window != 2 || string(all.Quarantined) != "[]" {
		t.Errorf("GET /telemetry/export = %+v, want all that there is", all)
	}
	if len(platform.took()) != 1 {
		t.Errorf("looking made %d deliveries, want the one that was due", len(platform.took()))
	}
}

// verify has the window under way delivered to a listener.
func verify(t *testing.T, h *house.House) {
	t.Helper()
	listener := newTaker(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(listener.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Of, Request string }
	r := h.Must("POST", "/telemetry/verify", `{"port":`+port+`}`)
	if err := json.Unmarshal([]byte(r.Body), &said); err != nil {
		t.Fatal(err)
	}
	if got := listener.took(); len(got) != 1 || got[0] != said.Request || said.Of != "next" || !strings.Contains(said.Request, `"gpu":false`) {
		t.Errorf("the listener got %q, and POST /telemetry/verify says %+v, want the same", got, said)
	}
	if a := listener.requests[0].Header.Get("Authorization"); a != "" || listener.requests[0].URL.Path != "/v1/batch" {
		t.Errorf("the listener was asked %s with Authorization %q, want /v1/batch and no key", listener.requests[0].URL, a)
	}
	for _, body := range []string{`{}`, `{"port":65536}`, `{"port":"80"}`, `{"url":"http://example.com"}`} {
		if r := h.Call("POST", "/telemetry/verify", body); r.Status != http.StatusBadRequest {
			t.Errorf("POST /telemetry/verify %s = %d %s, want 400", body, r.Status, r.Body)
		}
	}
	nobody, err := freeport.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	if r := h.Call("POST", "/telemetry/verify", fmt.Sprintf(`{"port":%d}`, nobody[0])); r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "Nobody took the delivery") {
		t.Errorf("POST /telemetry/verify to nobody = %d %s", r.Status, r.Body)
	}
}

// read asks for a page of JSON.
func read(h *house.House, path string, into any) {
	h.T.Helper()
	if err := json.Unmarshal([]byte(h.Must("GET", path, "").Body), into); err != nil {
		h.T.Fatalf("GET %s: %v", path, err)
	}
}
