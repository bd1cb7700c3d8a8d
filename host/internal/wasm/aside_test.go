package wasm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/wasm"
)

// asideArg makes this test's program the one that compiles aside.
const asideArg = "compile-aside"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asideArg {
		if err := wasm.CompileAside(context.Background(), os.Stdin, func() { os.Exit(3) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func aside(t testing.TB) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{program, asideArg}
}

// TestCompileAside shows that a child fills the cache and that this process
// only loads from it: the entry is not written again.
func TestCompileAside(t *testing.T) {
	dir := t.TempDir()
	entries := func() map[string]time.Time {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]time.Time{}
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			found[f] = info.ModTime()
		}
		return found
	}
	for _, l := range limiters() {
		r := open(t, wasm.Options{CacheDir: dir, Limiter: l, Aside: aside(t)})
		call(t, compile(t, r, "echo", wasm.Limits{}), "hello")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before := entries()
	marks, err := filepath.Glob(filepath.Join(dir, "compiled-*"))
	if err != nil || len(marks) != 2 || len(before) != 2 {
		t.Fatalf("%d marks, %d entries, %v; want 2, 2", len(marks), len(before), err)
	}
	// Where the mark is there, no child is started: there is no such program.
	r := open(t, wasm.Options{CacheDir: dir, Aside: []string{filepath.Join(dir, "absent")}})
	call(t, compile(t, r, "echo", wasm.Limits{}), "hello")
	for f, at := range entries() {
		if !before[f].Equal(at) {
			t.Errorf("%s was written again", f)
		}
	}
	// Where there is none and no program either, it is compiled in process.
	call(t, compile(t, r, "trap", wasm.Limits{}), "hello")
}

func TestCompileAsideFails(t *testing.T) {
	dir := t.TempDir()
	sh := func(script string) *wasm.Runtime {
		return open(t, wasm.Options{CacheDir: dir, Aside: []string{"/bin/sh", "-c", script}})
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	_, err := sh("echo the roof is on fire >&2; exit 7").Compile(t.Context(), "echo", guest(t, "echo"), wasm.Limits{})
	if err == nil || !strings.Contains(err.Error(), "compile module echo: the compiler's process failed: exit status 7: the roof is on fire") {
		t.Errorf("Compile by a child that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := sh("exec sleep 600").Compile(ctx, "echo", guest(t, "echo"), wasm.Limits{}); err == nil || ctx.Err() == nil {
		t.Errorf("Compile by a child that does not end: %v, want the end of its context", err)
	}
	for _, job := range []string{"", "no job\n", `{"dir":"","limiter":"metered","size":1}` + "\n", `{"dir":"x","limiter":"best","size":1}` + "\n"} {
		// A process of its own, which it makes smaller.
		r := open(t, wasm.Options{CacheDir: dir, Aside: []string{"/bin/sh", "-c", `printf '%s' "$0" | "$1" ` + asideArg, job, aside(t)[0]}})
		if _, err := r.Compile(t.Context(), "echo", guest(t, "echo"), wasm.Limits{}); err == nil {
			t.Errorf("Compile by a child that was told %q: no error", job)
		}
	}
}
