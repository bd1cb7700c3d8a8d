package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestShippedCollectors builds each collector that is shipped, and holds the
// modules to the contract: two of them, with LONG=1 all. What they count, their
// own tests hold to a reference.
func TestShippedCollectors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds seven modules")
	}
	dir := filepath.Join(root(t), "plugins", "collector")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		out := filepath.Join(root(t), distDir)
		code, said := parleySays(t, "plugin", "build", filepath.Join(dir, e.Name()), "--out", out)
		modules, _ := filepath.Glob(filepath.Join(out, e.Name()+"-*.wasm")) // the pattern is well formed
		if code != 0 || len(modules) != 1 {
			t.Errorf("plugin build %s: code %d, %d modules\n%s", e.Name(), code, len(modules), said)
			continue
		}
		made++
		if made > 2 && os.Getenv(longVariable) == "" {
			continue
		}
		if code, said := parleySays(t, "plugin", "check", modules[0]); code != 0 {
			t.Errorf("plugin check %s: code %d\n%s", e.Name(), code, said)
		}
	}
	if made != 7 {
		t.Errorf("built %d collectors, want 7", made)
	}
}
