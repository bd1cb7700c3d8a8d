package meter_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero/api"
)

// TestState says what an instance may keep beside its memory: globals, which are
// exported to be set back, and what nobody can set back.
func TestState(t *testing.T) {
	const tables, segment = "a table that it changes", "a segment that it drops"
	tests := []struct {
		name, text string
		globals    int
		other      string
	}{
		{"nothing", `(memory 1) (func (export "f") (i32.store (i32.const 0) (i32.const 1)))`, 0, ""},
		{"a constant", `(global i32 (i32.const 1))`, 0, ""},
		{"numbers", `(global (mut i32) (i32.const 1)) (global i64 (i64.const 2)) (global (mut i64) (i64.const 3)) (global (export "own") (mut f32) (f32.const 4)) (global (mut f64) (f64.const 5))`, 4, ""},
		{"a vector", `(global (mut i32) (i32.const 1)) (global (mut v128) (v128.const i64x2 0 0))`, 1, "a global of type v128"},
		{"a constant vector", `(global v128 (v128.const i64x2 0 0))`, 0, ""},
		{"a function", `(global (mut funcref) (ref.null func))`, 0, "a global that holds a reference"},
		{"a reference", `(global (mut externref) (ref.null extern))`, 0, "a global that holds a reference"},
		{"a table that is read", `(table $t 2 funcref) (func (drop (table.get $t (i32.const 0))) (drop (table.size $t)) (call_indirect $t (i32.const 0)))`, 0, ""},
		{"table.set", `(table $t 2 funcref) (func (table.set $t (i32.const 0) (ref.null func)))`, 0, tables},
		{"table.grow", `(table $t 2 funcref) (func (drop (table.grow $t (ref.null func) (i32.const 1))))`, 0, tables},
		{"table.fill", `(table $t 2 funcref) (func (table.fill $t (i32.const 0) (ref.null func) (i32.const 1)))`, 0, tables},
		{"table.copy", `(table $t 2 funcref) (func (table.copy (i32.const 0) (i32.const 1) (i32.const 1)))`, 0, tables},
		{"table.init", `(table $t 2 funcref) (elem $e func) (func (table.init $e (i32.const 0) (i32.const 0) (i32.const 0)))`, 0, tables},
		{"elem.drop", `(table $t 2 funcref) (elem $e func) (func (elem.drop $e))`, 0, segment},
		{"data.drop", `(memory 1) (data $d "x") (func (data.drop $d))`, 0, segment},
		{"memory.init", `(memory 1) (data $d "x") (func (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1)))`, 0, ""},
		{"an imported global", `(import "a" "b" (global (mut i32)))`, 0, "an imported global"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, err := meter.Rewrite(assemble(t, "(module "+tt.text+")"))
			if want := (meter.State{Globals: tt.globals, Other: tt.other}); err != nil || got != want {
				t.Errorf("Rewrite: %+v, %v, want %+v", got, err, want)
			}
		})
	}
	if _, _, err := meter.Rewrite(assemble(t, `(module (func (export "parley.global.0")))`)); err == nil {
		t.Error("a module that exports parley.global.0 is not refused")
	}

	// The exports are those that code works on.
	_, m := stopping(t, `(module (global i32 (i32.const 9)) (global $a (mut i32) (i32.const 1)) (global $b (mut i64) (i64.const 2))
		(func (export "f") (global.set $a (i32.const 5)) (global.set $b (i64.add (global.get $b) (i64.const 1)))))`, 0)
	if _, err := m.ExportedFunction("f").Call(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, b := m.ExportedGlobal(meter.GlobalName(0)).(api.MutableGlobal), m.ExportedGlobal(meter.GlobalName(1)).(api.MutableGlobal)
	if a.Get() != 5 || b.Get() != 3 {
		t.Errorf("globals %d and %d, want 5 and 3", a.Get(), b.Get())
	}
	b.Set(40)
	if _, err := m.ExportedFunction("f").Call(t.Context()); err != nil || b.Get() != 41 {
		t.Errorf("a global that was set to 40 is %d after one more was added, %v", b.Get(), err)
	}
}
