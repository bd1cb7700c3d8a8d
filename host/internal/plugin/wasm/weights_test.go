package wasm_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// BenchmarkWeights measures how long a unit of fuel lasts in code that does one
// thing alone. The host looks at the clock every 262,144 units, so 7 ns a unit
// are 2 ms between two looks: the worst that weights should allow.
func BenchmarkWeights(b *testing.B) {
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		b.Skip("wat2wasm is not on PATH: install Debian's package wabt")
	}
	const begin = `(module (memory (export "memory") 256) (table $t 10 funcref)
		(func (export "parley_abi") (result i32) (i32.const 1))
		(func (export "parley_input") (param i32) (result i32) (i32.const 4096))
		(func $leaf (param i64) (result i64) (i64.div_u (i64.const -3) (i64.or (local.get 0) (i64.const 1))))
		(func (export "parley_decode") (param i32) (result i64) (local $a i64) (local $p i32) (local $f f64) (local $v v128) `
	// What chases pointers first fills memory with a long cycle of them.
	const scatter = `(loop (i32.store (local.get $p) (i32.and (i32.add (i32.mul (local.get $p) (i32.const 1664525)) (i32.const 1013904224)) (i32.const 0xfffffc)))
		(br_if 0 (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 4))) (i32.const 0xfffff0))))`
	codes := []struct{ name, before, code string }{
		{"nothing", "", ""},
		{"divide", "", "(local.set $a (i64.div_u (i64.const -5) (i64.or (local.get $a) (i64.const 1))))"},
		{"sqrt", "", "(local.set $f (f64.sqrt (f64.add (f64.const 3) (local.get $f))))"},
		{"simd", "", "(local.set $v (i64x2.mul (local.get $v) (f64x2.sqrt (f64x2.div (local.get $v) (v128.const i64x2 3 4)))))"},
		{"pointers", scatter, "(local.set $p (i32.load (local.get $p)))"},
		{"short calls", "", "(local.set $a (call $leaf (local.get $a)))"},
		{"branches", "", "(block (block (br_table 0 1 (i32.and (local.tee $p (i32.add (i32.mul (local.get $p) (i32.const 1664525)) (i32.const 1013904223))) (i32.const 1)))))"},
		{"short fills", "", "(memory.fill (i32.const 0) (i32.const 0) (i32.const 7))"},
		{"long fills", "", "(memory.fill (i32.const 0) (i32.const 0) (i32.const 1000000))"},
		{"growing", "", "(drop (memory.grow (i32.const 60000)))"},
		{"growing a table", "", "(drop (table.grow $t (ref.null func) (i32.const 0)))"},
	}
	for _, c := range codes {
		b.Run(c.name, func(b *testing.B) {
			cmd := exec.CommandContext(b.Context(), tool, "-", "--output=-")
			cmd.Stdin = strings.NewReader(begin + c.before + "(loop " + strings.Repeat(c.code, 1000) + "(br 0)) (i64.const 0)))")
			bin, err := cmd.Output()
			if err != nil {
				b.Fatalf("wat2wasm: %v", err)
			}
			const fuel = 200_000_000
			m, err := open(b, wasm.Options{Limiter: wasm.Metered()}).Compile(b.Context(), c.name, bin, wasm.Limits{Memory: 32 << 20, Fuel: fuel, CallTimeout: time.Minute, Unbroken: true})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				_, err := m.Call(b.Context(), decode, nil, nil)
				if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultFuel {
					b.Fatalf("Call: %v, want it out of fuel", err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/fuel, "ns/unit")
		})
	}
}
