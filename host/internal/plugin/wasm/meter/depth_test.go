package meter_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero/api"
)

// TestDepth says how deep the host hears that a call stands: the sum of the
// frames above it, whatever was called and has returned before.
func TestDepth(t *testing.T) {
	const (
		frame = 64 // of a function without values
		leaf  = `(func $leaf (loop))`
		turns = `(local.tee $n (i32.sub (local.get $n) (i32.const 1)))`
	)
	tests := []struct {
		name, text string
		want       uint32
	}{
		{"no call", `(func (export "f") (loop))`, 0},
		{"a call", `(func (export "f") (call $leaf))`, frame},
		{"a call in a call", `(func (export "f") (call $g)) (func $g (call $leaf))`, 2 * frame},
		{"calls in turn", `(func (export "f") (call $g) (call $g) (call $leaf)) (func $g (call $leaf))`, 2 * frame},
		// A local variable, and two values on the operand stack.
		{"calls in a loop", `(func (export "f") (local $n i32) (local.set $n (i32.const 9)) (loop (call $g) (br_if 0 ` + turns + `))) (func $g (call $leaf))`, 2*frame + 3*8},
		{"values on the operand stack", `(func (export "f") (i32.const 1) (i32.const 2) (i32.const 3) (call $leaf) (drop) (drop) (drop))`, frame + 3*8},
		{"values in blocks", `(func (export "f") (i32.const 1) (block (i32.const 2) (call $leaf) (br 0) (drop) (drop)) (if (then (nop)) (else (nop))) (i32.const 3) (drop))`, frame + 2*8},
		// Both are there before the call, on the operand stack and as arguments.
		{"arguments", `(func (export "f") (call $g (i32.const 1) (i32.const 2))) (func $g (param i32 i32) (loop))`, frame + 2*8 + 2*8},
		{"results", `(func (export "f") (call $g) (drop) (drop)) (func $g (result i32 i32) (loop) (i32.const 1) (i32.const 2))`, frame + 2*8 + 2*8},
		{"vectors", `(func (export "f") (local v128) (call $leaf))`, frame + 16},
		{"an indirect call", `(table funcref (elem $leaf)) (func (export "f") (call_indirect (i32.const 0)))`, frame + 8},
		{"tail calls", `(func (export "f") (call $leaf) (return_call $g)) (func $g (return_call $h)) (func $h (call $leaf) (return_call $leaf))`, frame},
		{"indirect tail calls", `(table funcref (elem $g)) (func (export "f") (call $leaf) (return_call_indirect (i32.const 0))) (func $g (call $leaf))`, frame + 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, m := stopping(t, "(module "+leaf+tt.text+")", 0)
			p.slice = 0 // each charge yields
			if _, err := m.ExportedFunction("f").Call(t.Context()); err != nil {
				t.Fatal(err)
			}
			if p.yields == 0 || p.deepest != tt.want {
				t.Errorf("%d yields, the deepest at %d, want %d", p.yields, p.deepest, tt.want)
			}
		})
	}
}

// TestDepthOfFrames has frames of many kinds fill all the stack that there is:
// the estimate is not below what they take.
func TestDepthOfFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it fills wazero's stack of 80 MB several times")
	}
	const least = 50_000_000 // wazero's bound, which its stack is over when it does not grow any more
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"small":     `(func $f (export "f") (call $f))`,
		"locals":    `(func $f (export "f") ` + many(100, "(local i64)") + many(100, "(local.set # (i64.load (i32.const #)))") + `(call $f)` + many(100, "(i64.store (i32.const 8) (local.get #))") + `)`,
		"operands":  `(func $f (export "f") (i32.const 8) ` + many(100, "(i64.load (i32.const #))") + `(call $f)` + many(99, "(i64.add)") + `(i64.store))`,
		"arguments": `(func $f (param ` + strings.Repeat("i64 ", 100) + `) (call $f ` + many(100, "(local.get #)") + `)` + many(100, "(i64.store (i32.const 8) (local.get #))") + `) (func (export "f") (call $f ` + many(100, "(i64.const #)") + `))`,
		"results":   `(func $f (export "f") (result ` + strings.Repeat("i64 ", 100) + `) (call $f)` + strings.Repeat("(drop)", 100) + many(100, "(i64.load (i32.const #))") + `)`,
		"vectors":   `(func $f (export "f") ` + many(100, "(local v128)") + many(100, "(local.set # (v128.load (i32.const #)))") + `(call $f)` + many(100, "(v128.store (i32.const 8) (local.get #))") + `)`,
		"blocks":    `(func $f (export "f") (i32.const 8) ` + many(100, "(i64.load (i32.const #)) (block (param i64) (result i64)") + `(call $f))` + strings.Repeat("(i64.add))", 99) + `(i64.store))`,
	} {
		t.Run(name, func(t *testing.T) {
			p, m := stopping(t, `(module (memory 1) `+text+")", 0)
			p.slice = 1 << 10
			_, err := m.ExportedFunction("f").Call(context.Background())
			if err == nil || !strings.Contains(err.Error(), "stack overflow") {
				t.Fatalf("f: %.200v, want its stack to overflow", err)
			}
			t.Logf("%d bytes as the estimate says", p.deepest)
			if p.deepest < least {
				t.Errorf("the stack of over %d bytes is full at %d by the estimate", least, p.deepest)
			}
		})
	}
}

// TestLargeFrames shows that a frame is paid for: between two yields the stack
// grows by what the fuel is worth.
func TestLargeFrames(t *testing.T) {
	for _, locals := range []int{0, 24, 100, 40_000} {
		const slice = 1 << 18
		p, m := stopping(t, `(module (func $f (export "f") (local`+strings.Repeat(" i64", locals)+`) (call $f)))`, 1)
		p.slice = slice
		m.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(slice)
		if _, err := m.ExportedFunction("f").Call(context.Background()); err == nil {
			t.Fatal("a recursion without end ended")
		}
		if most := uint32(2 * 16 * slice); p.deepest == 0 || p.deepest > most {
			t.Errorf("of frames with %d local variables, %d bytes after two slices of fuel, want at most %d", locals, p.deepest, most)
		}
	}
}
