package wasm_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
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
}

// TestCacheCannotBeUsed shows that modules run where nothing can be kept of them, and that
// this is told once.
func TestCacheCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	full := filepath.Join(t.TempDir(), "full")
	for name, o := range map[string]wasm.Options{
		"a file":                {CacheDir: file},
		"below a file":          {CacheDir: filepath.Join(file, "cache")},
		"below a file, aside":   {CacheDir: filepath.Join(file, "cache"), Aside: aside(t)},
		"full, as a child says": {CacheDir: full, Aside: []string{"/bin/sh", "-c", "echo no space left on device >&2; exit 73"}},
		"taken away":            {CacheDir: gone, Aside: aside(t)},
	} {
		t.Run(name, func(t *testing.T) {
			told := 0
			o.CacheLost = func(error) { told++ }
			r := open(t, o)
			if name == "taken away" { // a file is there in its place
				if err := errors.Join(os.RemoveAll(gone), os.WriteFile(gone, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				call(t, compile(t, r, "echo", wasm.Limits{}), "hello")
				call(t, compile(t, r, "trap", wasm.Limits{}), "hello")
			}
			if told != 1 || r.CacheProblem() == nil {
				t.Errorf("told %d times of the problem %v, want once", told, r.CacheProblem())
			}
		})
	}
	r := open(t, wasm.Options{CacheDir: t.TempDir(), CacheLost: func(err error) { t.Error(err) }})
	if call(t, compile(t, r, "echo", wasm.Limits{}), "hello"); r.CacheProblem() != nil {
		t.Errorf("in a folder: %v", r.CacheProblem())
	}
}

// TestCacheExchanged shows that the code of one module never runs as another's, wherever
// its entry lies.
func TestCacheExchanged(t *testing.T) {
	dir := t.TempDir()
	use := func() {
		t.Helper()
		r := open(t, wasm.Options{CacheDir: dir})
		// Over "!" the one declares an error, and the other one traps.
		_, err := compile(t, r, "echo", wasm.Limits{}).Call(t.Context(), decode, []byte("!"), nil)
		if _, ok := errors.AsType[*wasm.GuestError](err); !ok {
			t.Errorf("echo: %v, want the error that it declares", err)
		}
		_, err = compile(t, r, "trap", wasm.Limits{}).Call(t.Context(), decode, []byte("!"), nil)
		if _, ok := errors.AsType[*wasm.Fault](err); !ok {
			t.Errorf("trap: %v, want a fault", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("cached %v, %v, want two files", files, err)
	}
	aside := filepath.Join(dir, "aside")
	if err := errors.Join(os.Rename(files[0], aside), os.Rename(files[1], files[0]), os.Rename(aside, files[1])); err != nil {
		t.Fatal(err)
	}
	use()
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
