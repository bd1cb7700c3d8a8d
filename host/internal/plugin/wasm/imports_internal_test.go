package wasm

import (
	"slices"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// TestImportsOfWASI: guests may import all functions of WASI preview 1, each as wazero has
// it, and no other one.
func TestImportsOfWASI(t *testing.T) {
	r := wazero.NewRuntime(t.Context())
	defer r.Close(t.Context())
	builder := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
	theirs, err := builder.Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ours := hostFuncs()[wasiModule]
	for name, f := range theirs.ExportedFunctions() {
		if o, ok := ours[name]; !ok || !slices.Equal(o.params, f.ParamTypes()) || !slices.Equal(o.results, f.ResultTypes()) {
			t.Errorf("%s: have %t, %s; want %v to %v", name, ok, o.signature(), f.ParamTypes(), f.ResultTypes())
		}
	}
	if got, want := len(ours), len(theirs.ExportedFunctions()); got != want {
		t.Errorf("%d functions of WASI, want %d", got, want)
	}
}

// TestForeignImports: an import that the host does not have is refused with what to do about it.
func TestForeignImports(t *testing.T) {
	for module, want := range map[string]string{
		"wasi:cli/environment@0.2.0": "it imports the func wasi:cli/environment@0.2.0.f, which the host does not have; it is of WASI preview 2: build for wasm32-wasip1",
		"wasi_unstable":              "it imports the func wasi_unstable.f, which the host does not have; it is of WASI before preview 1: build for wasm32-wasip1",
		"wasi":                       "it imports the func wasi.f, which the host does not have; it is of threads, which hosts do not run: build for wasm32-wasip1",
		"__wbindgen_placeholder__":   "it imports the func __wbindgen_placeholder__.f, which the host does not have; wasm-bindgen makes modules for browsers: build without it",
		"gojs":                       "it imports the func gojs.f, which the host does not have; it is of GOOS=js: build with GOOS=wasip1 -buildmode=c-shared",
		"env":                        "it imports the func env.f, which the host does not have; nothing that was linked defines it: in C, C++, Rust and Zig, link what does; in AssemblyScript, build with --use abort=",
		wasiModule:                   "it imports the func wasi_snapshot_preview1.f, which the host does not have; a guest may import parley.log and the functions of wasi_snapshot_preview1, nothing else",
		abi.ImportModule:             "it imports the func parley.f, which the host does not have; a guest may import parley.log and the functions of wasi_snapshot_preview1, nothing else",
	} {
		if err := (&Shape{Imports: []Import{{Module: module, Name: "f", Kind: "func"}}}).Check(Limits{}); err == nil || err.Error() != want {
			t.Errorf("import of %s: %v, want %s", module, err, want)
		}
	}
}
