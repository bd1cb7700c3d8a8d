package wasm

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBoundCache(t *testing.T) {
	dir := t.TempDir()
	entry, mark := filepath.Join(dir, "wazero-v1", "entry"), filepath.Join(dir, markPrefix+"x")
	if err := os.Mkdir(filepath.Dir(entry), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, size := range map[string]int{entry: 1000, mark: 0} {
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := func(file string) bool { _, err := os.Stat(file); return err == nil }
	if err := boundCache(dir, 1000); err != nil || !there(entry) || !there(mark) {
		t.Errorf("a cache at its bound: error %v, entry there %v, mark there %v; want all as it was", err, there(entry), there(mark))
	}
	if err := boundCache(dir, 999); err != nil || there(entry) || there(mark) {
		t.Errorf("a cache over its bound: error %v, entry there %v, mark there %v; want it empty", err, there(entry), there(mark))
	}
}
