package wasm_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

func TestDescribe(t *testing.T) {
	got, err := wasm.Describe(guest(t, "flood"))
	if err != nil {
		t.Fatal(err)
	}
	imports := []wasm.Import{
		{Module: "parley", Name: "log", Kind: "func", Signature: "(i32, i32, i32) -> ()"},
		{Module: "wasi_snapshot_preview1", Name: "fd_write", Kind: "func", Signature: "(i32, i32, i32, i32) -> i32"},
	}
	if !reflect.DeepEqual(got.Imports, imports) {
		t.Errorf("Imports = %+v, want %+v", got.Imports, imports)
	}
	exports := []wasm.Export{
		{Name: "memory", Kind: "memory"},
		{Name: "parley_abi", Kind: "func", Signature: "() -> i32"},
		{Name: "parley_input", Kind: "func", Signature: "(i32) -> i32"},
		{Name: "parley_decode", Kind: "func", Signature: "(i32) -> i64"},
	}
	if !reflect.DeepEqual(got.Exports, exports) {
		t.Errorf("Exports = %+v, want %+v", got.Exports, exports)
	}
	if got.MemoryMin != 1 || got.MemoryMax != 1<<16 || !got.HasMemory() {
		t.Errorf("memory of %d to %d pages, exported %t, want 1 to 65536, exported", got.MemoryMin, got.MemoryMax, got.HasMemory())
	}
}

// FuzzDescribe checks that no bytes make Describe panic or take long, for it
// is the first to see a file that anybody may have written.
func FuzzDescribe(f *testing.F) {
	files, err := filepath.Glob("testdata/*.wasm")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := wasm.Describe(b)
		if (s == nil) == (err == nil) {
			t.Errorf("Describe = %v, %v", s, err)
		}
		if s != nil && len(s.Imports)+len(s.Exports) > len(b) {
			t.Errorf("%d imports and %d exports in %d bytes", len(s.Imports), len(s.Exports), len(b))
		}
	})
}
