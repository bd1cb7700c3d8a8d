package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// place puts a file into dir in one step, as tools do that mind their readers.
// All are of one date, long ago, as those that come out of an archive may be:
// what is in a file says whether it is new.
func place(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	put(t, dir, name+".part", b)
	if err := os.Chtimes(filepath.Join(dir, name+".part"), time.Time{}, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, name+".part"), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestReload changes the plugin directory of a running host in every way: what
// it finds by itself, what it refuses, and what POST /plugins/reload answers.
//
//parley:option plugin-lock
func TestReload(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	dir := filepath.Join(t.TempDir(), "plugins") // made later
	h := house.Open(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	good := guest(t, "plugin", "good")
	version := func(v string) []byte { return house.Packed(t, good, "live", map[string]any{"version": v}) }

	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	place(t, dir, "live-1.0.0.wasm", version("1.0.0"))
	h.WaitFor("the first version runs", func() bool { return h.Shows("1.0.0", "ready") })

	// Beside it, a newer one is used; the older stays for who names it.
	place(t, dir, "live-1.1.0.wasm", version("1.1.0"))
	h.WaitFor("the second version runs", func() bool { return h.Shows("1.1.0", "ready") })
	for _, p := range h.Plugins() {
		if p.Use != (p.Version == "1.1.0") {
			t.Errorf("version %s in use: %v", p.Version, p.Use)
		}
	}
	h.WaitFor("a log line says that 1.1.0 took the place of 1.0.0", func() bool {
		return hasLine(h, "plugin swapped", `"before":"1.0.0"`, "live 1.1.0")
	})

	// A file that is not whole changes nothing, and says why.
	whole := version("1.2.0")
	place(t, dir, "live-1.1.0.wasm", whole[:len(whole)/2])
	h.WaitFor("the half file is refused", func() bool { return h.Shows("", "refused") })
	if !h.Shows("1.1.0", "ready") {
		t.Errorf("the version whose file was damaged is gone: %+v", h.Plugins())
	}
	for _, p := range h.Plugins() {
		if p.State == "refused" && (!strings.Contains(p.Error, "the module is damaged") || p.From != filepath.Join(dir, "live-1.1.0.wasm")) {
			t.Errorf("refused: %+v", p)
		}
	}
	put(t, dir, "live-1.1.0.wasm", whole)
	h.WaitFor("the whole file runs", func() bool { return h.Shows("1.2.0", "ready") && !h.Shows("1.1.0", "ready") })

	// What is taken away is let go.
	if err := os.Remove(filepath.Join(dir, "live-1.1.0.wasm")); err != nil {
		t.Fatal(err)
	}
	h.WaitFor("the file's version is gone", func() bool { return len(h.Plugins()) == 1 && h.Shows("1.0.0", "ready") })

	// The route does the same and answers what it did. The folder may be seen by
	// the watcher first, so nothing changes in it here.
	r := h.Must("POST", "/plugins/reload", "")
	if strings.TrimSpace(r.Body) != `{"loaded":[],"retired":[],"refused":[],"unchanged":1}` {
		t.Errorf("POST /plugins/reload = %s", r.Body)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(dir), "plugins", nil) // a file where the folder was
	if r := h.Call("POST", "/plugins/reload", ""); r.Status != http.StatusInternalServerError || !strings.Contains(r.Body, `"code":"plugins_not_reloaded"`) {
		t.Errorf("POST /plugins/reload without a folder: %d %s", r.Status, r.Body)
	}
	if !h.Shows("1.0.0", "ready") {
		// Where the watcher saw the folder gone before the file came, nothing was
		// wanted any more.
		h.WaitFor("the last version is let go", func() bool { return len(h.Plugins()) == 0 })
	}
}

// TestFuelOfTheDeployment bounds the calls of all plugins.
//
//parley:option plugin-fuel
func TestFuelOfTheDeployment(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	w := house.NewWire(t)
	dir := t.TempDir()
	a := attack{guest: "spin", where: "encode"}
	put(t, dir, "spin.wasm", a.module(t, w.URL))
	h := house.Open(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off", "plugin-fuel": "100000"})
	h.Must("PATCH", "/chats/x/settings", `{"source":"spinencode","orgId":"!","baseUrl":"`+w.URL+`"}`)
	if r, _ := h.Ask("x", "any"); r.Status != http.StatusBadGateway || !strings.Contains(r.Body, "failed (fuel)") {
		t.Errorf("an endless loop: %d %s; want it ended for its fuel", r.Status, r.Body)
	}
	if r := h.Must("GET", "/plugins", ""); !strings.Contains(r.Body, `"fuelP99":`) || !strings.Contains(r.Body, `"fuel":1`) {
		t.Errorf("GET /plugins: %s", r.Body)
	}
}
