package cli

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestShippedSources builds each plugin from the sources in the program, with no module
// of others at hand, and wants the bytes that the checkout builds.
func TestShippedSources(t *testing.T) {
	if testing.Short() {
		t.Skip("builds plugins")
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	plugins, err := shippedPlugins("*")
	if err != nil || len(plugins) != 23 {
		t.Fatalf("%d plugins are shipped, %v; want 23", len(plugins), err)
	}
	for _, p := range plugins {
		got, err := p.module(t.Context(), nil)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		want, err := os.ReadFile(built(t, filepath.Join(root(t), filepath.FromSlash(p.dir))))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the program builds %d bytes, the checkout others: %d", p.Name, len(got), len(want))
		}
	}
}

// TestSourcesRemoved wants folders of sources to go that nobody has used for long, and
// no others.
func TestSourcesRemoved(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{"old/go.mod": {}, "used/go.mod": {}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "old"), time.Time{}, time.Now().Add(-keepSources-time.Hour)); err != nil {
		t.Fatal(err)
	}
	removeOldSources(dir)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "used" {
		t.Errorf("left are %q, %v; want the one in use", left, err)
	}
}

// TestNoCacheFolder: who may not write to the cache folder is told how to name another.
func TestNoCacheFolder(t *testing.T) {
	file := writeFile(t, t.TempDir(), "file", "")
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, file)
	}
	if _, err := unpackSources(); err == nil || !strings.Contains(err.Error(), "to a folder that you may write") {
		t.Errorf("unpack the sources where no folder can be made: %v", err)
	}
}

// TestShippedDamaged: a module or a source that a full disk or a loss of power has left in the
// cache folder decides over nothing: it is built, or unpacked, anew.
func TestShippedDamaged(t *testing.T) {
	skipUnlessLong(t, "builds a plugin three times")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	t.Setenv("GOPROXY", "off")
	plugins, err := shippedPlugins("collector")
	if err != nil {
		t.Fatal(err)
	}
	p := plugins[0]
	p.inProgram = false
	sources, err := unpackSources()
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(sources, "built", p.file())
	source := filepath.Join(sources, filepath.FromSlash(p.dir), "manifest.json")
	var want []byte
	for _, damaged := range []string{"", module, source} {
		if damaged != "" {
			if err := os.Truncate(damaged, 100); err != nil {
				t.Fatal(err)
			}
		}
		if damaged == source {
			if err := os.Remove(module); err != nil {
				t.Fatal(err)
			}
		}
		got, err := p.module(t.Context(), nil)
		if err != nil {
			t.Fatalf("with %s damaged: %v", filepath.Base(damaged), err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("with %s damaged: %d bytes, want the %d of before", filepath.Base(damaged), len(got), len(want))
		}
	}
}
