package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestShippedCollectors builds each collector that is shipped, and holds the
// module to the contract. What they count, their own tests hold to a reference.
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
	checked := 0
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
		if code, said := parleySays(t, "plugin", "check", modules[0]); code != 0 {
			t.Errorf("plugin check %s: code %d\n%s", e.Name(), code, said)
		}
		checked++
	}
	if checked != 7 {
		t.Errorf("checked %d collectors, want 7", checked)
	}
}
