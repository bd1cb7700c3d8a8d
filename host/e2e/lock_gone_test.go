package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// problems are those that GET /plugins shows.
func problems(h *house.House) string {
	h.T.Helper()
	var shown struct{ Problems []string }
	if err := json.Unmarshal([]byte(h.Must("GET", "/plugins", "").Body), &shown); err != nil {
		h.T.Fatal(err)
	}
	return strings.Join(shown.Problems, "\n")
}

// TestLockGone takes away the lock, and the folder, below a host that runs: no lock is not
// a lock that pins nothing. The host goes on, says so, and so does its next start.
func TestLockGone(t *testing.T) {
	l := newLocked(t)
	l.install("1.0.0", deploy.InstallOptions{})
	flags := map[string]string{"plugin-dir": l.dir, "db-path": t.TempDir()}
	h := house.Open(t, flags)
	lock := filepath.Join(l.dir, "plugins.lock")
	text, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	runs := func(what string) {
		t.Helper()
		if r := h.Must("GET", "/ready", ""); !h.Shows("1.0.0", "ready") || !strings.Contains(problems(h), "plugins.lock") || !strings.Contains(r.Body, `"problem":"plugins.lock cannot be read, or is gone`) {
			t.Errorf("%s: GET /plugins shows %+v and the problems %q, GET /ready %s", what, h.Plugins(), problems(h), r.Body)
		}
		h.Must("PATCH", "/experimental-features", `{"metrics":true}`)
		if !strings.Contains(h.Must("GET", "/metrics", "").Body, "\nparley_plugin_lock_problem 1\n") {
			t.Errorf("%s: the gauge does not say so", what)
		}
	}
	healed := func() {
		t.Helper()
		h.Must("POST", "/plugins/reload", "")
		if got := problems(h); got != "" || !h.Shows("1.0.0", "ready") || strings.Contains(h.Must("GET", "/ready", "").Body, "problem") {
			t.Errorf("with the lock again: the problems %q, GET /plugins %+v", got, h.Plugins())
		}
	}
	for what, act := range map[string]struct{ away, back func() error }{
		"the lock is gone":   {func() error { return os.Rename(lock, lock+".away") }, func() error { return os.Rename(lock+".away", lock) }},
		"the folder is gone": {func() error { return os.Rename(l.dir, l.dir+".away") }, func() error { return os.Rename(l.dir+".away", l.dir) }},
		"a merge": {
			func() error { return os.WriteFile(lock, append([]byte("<<<<<<< HEAD\n"), text...), 0o600) },
			func() error { return os.WriteFile(lock, text, 0o600) },
		},
	} {
		if err := act.away(); err != nil {
			t.Fatal(err)
		}
		if r := h.Call("POST", "/plugins/reload", ""); r.Status != http.StatusInternalServerError {
			t.Errorf("%s: POST /plugins/reload = %d %s", what, r.Status, r.Body)
		}
		runs(what)
		if what != "the folder is gone" { // without which nothing can run
			h.Close()
			h = house.Open(t, flags)
			runs(what + ", and a new start")
			h.Must("GET", "/plugins", "")
		}
		if err := act.back(); err != nil {
			t.Fatal(err)
		}
		healed()
	}
	h.Close()

	// Another directory is another deployment, with nothing pinned.
	other := t.TempDir()
	put(t, other, "live-1.0.0.wasm", house.Packed(t, l.good, "live", nil))
	h = house.Open(t, map[string]string{"plugin-dir": other, "db-path": flags["db-path"]})
	if got := problems(h); got != "" || !h.Shows("1.0.0", "unlisted") {
		t.Errorf("another directory: the problems %q, GET /plugins %+v", got, h.Plugins())
	}

	// Nothing is installed beside modules whose lock may be lost.
	d := host.OpenInstaller(config.Config{PluginDir: other}, host.Options{})
	file := filepath.Join(t.TempDir(), "any.wasm")
	put(t, filepath.Dir(file), "any.wasm", house.Packed(t, l.good, "fine", nil))
	if _, err := d.InstallFrom(t.Context(), file, deploy.InstallOptions{}); err == nil || !strings.Contains(err.Error(), "--new-lock") {
		t.Errorf("install where a module lies without a lock: %v, want a word about --new-lock", err)
	}
	if _, err := os.Stat(filepath.Join(other, "plugins.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused install left a lock: %v", err)
	}
	if err := d.Dir.CheckLock(); err == nil || !strings.Contains(err.Error(), "--new-lock --plugin-dir "+other) {
		t.Errorf("verify without a lock: %v, want the command that begins one", err)
	}
	if _, err := d.InstallFrom(t.Context(), file, deploy.InstallOptions{NewLock: true}); err != nil || d.Dir.CheckLock() != nil {
		t.Errorf("install with a new lock: %v, %v", err, d.Dir.CheckLock())
	}
}
