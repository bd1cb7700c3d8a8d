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

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// publishVersions puts versions of the plugin plain-c into a registry, and returns
// where they are.
func publishVersions(t *testing.T, versions ...string) (base string) {
	t.Helper()
	shelf := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	t.Cleanup(shelf.Close)
	base = "oci://" + strings.TrimPrefix(shelf.URL, "http://") + "/plain-c"
	publisher := host.OpenInstaller(house.Publishing(t), host.Options{})
	for _, version := range versions {
		file := filepath.Join(t.TempDir(), "x.wasm")
		module := house.Packed(t, house.OldModules(t)["plain-c"], "plain-c", map[string]any{"version": version, "grants": map[string]any{"http": []string{"${baseUrl}"}}})
		if err := os.WriteFile(file, module, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := publisher.Push(t.Context(), file, base, zeroTime); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// uses waits until a house has a version of plain-c in use.
func uses(h *house.House, version string) {
	h.T.Helper()
	waittest.For(h.T, "plain-c "+version+" is in use", func() bool {
		if h.Call("GET", "/ready", "").Status != http.StatusOK {
			return false // it began just now
		}
		for _, p := range h.Plugins() {
			if p.Name == "plain-c" && p.Use {
				return p.Version == version && p.State == "ready"
			}
		}
		return false
	})
}

// TestClusterPlugins: what clients change of the plugins of one node reaches all, also
// one that comes later, and nobody else changes their directories.
func TestClusterPlugins(t *testing.T) {
	t.Parallel()
	base := publishVersions(t, "1.0.0", "1.1.0")
	w := openTown(t, 0, 1)
	w.flags["plugin-api"] = "true"
	dirs := map[*house.House]string{} // of plugins
	openAt := func(dir, plugins string) *house.House {
		w.flags["plugin-dir"] = plugins
		h := w.open(dir)
		dirs[h] = plugins
		return h
	}
	open := func() *house.House { return openAt(t.TempDir(), filepath.Join(t.TempDir(), "plugins")) }
	w.houses = append(w.houses, open(), open())
	w.leader()
	w.write(1)
	w.level()
	for i, version := range []string{"1.0.0", "1.1.0"} {
		r := w.eventually(w.houses[i], "POST", "/plugins/install", fmt.Sprintf(`{"source": %q}`, base+":"+version))
		if !strings.Contains(r.Body, `"use":"`+version+`"`) { // it may be loaded by the change in the folder, before this answer
			t.Errorf("install of %s: %s", version, r.Body)
		}
		for _, h := range w.houses {
			uses(h, version)
		}
	}

	// One that begins with a snapshot has them before it serves.
	w.eventually(w.houses[0], "POST", "/cluster/snapshot", "")
	w.houses = append(w.houses, open())
	uses(w.houses[2], "1.1.0")

	// One that was away learns of what was changed meanwhile.
	away := (w.leader() + 1) % 3
	dir, plugins := w.houses[away].Dir, dirs[w.houses[away]]
	w.houses[away].Close()
	w.houses[away] = nil
	here := w.houses[w.leader()]
	w.eventually(here, "POST", "/plugins/rollback", `{"name": "plain-c"}`)
	w.houses[away] = openAt(dir, plugins)
	var locks []string
	for _, h := range w.houses {
		uses(h, "1.0.0")
		lock, err := os.ReadFile(filepath.Join(dirs[h], "plugins.lock"))
		if err != nil {
			t.Fatal(err)
		}
		locks = append(locks, string(lock))
		if got := h.Must("GET", "/cluster", "").Body; strings.Contains(got, `"plugins"`) {
			t.Errorf("GET /cluster = %s, want nothing of plugins that fail", got)
		}
	}
	if locks[0] != locks[1] || locks[0] != locks[2] {
		t.Errorf("the locks differ: %q", locks)
	}

	// What is refused changes nothing anywhere, and commands are.
	if r := here.Call("POST", "/plugins/pin", `{"plugin": "plain-c@9.9.9"}`); r.Status != http.StatusUnprocessableEntity {
		t.Errorf("pin of what is not there: %d %s", r.Status, r.Body)
	}
	c := w.config(t.TempDir())
	c.PluginDir = dirs[w.houses[0]]
	if _, err := host.OpenInstaller(c, host.Options{}).Pin(t.Context(), "plain-c@1.1.0", deploy.InstallOptions{}); err == nil || !strings.Contains(err.Error(), "POST /plugins/install") {
		t.Errorf("a command pins in a node's directory: %v, want an error that says how", err)
	}

	// What is removed at one node goes at all, by its version and then as a whole.
	files := func(h *house.House) string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(dirs[h], "plain-c-*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i] = filepath.Base(list[i])
		}
		return strings.Join(list, " ")
	}
	gone := func(want string) {
		t.Helper()
		for i, h := range w.houses {
			waittest.For(t, fmt.Sprintf("house %d has only %q", i, want), func() bool {
				return files(h) == want && (want != "" || len(h.Plugins()) == 1) // that which the program carries
			})
		}
	}
	for i, body := range []string{`{"plugin": "plain-c@1.1.0"}`, `{"plugin": "plain-c"}`} {
		w.eventually(w.houses[i], "POST", "/plugins/remove", body)
		gone([]string{"plain-c-1.0.0.wasm", ""}[i])
	}
	w.eventually(w.houses[2], "POST", "/plugins/install", fmt.Sprintf(`{"source": %q}`, base+":1.1.0"))
	for _, h := range w.houses {
		uses(h, "1.1.0")
	}

	// A node that is not to take plugins from clients keeps its own, and says so.
	w.flags["plugin-api"] = "false"
	alone := open()
	waittest.For(t, "the node says that it keeps its own", func() bool {
		return strings.Contains(alone.Must("GET", "/cluster", "").Body, "start it with --plugin-api")
	})
	for _, h := range w.houses {
		h.Close()
	}
	alone.Close()
	first := sharedRecords(t, w.houses[0].Dir)
	for _, h := range w.houses[1:] {
		if sharedRecords(t, h.Dir) != first {
			t.Errorf("the records of %s differ", h.Dir)
		}
	}
}

// TestClusterInstallFails: where the log is lost amid the first change of plugins, the
// directory of the leader is what it was, and its own.
func TestClusterInstallFails(t *testing.T) {
	t.Parallel()
	base := publishVersions(t, "1.0.0", "1.1.0")
	for path, body := range map[string]string{
		"install": `{"source": "` + base + `:1.1.0"}`,
		"remove":  `{"plugin": "plain-c"}`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			w := openTown(t, 0, 1)
			dir := filepath.Join(t.TempDir(), "plugins")
			c := w.config(t.TempDir())
			c.PluginDir = dir
			d := host.OpenInstaller(c, host.Options{})
			if _, err := d.InstallFrom(t.Context(), base+":1.0.0", deploy.InstallOptions{}); err != nil {
				t.Fatal(err)
			}
			state := func() string {
				t.Helper()
				var b strings.Builder
				files, err := os.ReadDir(dir)
				for _, f := range files {
					fmt.Fprintln(&b, f.Name())
				}
				lock, wrong := os.ReadFile(filepath.Join(dir, "plugins.lock"))
				if err != nil || wrong != nil {
					t.Fatal(err, wrong)
				}
				return b.String() + string(lock)
			}
			before := state()
			// It leads for a while though the log is lost.
			w.flags["plugin-api"], w.flags["plugin-dir"], w.flags["cluster-lease"] = "true", dir, "4s"
			h := w.open(t.TempDir())
			w.houses = append(w.houses, h)
			w.eventually(h, "PATCH", "/experimental-features", "{}")
			w.dropStream("PARLEY_town_LOG")
			if r := h.Call("POST", "/plugins/"+path, body); r.Status != http.StatusServiceUnavailable || !strings.Contains(r.Body, "cluster_unknown") {
				t.Errorf("%s while the log is lost: %d %s", path, r.Status, r.Body)
			}
			if now := state(); now != before {
				t.Errorf("after a change that failed the directory is\n%s\nit was\n%s", now, before)
			}
			var said string
			if !waittest.Until(func() bool {
				said = h.Must("GET", "/cluster", "").Body
				return strings.Contains(said, "the cluster has no stream PARLEY_town_LOG")
			}) {
				t.Errorf("GET /cluster = %s, want it to say that the stream is not there", said)
			}
			if _, err := d.Remove(t.Context(), "plain-c"); err != nil {
				t.Errorf("a command in a directory that is nobody else's: %v", err)
			}
		})
	}
}
