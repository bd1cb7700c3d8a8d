package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-search/parley/host"
)

// built builds the plugin in dir, or finds it built, and returns its module's
// file in the checkout's plugins/dist: all tests share what is there.
func built(t testing.TB, dir string) string {
	t.Helper()
	file, err := host.BuildPlugin(t.Context(), dir, filepath.Join(root(t), distDir), nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// buildProvider puts a shipped plugin into dir.
func buildProvider(t testing.TB, name, dir string) {
	t.Helper()
	file := built(t, filepath.Join(root(t), "plugins", "provider", name))
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dataDir is an empty data directory, but that it shares the compiled modules of
// all tests: to compile one takes seconds.
func dataDir(t testing.TB) string {
	t.Helper()
	dir, cache := t.TempDir(), filepath.Join(root(t), distDir, "cache")
	if r, err := host.OpenReplayer(t.Context(), "none", host.Trial{CacheDir: cache}); err == nil { // which makes the folder
		r.Close()
		t.Fatal("a replayer of no source opened")
	}
	kept, err := filepath.Glob(filepath.Join(cache, "wazero-*"))
	if err == nil && len(kept) == 0 {
		err = errors.New("there is no cache of modules in " + cache)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "modules"), 0o700)
	}
	for _, k := range kept {
		if err == nil {
			err = os.Symlink(k, filepath.Join(dir, "modules", filepath.Base(k)))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return dir
}

// longVariable switches on the tests that mostly compile what others wrote;
// .ci/run sets it.
const longVariable = "LONG"

// skipUnlessLong skips a test that takes long, unless it is asked for.
func skipUnlessLong(t *testing.T, why string) {
	t.Helper()
	if os.Getenv(longVariable) == "" {
		t.Skipf("%s: %s=1 runs it", why, longVariable)
	}
}
