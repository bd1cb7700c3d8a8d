package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestMetrics switches GET /metrics on while the host runs and reads what a
// stream, a swap and a refused file left there.
func TestMetrics(t *testing.T) {
	checkLeak(t)
	w := newWire(t)
	dir := t.TempDir()
	h := openHouse(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	if r := h.call("GET", "/metrics", ""); r.status/100 != 4 || !strings.Contains(r.body, `"code":"feature_not_enabled"`) {
		t.Errorf("GET /metrics while it is off: %d %s", r.status, r.body)
	}
	h.must("PATCH", "/experimental-features", `{"metrics":true}`)

	a := attack{guest: "keydeep", where: "any"} // which is harmless
	put(t, dir, "first.wasm", a.module(t, w.url))
	put(t, dir, "bad.wasm", []byte("no module"))
	h.must("POST", "/plugins/reload", "")
	w.on("/echo", says(stream+delta("x")+finish))
	h.must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"keydeepany","baseUrl":%q}`, w.url))
	if r, got := h.ask("x", "any"); got["finish_reason"] != "stop" {
		t.Fatalf("answer: %s", r.body)
	}
	put(t, dir, "second.wasm", packed(t, guest(t, "plugin", "keydeep"), "keydeepany", map[string]any{"version": "1.1.0"}))
	h.waitFor("the second version is in use", func() bool {
		h.must("POST", "/plugins/reload", "")
		return h.shows("1.1.0", "ready")
	})

	r := h.must("GET", "/metrics", "")
	if got := r.header.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
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
		if !strings.Contains(r.body, "\n"+want) {
			t.Errorf("GET /metrics has no line %s", want)
		}
	}
	if t.Failed() {
		t.Log(r.body)
	}
	if r := h.call("POST", "/metrics", "{}"); r.status != http.StatusMethodNotAllowed {
		t.Errorf("POST /metrics: %d", r.status)
	}
}
