package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/garbage"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// asideArg makes this test's program the one that compiles aside.
const asideArg = "compile-aside"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asideArg {
		if err := wasm.CompileAside(context.Background(), os.Stdin, map[string]func(string) error{"note": writeNote, "never": neverEnd}, func() { os.Exit(3) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			if _, ok := errors.AsType[wasm.CacheError](err); ok {
				os.Exit(wasm.ExitCache)
			}
			os.Exit(1)
		}
		os.Exit(0)
	}
	garbage.Seldom()
	os.Exit(m.Run())
}

// writeNote stands for the compilation of a library: it leaves a file.
func writeNote(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "note"), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// neverEnd stands for one that takes long; its file says that it has begun.
func neverEnd(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "begun"), nil, 0o600); err != nil {
		return err
	}
	select {}
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
// only loads from it: the entry is not made again.
func TestCompileAside(t *testing.T) {
	dir := t.TempDir()
	for _, l := range limiters() {
		r := open(t, wasm.Options{CacheDir: dir, Limiter: l, Aside: aside(t)})
		call(t, compile(t, r, "echo", wasm.Limits{}), "hello")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(before) != 2 {
		t.Fatalf("the cache holds %v, %v; want two files and nothing else", before, err)
	}
	infos := map[string]os.FileInfo{}
	for _, f := range before {
		if infos[f], err = os.Stat(f); err != nil {
			t.Fatal(err)
		}
	}
	// Where it is kept, no child is started: there is no such program.
	r := open(t, wasm.Options{CacheDir: dir, Aside: []string{filepath.Join(dir, "absent")}})
	call(t, compile(t, r, "echo", wasm.Limits{}), "hello")
	for f, info := range infos {
		if now, err := os.Stat(f); err != nil || !os.SameFile(now, info) {
			t.Errorf("%s was made again: %v", f, err)
		}
	}
	// Where it is not and there is no program either, it is compiled in process.
	call(t, compile(t, r, "trap", wasm.Limits{}), "hello")
	if kept, err := wasm.ListCache(dir); err != nil || len(kept) != 3 {
		t.Errorf("the cache keeps %+v, %v; want three modules", kept, err)
	}
}

// TestCompileLibrary shows that a child compiles a library once, and not again where that failed or no child
// could be started.
func TestCompileLibrary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := wasm.CompileLibrary(t.Context(), []string{filepath.Join(dir, "absent")}, dir, "note", "example.org/x"); err != nil {
		t.Errorf("by a program that is not there: %v", err)
	}
	for range 2 { // a second child would find the file
		if err := wasm.CompileLibrary(t.Context(), aside(t), dir, "note", "example.org/x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "note")); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := wasm.CompileLibrary(t.Context(), aside(t), dir, "other", "example.org/x"); err == nil || !strings.Contains(err.Error(), "the compiler's process failed") {
			t.Errorf("of a library that the child does not have: %v", err)
		}
	}
}

// TestCompileAsideLeavesNothing ends a compilation before it is done: the child ends by
// itself, and another one may have its turn.
func TestCompileAsideLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- wasm.CompileLibrary(ctx, aside(t), dir, "never", "example.org/x") }()
	if !waittest.Until(func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil }) {
		t.Fatal("the child does not begin")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "run-*")); err != nil || len(left) != 1 {
		t.Errorf("%v while it compiles, %v, want the turn", left, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v, want the end of its context", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "run-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
}

// TestCompileAsideOnce has four hosts want the same at once: one child makes it, and what
// it makes cannot be made twice.
func TestCompileAsideOnce(t *testing.T) {
	dir := t.TempDir()
	var hosts sync.WaitGroup
	for range 4 {
		hosts.Go(func() {
			if err := wasm.CompileLibrary(t.Context(), aside(t), dir, "note", "example.org/x"); err != nil {
				t.Error(err)
			}
		})
	}
	hosts.Wait()
	if left, err := filepath.Glob(filepath.Join(dir, "run-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
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
	for _, job := range []string{"", "no job\n", `{"dir":"","key":"k","limiter":"metered","size":1}` + "\n", `{"dir":"x","key":"k","limiter":"best","size":1}` + "\n", `{"dir":"x","key":"../k","limiter":"metered","size":1}` + "\n"} {
		// A process of its own, which it makes smaller.
		r := open(t, wasm.Options{CacheDir: dir, Aside: []string{"/bin/sh", "-c", `printf '%s' "$0" | "$1" ` + asideArg, job, aside(t)[0]}})
		if _, err := r.Compile(t.Context(), "echo", guest(t, "echo"), wasm.Limits{}); err == nil {
			t.Errorf("Compile by a child that was told %q: no error", job)
		}
	}
}
