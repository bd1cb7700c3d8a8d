package e2e

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
)

// TestPluginAPI installs a plugin from a registry into a host that runs, chats by it,
// and rolls a newer one back, all by HTTP; and is refused where the operator did not
// allow that.
//
//parley:option plugin-api
func TestPluginAPI(t *testing.T) {
	t.Parallel()
	store := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	defer store.Close()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"well"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()
	old := house.OldModules(t)["plain-c"]
	base := "oci://" + strings.TrimPrefix(store.URL, "http://") + "/plain-c"
	publisher := host.OpenInstaller(house.Publishing(t), host.Options{})
	for _, version := range []string{"1.0.0", "1.1.0"} {
		file := filepath.Join(t.TempDir(), "x.wasm")
		module := house.Packed(t, old, "plain-c", map[string]any{"version": version, "grants": map[string]any{"http": []string{"${baseUrl}"}}})
		if err := os.WriteFile(file, module, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := publisher.Push(t.Context(), file, base, zeroTime); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "plugins")
	h := house.Open(t, map[string]string{"plugin-dir": dir, "plugin-api": "true"})
	chat := func() {
		t.Helper()
		h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source": "plain-c", "baseUrl": %q}`, provider.URL+"/v1"))
		if r, got := h.Ask("w", "m"); got["text"] != "well" {
			t.Errorf("the answer: %d %.300s", r.Status, r.Body)
		}
	}
	install := func(version string) {
		t.Helper()
		r := h.Must("POST", "/plugins/install", fmt.Sprintf(`{"source": %q}`, base+":"+version))
		if !strings.Contains(r.Body, `"loaded":[{"name":"plain-c","version":"`+version+`"`) {
			t.Errorf("install of %s: %s", version, r.Body)
		}
		if strings.Contains(r.Body, dir) {
			t.Errorf("install tells where the host keeps files: %s", r.Body)
		}
	}
	install("1.0.0")
	chat()
	install("1.1.0")
	chat()
	h.Must("POST", "/plugins/rollback", `{"name": "plain-c"}`)
	for _, p := range h.Plugins() {
		if p.Use != (p.Version == "1.0.0") {
			t.Errorf("after the rollback plugin %s %s is in use: %v", p.Name, p.Version, p.Use)
		}
	}
	chat()
	// A module that cannot run is not kept.
	bad := filepath.Join(t.TempDir(), "bad.wasm")
	if err := os.WriteFile(bad, house.Packed(t, guest(t, "plugin", "good"), "plain-c", map[string]any{"version": "2.0.0", "selfTest": []any{map[string]any{"call": "error", "input": map[string]any{"status": 500}, "output": map[string]any{"kind": "nothing"}}}}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := publisher.Push(t.Context(), bad, base, zeroTime); err != nil {
		t.Fatal(err)
	}
	if r := h.Call("POST", "/plugins/install", fmt.Sprintf(`{"source": %q, "grant": true}`, base+":2.0.0")); r.Status != http.StatusUnprocessableEntity {
		t.Errorf("install of what fails its self-test: %d %s", r.Status, r.Body)
	}
	if _, err := os.Stat(filepath.Join(dir, "plain-c-2.0.0.wasm")); err == nil {
		t.Error("what fails its self-test was kept")
	}
	h.Close()

	for _, flags := range []map[string]string{{}, {"plugin-api": "true", "plugin-lock": "off"}} {
		flags["plugin-dir"] = filepath.Join(t.TempDir(), "plugins")
		h := house.Open(t, flags)
		if r := h.Call("POST", "/plugins/install", fmt.Sprintf(`{"source": %q}`, base+":1.0.0")); r.Status != http.StatusForbidden || !strings.Contains(r.Body, "plugin_api_disabled") {
			t.Errorf("install with %v: %d %s", flags, r.Status, r.Body)
		}
		h.Close()
	}
	// Private addresses are the operator's to allow.
	h = house.Open(t, map[string]string{"plugin-dir": filepath.Join(t.TempDir(), "plugins"), "plugin-api": "true", "allow-private-networks": "10.0.0.0/8"})
	if r := h.Call("POST", "/plugins/install", fmt.Sprintf(`{"source": %q}`, base+":1.0.0")); r.Status != http.StatusUnprocessableEntity || !strings.Contains(r.Body, "the address is private") {
		t.Errorf("install from an address that is not allowed: %d %s", r.Status, r.Body)
	}
}

var zeroTime time.Time
