package wasm

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// numbers returns numbering(n) with a hundred such functions that also write the number
// to the memory: its machine code has more than a page.
func numbers(n byte) []byte {
	const count = 100
	body := append([]byte{0}, bytes.Repeat([]byte{0x41, 0, 0x41, n, 0x36, 2, 0}, 10)...)
	body = append(body, 0x41, n, 0x0b)
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		makeSection(1, 1, 0x60, 0, 1, 0x7f),
		makeSection(3, append([]byte{count}, make([]byte, count)...)...),
		makeSection(5, 1, 0, 1),
		makeSection(7, []byte("\x02\x06memory\x02\x00\x06number\x00\x63")...),
		makeSection(10, append([]byte{count}, bytes.Repeat(append([]byte{byte(len(body))}, body...), count)...)...),
	}, nil)
}

// TestCodeMapped has the code of modules in files, the same for two of one code, and tells
// when a version of wazero reads it in another way: what is mapped must be what it runs.
func TestCodeMapped(t *testing.T) {
	const n = 7
	bin := numbers(n)
	r, err := Open(Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var before *byte
	for range 2 {
		m, err := r.Compile(t.Context(), "numbers", bin, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		say := func() {
			t.Helper()
			if got, err := m.Number(t.Context(), 0, "number"); err != nil || got != n {
				t.Errorf("the number is %d, %v", got, err)
			}
		}
		say()
		if runtime.GOOS == "linux" {
			maps, err := os.ReadFile("/proc/self/maps")
			if err != nil {
				t.Fatal(err)
			}
			if m.code == nil || !strings.Contains(string(maps), filepath.Join(r.dir, dataPrefix)) {
				t.Fatal("the code is not mapped from a file")
			}
			if before != nil && before != unsafe.SliceData(m.code) {
				t.Error("modules of the same code do not have it in one place")
			}
			before = unsafe.SliceData(m.code)
		}
		i, err := m.pool.acquire(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		run := reflect.ValueOf(i.api)
		for _, name := range []string{"Engine", "parent", "executables", "executable"} {
			for run.Kind() == reflect.Pointer || run.Kind() == reflect.Interface {
				run = run.Elem()
			}
			run = run.FieldByName(name)
		}
		if run.Len() == 0 || m.code != nil && (run.UnsafePointer() != unsafe.Pointer(unsafe.SliceData(m.code)) || run.Len() != len(m.code)) {
			t.Error("wazero runs other code than is mapped")
		}
		m.pool.release(i, false)
		m.Rest()
		say()
	}
}

// TestOtherWazero opens a runtime as with a version of wazero that has no place for a store of
// ours: modules are compiled and run, kept in wazero's own form, and the log learns of it.
func TestOtherWazero(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		var lost []string
		o := Options{CacheDir: dir, Aside: []string{"/no/such/compiler"}, CacheLost: func(err error) { lost = append(lost, err.Error()) }}
		r, err := openWith(o, "renamed")
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Compile(t.Context(), "numbers", numbers(7), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Number(t.Context(), 0, "number"); err != nil || got != 7 {
			t.Errorf("the number is %d, %v, want 7", got, err)
		}
		if len(lost) != 1 || !strings.Contains(lost[0], "no place for a store") || r.CacheProblem() == nil {
			t.Errorf("the log has %q and the cache's problem is %v, want one line about wazero", lost, r.CacheProblem())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if kept, err := ListCache(dir); err != nil || len(kept) == 0 {
			t.Errorf("the cache keeps %d modules, %v, want some", len(kept), err)
		}
	}
}

// TestHammerReload loads and closes modules of one form side by side: whether wazero has
// the code in memory yet, still, or no more, each runs its own.
func TestHammerReload(t *testing.T) {
	r := openRuntime(t, Options{CacheDir: t.TempDir()})
	var loads sync.WaitGroup
	for n := range byte(6) {
		loads.Go(func() {
			for range 200 {
				m, err := r.Compile(t.Context(), "numbers", numbers(n/2), Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := m.Number(t.Context(), 0, "number"); err != nil || got != uint32(n/2) {
					t.Errorf("the number is %d, %v, want %d", got, err, n/2)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	loads.Wait()
	if len(r.offered) != 0 {
		t.Errorf("%d modules are offered still", len(r.offered))
	}
}
