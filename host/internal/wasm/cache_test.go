package wasm_test

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/wasm"
)

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	use := func() {
		t.Helper()
		r := open(t, wasm.Options{CacheDir: dir})
		m := compile(t, r, "echo", wasm.Limits{})
		call(t, m, "hello")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("mode %o, want 700", got)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("cached %v, %v, want one file", files, err)
	}
	if kept, err := wasm.ListCache(dir); err != nil || len(kept) != 1 || kept[0].Module != "echo" {
		t.Errorf("list: %+v, %v, want the module echo", kept, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// Damaged or cut short, an entry is made anew; a directory that others can
	// write to becomes ours alone.
	bad := append([]byte(nil), good...)
	bad[len(bad)/2] ^= 1
	for _, b := range [][]byte{bad, good[:len(good)/2], good[:3], {}} {
		if err := os.WriteFile(files[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		use()
		after, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(after) != len(good) {
			t.Errorf("entry of %d bytes after one of %d was read, want %d", len(after), len(b), len(good))
		}
	}
	if info, err = os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("directory after use: %v, %v, want mode 700", info.Mode(), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := wasm.Open(wasm.Options{CacheDir: file}); err == nil {
		t.Error("Open with a file as CacheDir: no error")
	}
}

// TestHammerSameCode loads modules of the same code at the same time from a cache, as a
// host does that has two versions of a plugin which differ in their manifests alone.
func TestHammerSameCode(t *testing.T) {
	dir := t.TempDir()
	for range 100 {
		r := open(t, wasm.Options{CacheDir: dir})
		var loads sync.WaitGroup
		for range 4 {
			loads.Go(func() {
				m, err := r.Compile(t.Context(), "echo", guest(t, "echo"), wasm.Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := m.Call(t.Context(), decode, []byte("hello"), nil); string(got) != "hello" || err != nil {
					t.Errorf("Call = %q, %v", got, err)
				}
			})
		}
		loads.Wait()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := wasm.ListCache(dir); err != nil || len(kept) != 1 {
		t.Errorf("the cache has %+v, %v, want one module", kept, err)
	}
}
