package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TestPluginCache: what a plugin is compiled to stays in the folder that is named,
// packed, and is listed and removed there.
//
//parley:option plugin-cache-dir
func TestPluginCache(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a module")
	}
	if apart.Run(t) {
		return
	}
	dir, data, plugins := filepath.Join(t.TempDir(), "compiled"), t.TempDir(), t.TempDir()
	buildProvider(t, "vllm", plugins)
	t.Setenv("PARLEY_PLUGIN_CACHE_DIR", dir)
	if err := os.MkdirAll(filepath.Join(data, "modules", "wazero-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Run("serve", func(t *testing.T) { // it has ended when this has
		program, url := reexecServe(t, os.Stderr, "--db-path", data, "--plugin-dir", plugins, "--plugin-lock=off", "--no-analytics")
		readyPlugins(t, url) // answers once all are compiled
		if err := program.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := program.Wait(); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(filepath.Join(data, "modules")); !os.IsNotExist(err) {
		t.Errorf("the data directory still has compiled plugins of an earlier version: %v", err)
	}
	list := func() (l struct {
		Dir     string
		Modules []wasm.Kept
	},
	) {
		t.Helper()
		_, out := parleySays(t, "plugin", "cache", "list", "--json")
		if err := json.Unmarshal([]byte(out), &l); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return l
	}
	l := list()
	if l.Dir != dir || len(l.Modules) == 0 || l.Modules[0].Module == "" || l.Modules[0].Size > 4<<20 {
		t.Fatalf("the cache lists %+v, want packed modules with their names in %s", l, dir)
	}
	if _, out := parleySays(t, "plugin", "cache", "list"); !strings.Contains(out, l.Modules[0].Module) {
		t.Errorf("list prints %q, want %s in it", out, l.Modules[0].Module)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "run-*")); len(left) != 0 {
		t.Errorf("the folder holds %v after the host, which wazero worked in", left)
	}
	if code, out := parleySays(t, "plugin", "cache", "clean", "--unused", "1h"); code != exitOK || len(list().Modules) != len(l.Modules) {
		t.Errorf("clean of what was not used for an hour: %d %s, and %d are left", code, out, len(list().Modules))
	}
	if code, out := parleySays(t, "plugin", "cache", "clean"); code != exitOK || len(list().Modules) != 0 {
		t.Errorf("clean: %d %s, and %d are left", code, out, len(list().Modules))
	}
}
