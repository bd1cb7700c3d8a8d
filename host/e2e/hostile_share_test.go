package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// TestFaultyClient shows that a client whose input makes a plugin fail is kept away from
// it alone: another workspace on the same plugin gets every answer. GET /plugins and the
// figures say whose input it was.
func TestFaultyClient(t *testing.T) {
	w := house.NewWire(t)
	w.On("/200", says(house.Stream+house.Delta("x")+house.Finished))
	dir := t.TempDir()
	a := attack{guest: "trap", where: "encode"}
	put(t, dir, a.source()+"-1.0.0.wasm", a.module(t, w.URL))
	h := house.Open(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	for workspace, org := range map[string]string{"g": "!x", "v": "x"} { // over "!" the guest traps
		h.Must("PATCH", "/chats/"+workspace+"/settings", fmt.Sprintf(`{"source":%q,"baseUrl":%q,"orgId":%q,"apiKey":%q}`, a.source(), w.URL, org, apiKey))
	}
	rests := 0
	for n := range 40 {
		r, _ := h.Ask("g", "any")
		switch {
		case r.Status == http.StatusServiceUnavailable && strings.Contains(r.Body, "others are not affected"):
			if rests++; r.Header.Get("Retry-After") == "" {
				t.Error("a refusal without Retry-After")
			}
		case n < 3 && r.Status == http.StatusBadGateway, n >= 3 && strings.Contains(r.Body, "(trap)"):
		default:
			t.Errorf("question %d of the bad client: status %d, %.300s", n, r.Status, r.Body)
		}
		for range 2 {
			// The guest says "hi" over each event, and never that it has finished.
			if r, got := h.Ask("v", "any"); r.Status != http.StatusOK || got["text"] != "hihi" {
				t.Fatalf("the good client got no answer after question %d of the bad one: status %d, %.300s", n, r.Status, r.Body)
			}
		}
	}
	if rests == 0 {
		t.Error("the bad client was never told to wait")
	}
	shown := h.Must("GET", "/plugins", "").Body
	for _, part := range []string{`"state":"ready"`, `"clients":[{"workspace":"g",`, `"pausedUntil":"`, `"workspace":"g"`} {
		if !strings.Contains(shown, part) {
			t.Errorf("GET /plugins lacks %s: %s", part, shown)
		}
	}
	h.Must("PATCH", "/experimental-features", `{"metrics":true}`)
	if got := h.Must("GET", "/metrics", "").Body; !strings.Contains(got, `parley_chat_failures_total{kind="plugin_fault",source="trapencode",workspace="g"}`) {
		t.Errorf("the figures do not say whose input it was: %s", house.Around(got, "parley_chat_failures_total{"))
	}
}
