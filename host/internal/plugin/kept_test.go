package plugin_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TestKeptCodeFails shows that a plugin whose code out of the cache fails at its start is
// compiled anew: a cache must not decide what runs.
func TestKeptCodeFails(t *testing.T) {
	dir := t.TempDir()
	good := packed(t, "good", nil)
	// The twin's parley_abi traps, in as many bytes.
	answers, traps := []byte{0x00, 0x41, 0x01, 0x0b}, []byte{0x00, 0x00, 0x01, 0x0b}
	twin := bytes.Replace(good, answers, traps, 1)
	load := func(module []byte) (runs bool, entries map[string]bool) {
		t.Helper()
		rt, err := wasm.Open(wasm.Options{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		p, err := plugin.Load(t.Context(), rt, module, "test", plugin.Options{})
		if runs = err == nil; runs {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		files, _ := filepath.Glob(filepath.Join(dir, "module-*"))
		entries = map[string]bool{}
		for _, f := range files {
			entries[f] = true
		}
		return runs, entries
	}
	runs, first := load(good)
	fails, both := load(twin)
	if !runs || fails || len(first) != 1 || len(both) != 2 {
		t.Fatalf("the module runs: %v, its twin: %v, with %d and %d entries", runs, fails, len(first), len(both))
	}
	var own, other string
	for f := range both {
		if first[f] {
			own = f
		} else {
			other = f
		}
	}
	name, head, shell, _ := unpack(t, own)
	_, _, _, code := unpack(t, other)
	pack(t, own, name, head, shell, code)
	if runs, _ := load(good); !runs {
		t.Error("a module with wrong code in the cache does not run")
	}
	if _, _, _, now := unpack(t, own); bytes.Equal(now, code) {
		t.Error("the wrong code is kept")
	}
}

// unpack returns the parts of an entry of the cache.
func unpack(t *testing.T, file string) (name, head, shell, code []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, b, _ = bytes.Cut(b, []byte("\n"))
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, err = d.DecodeAll(b, nil); err != nil {
		t.Fatal(err)
	}
	head, b, _ = bytes.Cut(b, []byte("\n"))
	var size struct{ Shell int }
	if err := json.Unmarshal(head, &size); err != nil {
		t.Fatal(err)
	}
	return name, head, b[:size.Shell], b[size.Shell:]
}

// pack makes file an entry of these parts.
func pack(t *testing.T, file string, name, head, shell, code []byte) {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := e.EncodeAll(bytes.Join([][]byte{append(head, '\n'), shell, code}, nil), append(name, '\n'))
	if err := os.WriteFile(file, packed, 0o600); err != nil {
		t.Fatal(err)
	}
}
