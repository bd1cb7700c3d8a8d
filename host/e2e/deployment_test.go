package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A locked is a plugin directory, the deployment that a command would change in
// it, and its plugin "live", by version.
type locked struct {
	t    *testing.T
	dir  string
	d    *deploy.Installer
	good []byte
}

func newLocked(t *testing.T) *locked {
	dir := filepath.Join(t.TempDir(), "plugins")
	return &locked{t, dir, host.OpenInstaller(config.Config{PluginDir: dir}, host.Options{}), guest(t, "plugin", "good")}
}

func (l *locked) install(version string, o deploy.InstallOptions) {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), "any.wasm")
	if err := os.WriteFile(file, house.Packed(l.t, l.good, "live", map[string]any{"version": version}), 0o600); err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.d.InstallFrom(l.t.Context(), file, o); err != nil {
		l.t.Fatal(err)
	}
}

func (l *locked) open(modules ...[]byte) *house.House {
	l.t.Helper()
	return house.Open(l.t, map[string]string{"plugin-dir": l.dir}, modules...)
}

// TestLocked runs what the lock pins, and goes along with what commands change
// meanwhile.
//
//parley:option plugin-dir
func TestLocked(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	l := newLocked(t)
	l.install("1.0.0", deploy.InstallOptions{})
	l.install("1.1.0", deploy.InstallOptions{})
	carried := [][]byte{
		house.Packed(t, l.good, "live", map[string]any{"version": "3.0.0"}),
		house.Packed(t, l.good, "carried", map[string]any{"version": "0.5.0"}),
	}
	h := l.open(carried...)
	inUse := func(version string) func() bool {
		return func() bool {
			return slices.ContainsFunc(h.Plugins(), func(p house.ShownPlugin) bool {
				return p.Name == "live" && p.Use && p.Version == version && p.State == "ready"
			})
		}
	}
	got := h.Plugins()
	if len(got) != 3 || !inUse("1.1.0")() || !h.Shows("1.0.0", "ready") || h.Shows("3.0.0", "ready") {
		t.Fatalf("GET /plugins = %+v, want live 1.1.0 in use, 1.0.0 beside it, and carried", got)
	}
	for _, p := range got {
		if p.Locked != (p.Name == "live") || len(p.SHA256) != 64 {
			t.Errorf("GET /plugins shows %+v", p)
		}
	}

	// Each workspace has the version in use, or the one that it names.
	base := `"source":"live","baseUrl":"http://127.0.0.1:9"`
	h.Must("PATCH", "/chats/any/settings", `{`+base+`}`)
	h.Must("PATCH", "/chats/narrow/settings", `{`+base+`,"pluginVersion":"~1.0.0"}`)
	calls := func(version string) int {
		for _, p := range h.Plugins() {
			if p.Version == version && p.Name == "live" {
				return p.Calls
			}
		}
		return -1
	}
	for workspace, version := range map[string]string{"any": "1.1.0", "narrow": "1.0.0"} {
		before := calls(version)
		h.Ask(workspace, "m") // which the plugin answers with an origin that it was not granted
		if after := calls(version); after <= before {
			t.Errorf("workspace %s: version %s has %d calls, and had %d", workspace, version, after, before)
		}
	}
	r := h.Call("PATCH", "/chats/narrow/settings", `{"pluginVersion":"~1.2"}`)
	if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "invalid_chat_completion_plugin_version") || !strings.Contains(r.Body, "the deployment's pin is 1.1.0") {
		t.Errorf("PATCH of a version that is not there: %d %s", r.Status, r.Body)
	}

	// A running host follows the commands.
	if _, err := l.d.Rollback(t.Context(), "live"); err != nil {
		t.Fatal(err)
	}
	h.WaitFor("1.0.0 is in use after the rollback", inUse("1.0.0"))
	l.install("1.2.0", deploy.InstallOptions{})
	h.WaitFor("1.2.0 is in use after its install", inUse("1.2.0"))
	if _, err := l.d.Pin(t.Context(), "live@~1.1", deploy.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	h.WaitFor("1.1.0 is in use, by ~1.1", func() bool {
		return slices.ContainsFunc(h.Plugins(), func(p house.ShownPlugin) bool { return p.Version == "1.1.0" && p.Use && p.Constraint == "~1.1" })
	})
	if _, err := l.d.Remove(t.Context(), "live@1.0.0"); err != nil {
		t.Fatal(err)
	}
	h.WaitFor("1.0.0 has left", func() bool { return !h.Shows("1.0.0", "ready") && !h.Shows("1.0.0", "unlisted") })

	// A lock that nobody can read changes nothing, and says where it is wrong.
	lock := filepath.Join(l.dir, "plugins.lock")
	good, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	place(t, l.dir, "plugins.lock", []byte("{\n  \"form\": 1\n}"))
	h.WaitFor("the log tells of the lock", func() bool { return hasLine(h, "plugins not reloaded", lock+":2:3: ") })
	if r := h.Call("POST", "/plugins/reload", ""); r.Status != http.StatusInternalServerError || !strings.Contains(r.Body, "plugins.lock:2:3: ") {
		t.Errorf("POST /plugins/reload = %d %s", r.Status, r.Body)
	}
	if !inUse("1.1.0")() {
		t.Errorf("after a damaged lock: %+v", h.Plugins())
	}
	place(t, l.dir, "plugins.lock", good)

	// A grant that is taken back counts at once, also for what runs.
	place(t, l.dir, "plugins.lock", []byte(strings.ReplaceAll(string(good), "\"apiKey\"", "")))
	h.WaitFor("what was granted no longer is refused", func() bool { return h.Shows("1.1.0", "refused") && !h.Shows("1.1.0", "ready") })
	h.WaitFor("a log line says why live 1.1.0 is left out", func() bool {
		return hasLine(h, "plugin left out", "asks for the secret apiKey, which the lock does not accept", "parley plugin pin live@1.1.0 --grant")
	})
	place(t, l.dir, "plugins.lock", good)
	h.WaitFor("1.1.0 runs with its grant again", inUse("1.1.0"))

	// Without a pin left, the plugin of the binary steps in.
	if _, err := l.d.Remove(t.Context(), "live"); err != nil {
		t.Fatal(err)
	}
	h.WaitFor("the binary's own is in use", inUse("3.0.0"))
}

// TestLockedRefused starts on a deployment of which something is wrong: the
// rest runs, and what does not is named with the reason and the remedy.
func TestLockedRefused(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	l := newLocked(t)
	l.install("1.0.0", deploy.InstallOptions{})
	l.install("1.1.0", deploy.InstallOptions{})
	fine := house.Packed(t, l.good, "fine", nil)
	put(t, l.dir, "loose-1.0.0.wasm", house.Packed(t, l.good, "loose", nil))
	altered := filepath.Join(l.dir, "live-1.1.0.wasm")
	b, err := os.ReadFile(altered)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, 0, 1, 0) // harmless, but not what was pinned
	put(t, l.dir, "live-1.1.0.wasm", b)

	h := l.open(fine, house.Packed(t, l.good, "live", map[string]any{"version": "3.0.0"}))
	want := map[string]string{"live 1.1.0": "refused", "live 1.0.0": "ready", "fine 1.0.0": "ready", "loose 1.0.0": "unlisted"}
	got := map[string]string{}
	for _, p := range h.Plugins() {
		got[p.Name+" "+p.Version] = p.State
		switch p.State {
		case "refused":
			if p.From != altered || !p.Use || !p.Locked || len(p.SHA256) != 64 || !strings.Contains(p.Error, "expects sha256 "+p.SHA256) || !strings.Contains(p.Error, "`parley plugin sync") {
				t.Errorf("refused: %+v", p)
			}
		case "unlisted":
			if p.Use || !strings.Contains(p.Error, "`parley plugin pin loose@1.0.0") {
				t.Errorf("unlisted: %+v", p)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("GET /plugins shows %v, want %v", got, want)
	}
	for name, state := range want {
		if got[name] != state {
			t.Errorf("%s is %q, want %q", name, got[name], state)
		}
	}
	if !hasLine(h, `"level":"error"`, "plugin left out", altered, "was altered") || !hasLine(h, `"level":"warn"`, "plugin left out", "loose-1.0.0.wasm", "parley plugin pin loose@1.0.0") {
		t.Errorf("the log does not say what was left out: %s", h.Log.String())
	}

	// The version beside it is for who names it, and takes nobody else's chats.
	h.Must("PATCH", "/chats/any/settings", `{"source":"live","baseUrl":"http://127.0.0.1:9"}`)
	if r, _ := h.Ask("any", "m"); r.Status != http.StatusServiceUnavailable {
		t.Errorf("a chat with the refused plugin: %d %s", r.Status, r.Body)
	}
	h.Must("PATCH", "/chats/narrow/settings", `{"source":"live","baseUrl":"http://127.0.0.1:9","pluginVersion":"~1.0.0"}`)
	if r, _ := h.Ask("narrow", "m"); r.Status == http.StatusServiceUnavailable {
		t.Errorf("a chat with the version beside it: %d %s", r.Status, r.Body)
	}

	// The remedy, as it was named.
	l.install("1.1.0", deploy.InstallOptions{})
	h.WaitFor("the repaired plugin runs", func() bool { return h.Shows("1.1.0", "ready") })
}

// TestLockUnreadable: where nobody can tell what shall run, nothing does.
func TestLockUnreadable(t *testing.T) {
	checkLeak(t)
	dir := t.TempDir()
	put(t, dir, "plugins.lock", []byte(`{"format":1,"plugins":{"x":{"use":"1.0.0"}}}`))
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"http-addr": "127.0.0.1:0", "db-path": t.TempDir(), "plugin-dir": dir}})
	if err != nil {
		t.Fatal(err)
	}
	c.PluginCacheDir = house.CompiledModules(t)
	h, err := host.Open(t.Context(), c, host.Options{})
	if err == nil {
		h.Close()
	}
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "plugins.lock")+":1:") || !strings.Contains(err.Error(), "version control") {
		t.Errorf("Open: %v, want the place in the lock", err)
	}
}

// TestInstallTries keeps nothing of a module that no host could run.
func TestInstallTries(t *testing.T) {
	l := newLocked(t)
	for name, want := range map[string]string{"trap": "", "future": "parley_abi says 99", "unknownimport": "imports", "noexport": "lacks the export"} {
		file := filepath.Join(t.TempDir(), "x.wasm")
		if err := os.WriteFile(file, house.Packed(t, guest(t, "plugin", name), "live", nil), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := l.d.InstallFrom(t.Context(), file, deploy.InstallOptions{})
		if name == "trap" {
			continue // it traps when it is called, which installing does not
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Install of %s: %v, want …%s…", name, err, want)
		}
	}
	if _, err := l.d.Remove(t.Context(), "live"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(l.dir); err != nil || len(left) != 1 {
		t.Errorf("left in the directory: %v, %v; want the lock alone", left, err)
	}
}

func TestOnly(t *testing.T) {
	from := config.Sources{Environ: []string{"PARLEY_ENV=production", "PARLEY_PLUGIN_DIR=here"}}
	if _, _, err := config.Load(from); err == nil {
		t.Error("LoadConfig of production without a key: no error")
	}
	from.Only = []string{"plugin-dir"}
	if c, _, err := config.Load(from); err != nil || c.PluginDir != "here" || c.Env != "" {
		t.Errorf("LoadConfig of one option = %+v, %v", c, err)
	}
	from.Only = []string{"env"}
	if c, _, err := config.Load(from); err != nil || c.Env != "production" {
		t.Errorf("LoadConfig of env alone = %+v, %v", c, err)
	}
	from = config.Sources{Flags: map[string]string{"plugin-public-key": "no key"}}
	if _, _, err := config.Load(from); err == nil || !strings.Contains(err.Error(), "option plugin-public-key (flag --plugin-public-key) is \"no key\", which cannot be used: it is neither a public key of minisign") {
		t.Errorf("LoadConfig of a wrong key: %v", err)
	}
}

// TestPluginListJSON keeps the names that scripts read.
func TestPluginListJSON(t *testing.T) {
	l := newLocked(t)
	l.install("1.0.0", deploy.InstallOptions{})
	items, err := l.d.Dir.List(l.d.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`[{"name":"live","version":"1.0.0","kind":"provider","source":"live","owner":"live","abi":1,"sha256":"`, `"use":true,"before":false,"constraint":"","grants":{"http":["${baseUrl}"],"secrets":["apiKey"]},"state":"pinned"}]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("List = %s, want %s in it", b, want)
		}
	}
	if _, err := l.d.Rollback(t.Context(), "live"); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("Rollback of the only version: %v", err)
	}
}

// TestWorkspacePlugin sets up two plugins for one source. Chats go to the one that
// the lock binds, except those of a workspace that names the other; and its key does
// not go along when it changes over.
func TestWorkspacePlugin(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	l := newLocked(t)
	l.install("1.0.0", deploy.InstallOptions{})
	file := filepath.Join(t.TempDir(), "any.wasm")
	if err := os.WriteFile(file, house.Packed(t, l.good, "aaa", map[string]any{"source": "live", "version": "9.0.0"}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.d.InstallFrom(t.Context(), file, deploy.InstallOptions{}); err == nil {
		t.Fatal("Install for a bound source: no error")
	}
	if _, err := l.d.InstallFrom(t.Context(), file, deploy.InstallOptions{Beside: true}); err != nil {
		t.Fatal(err)
	}
	h := l.open()
	calls := func(name string) int {
		for _, p := range h.Plugins() {
			if p.Name == name {
				return p.Calls
			}
		}
		return -1
	}
	h.Must("PATCH", "/chats/any/settings", `{"source":"live","baseUrl":"http://127.0.0.1:9","apiKey":"sk-a-key-of-some-length"}`)
	h.Must("PATCH", "/chats/named/settings", `{"source":"live","baseUrl":"http://127.0.0.1:9","apiKey":"sk-a-key-of-some-length"}`)
	r := h.Must("PATCH", "/chats/named/settings", `{"plugin":"aaa"}`)
	if !strings.Contains(r.Header.Get("Warning"), "apiKey was dropped") || strings.Contains(h.Must("GET", "/chats/named/settings", "").Body, "sk-") {
		t.Errorf("the key went along to another plugin: %v", r.Header)
	}
	for workspace, name := range map[string]string{"any": "live", "named": "aaa"} {
		before := calls(name)
		h.Ask(workspace, "m")
		if after := calls(name); after <= before {
			t.Errorf("workspace %s: plugin %s has %d calls, and had %d", workspace, name, after, before)
		}
	}
	if got := h.Call("GET", "/plugins", "").Body; !strings.Contains(got, `"owner":"live"`) || strings.Contains(got, `"owner":"aaa"`) || !strings.Contains(got, `"workspaces":[{"uid":"named","plugin":"aaa","pluginVersion":"","version":"9.0.0"}]`) {
		t.Errorf("GET /plugins = %s", got)
	}
	if r := h.Call("PATCH", "/chats/named/settings", `{"plugin":"absent"}`); r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "invalid_chat_completion_plugin") || !strings.Contains(r.Body, "there is aaa, live") {
		t.Errorf("PATCH of a plugin that is not there: %d %s", r.Status, r.Body)
	}
	if _, err := l.d.Remove(t.Context(), "aaa"); err != nil {
		t.Fatal(err)
	}
	h.WaitFor("aaa has left", func() bool { return !h.Shows("9.0.0", "ready") })
	if r, _ := h.Ask("named", "m"); r.Status != http.StatusServiceUnavailable || !strings.Contains(r.Body, "asks for `plugin`") {
		t.Errorf("a chat with a plugin that left: %d %s", r.Status, r.Body)
	}
}
