package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// TestMetrics switches GET /metrics on while the host runs and reads what a
// stream, a swap and a refused file left there.
func TestMetrics(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	w := house.NewWire(t)
	dir := t.TempDir()
	h := house.Open(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	if r := h.Call("GET", "/metrics", ""); r.Status/100 != 4 || !strings.Contains(r.Body, `"code":"feature_not_enabled"`) {
		t.Errorf("GET /metrics while it is off: %d %s", r.Status, r.Body)
	}
	h.Must("PATCH", "/experimental-features", `{"metrics":true}`)

	a := attack{guest: "keydeep", where: "any"} // which is harmless
	put(t, dir, "first.wasm", a.module(t, w.URL))
	put(t, dir, "bad.wasm", []byte("no module"))
	h.Must("POST", "/plugins/reload", "")
	w.On("/echo", says(house.Stream+house.Delta("x")+house.Finish))
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"keydeepany","baseUrl":%q}`, w.URL))
	if r, got := h.Ask("x", "any"); got["finish_reason"] != "stop" {
		t.Fatalf("answer: %s", r.Body)
	}
	put(t, dir, "second.wasm", house.Packed(t, guest(t, "plugin", "keydeep"), "keydeepany", map[string]any{"version": "1.1.0"}))
	h.WaitFor("the second version is in use", func() bool {
		h.Must("POST", "/plugins/reload", "")
		return h.Shows("1.1.0", "ready")
	})

	r := h.Must("GET", "/metrics", "")
	if got := r.Header.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("Content-Type = %q", got)
	}
	for _, want := range []string{
		`parley_plugin_streams_total{plugin="keydeepany",version="1.0.0"} 1`,
		`parley_plugin_streams{plugin="keydeepany",version="1.0.0"} 0`,
		`parley_plugin_streams_total{plugin="keydeepany",version="1.1.0"} 0`,
		`parley_plugin_instances{plugin="keydeepany",version="1.0.0"} 1`,
		`parley_plugin_memory_bytes{plugin="keydeepany",version="1.0.0"} 4.194304e+06`,
		`parley_plugin_call_fuel{plugin="keydeepany",version="1.0.0",quantile="0.99"} `,
		`parley_plugin_swaps_total{plugin="keydeepany"} 1`,
		`parley_plugins_refused 1`,
		"go_goroutines ",
	} {
		if !strings.Contains(r.Body, "\n"+want) {
			t.Errorf("GET /metrics has no line %s", want)
		}
	}
	if t.Failed() {
		t.Log(r.Body)
	}
	if r := h.Call("POST", "/metrics", "{}"); r.Status != http.StatusMethodNotAllowed {
		t.Errorf("POST /metrics: %d", r.Status)
	}
}
