package meter_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero/api"
)

// assemble returns the module that text stands for, with names.
func assemble(t *testing.T, text string) []byte {
	t.Helper()
	tool, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("wat2wasm is not on PATH: install Debian's package wabt")
	}
	cmd := exec.CommandContext(t.Context(), tool, "-", "--output=-", "--debug-names", "--enable-tail-call", "--enable-threads", "--enable-exceptions", "--enable-memory64", "--enable-multi-memory")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("wat2wasm: %v", err)
	}
	return out
}

// stopping instantiates text such that the metered one is stopped at the nth
// yield.
func stopping(t *testing.T, text string, n int) (*pair, api.Module) {
	t.Helper()
	p := newPair(t, allFeatures)
	t.Cleanup(p.close)
	made, errs := p.instantiate(assemble(t, text), "")
	if errs[1] != nil {
		t.Fatal(errs[1])
	}
	p.most = n
	return p, made[1]
}

// TestRunaway runs what never ends, or not in our time: all of it is stopped.
func TestRunaway(t *testing.T) {
	tests := []struct{ name, text string }{
		{"loop", `(func (export "f") (loop (br 0)))`},
		{"outer loop", `(func (export "f") (loop $a (loop (br_if 0 (i32.const 0))) (br $a)))`},
		{"loop by table", `(func (export "f") (loop $a (block $b (br_table $b $a (i32.const 1)))))`},
		{"loop with results", `(func (export "f") (drop (i32.const 1) (loop (param i32) (result i32) (br 0))))`},
		{"calls without loop", `(func $f (export "f") (result i32) (call $g (i32.const 60)))
			(func $g (param i32) (result i32) (if (result i32) (i32.lt_s (local.get 0) (i32.const 2)) (then (i32.const 1))
			(else (i32.add (call $h (i32.sub (local.get 0) (i32.const 1))) (call $h (i32.sub (local.get 0) (i32.const 2)))))))
			(func $h (param i32) (result i32) (call $g (local.get 0)))`},
		{"tail calls", `(func $f (export "f") (return_call $g)) (func $g (return_call $f))`},
		{"indirect tail calls", `(table funcref (elem $f)) (func $f (export "f") (return_call_indirect (i32.const 0)))`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, m := stopping(t, "(module "+tt.text+")", 500)
			_, err := m.ExportedFunction("f").Call(context.Background())
			if !errors.Is(err, errStopped) {
				t.Errorf("f: %v, want it stopped", err)
			}
			if p.yields != 501 {
				t.Errorf("%d yields, want 501", p.yields)
			}
		})
	}
}

// TestStart stops a start function.
func TestStart(t *testing.T) {
	p := newPair(t, allFeatures)
	defer p.close()
	p.most = 100
	bin := assemble(t, `(module (start $s) (func $s (loop (br 0))))`)
	metered, _, err := meter.Rewrite(bin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.runtimes[1].Instantiate(t.Context(), metered); !errors.Is(err, errStopped) {
		t.Errorf("instantiate: %v, want it stopped", err)
	}
}

// dispatch is a function of ten turns as Go has them: a loop around a table, of whose targets
// two are light, and one, which runs once, is of that weight. The light ones do
// more, too.
func dispatch(more string, heavy int) string {
	return `(func (export "f") (local $pc i32) (local $n i32) (local.set $n (i32.const 10))
		(loop $l (block $c2 (block $c1 (block $c0 (br_table $c0 $c1 $c2 (local.get $pc)))
			(local.set $pc (i32.const 1)) (br $l))
			` + more + `
			(local.set $n (i32.sub (local.get $n) (i32.const 1)))
			(local.set $pc (select (i32.const 0) (i32.const 2) (local.get $n))) (br $l))
			` + strings.Repeat("(local.set $pc (i32.add (local.get $pc) (i32.const 1)))", heavy/2) + `))`
}

// TestCharge says what is taken for some code: the weights of it, each turn,
// and ranges by their size.
func TestCharge(t *testing.T) {
	const slice = 1 << 20
	tests := []struct {
		name, text string
		want       int64
	}{
		{"a short function without calls", `(func (export "f"))`, 0},
		{"a function that calls", `(func (export "f") (call $g)) (func $g)`, 16},
		{"its callees too", `(func (export "f") (call $g) (call $g)) (func $g (call $h)) (func $h)`, 2*16 + 2*16},
		{"a long function", `(func (export "f") (local i32)` + strings.Repeat("(local.set 0 (i32.add (local.get 0) (i32.const 1)))", 40) + `)`, 80},
		// 10 turns of: the turn itself 1, tee 1, sub 1, br_if 1.
		{"a loop", `(func (export "f") (local i32) (local.set 0 (i32.const 10)) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))`, 40},
		// 10 turns of the outer: 1, tee, sub, br_if; one turn of the inner in each.
		{"an inner loop", `(func (export "f") (local i32) (local.set 0 (i32.const 10)) (loop (loop) (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))`, 50},
		// 21 turns: the turn 1, the table 3, its light targets 2 and 5; once the heavy one.
		{"a loop around a table", dispatch("", 400), 21*(1+3+2+5) + 400},
		{"a loop around a table of light targets", dispatch("", 4), 21 * (1 + 3 + 2 + 5 + 4)},
		// What is branched to past the table is charged for itself.
		{"a branch to a light target", dispatch("(br_if $c2 (i32.eqz (local.get $n)))", 4), 21*(1+3+2+5+2) + 4},
		{"memory.fill", `(memory 16) (func (export "f") (memory.fill (i32.const 0) (i32.const 1) (i32.const 80000)))`, 10_000},
		{"memory.copy", `(memory 16) (func (export "f") (memory.copy (i32.const 0) (i32.const 1) (i32.const 80000)))`, 10_000},
		{"memory.init", `(memory 16) (data $d "` + strings.Repeat("x", 800) + `") (func (export "f") (memory.init $d (i32.const 0) (i32.const 0) (i32.const 800)))`, 100},
		{"table.fill", `(table $t 1000 funcref) (func (export "f") (table.fill $t (i32.const 0) (ref.null func) (i32.const 1000)))`, 500 + 256 + 2},
		{"table.grow", `(table $t 1 funcref) (func (export "f") (drop (table.grow $t (ref.null func) (i32.const 1000))))`, 500 + 256 + 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, m := stopping(t, "(module "+tt.text+")", 0)
			p.slice = slice
			fuel := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
			fuel.Set(slice)
			if _, err := m.ExportedFunction("f").Call(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := slice - int64(fuel.Get()); got != tt.want || p.yields != 0 {
				t.Errorf("f spends %d with %d yields, want %d without any", got, p.yields, tt.want)
			}
		})
	}
}

// TestLargestRange shows that the largest length yields, whatever fuel is left,
// before the instruction traps.
func TestLargestRange(t *testing.T) {
	p, m := stopping(t, `(module (memory 1) (table $t 1 funcref)
		(func (export "f") (memory.fill (i32.const 0) (i32.const 1) (i32.const -1)))
		(func (export "g") (table.fill $t (i32.const 0) (ref.null func) (i32.const -1))))`, 0)
	for n, name := range []string{"f", "g"} {
		m.ExportedGlobal(meter.Fuel).(api.MutableGlobal).Set(0)
		_, err := m.ExportedFunction(name).Call(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "wasm error: ") {
			t.Errorf("%s: %v, want a trap of its own", name, err)
		}
		// The first is of the range, more may be of the function's entry.
		if p.yields <= n {
			t.Errorf("%d yields after %s, want more", p.yields, name)
		}
	}
}

func TestRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{`(memory 1 1 shared)`, "section memory: the meter does not know threads and atomics"},
		{`(memory 1) (func (drop (i32.atomic.load (i32.const 0))))`, "section code: function 0: the meter does not know threads and atomics"},
		{`(tag)`, "section tag: the meter does not know exceptions"},
		{`(import "a" "b" (tag))`, "section import: the meter does not know exceptions"},
		{`(memory i64 1)`, "section memory: the meter does not know 64-bit memories (memory64)"},
		{`(memory 1) (memory 1) (func (drop (i32.load 1 (i32.const 0))))`, "section memory: the meter does not know more than one memory"},
		{`(import "parley.meter" "yield" (func (param i32) (result i32)))`, `section import: it imports "yield" from parley.meter, which is the meter's`},
		{`(func (export "parley.fuel"))`, "section export: it exports parley.fuel, which is the meter's"},
	}
	for _, tt := range tests {
		out, _, err := meter.Rewrite(assemble(t, "(module "+tt.text+")"))
		if err == nil || err.Error() != tt.want || out != nil {
			t.Errorf("Rewrite(%s): %v, want %s", tt.text, err, tt.want)
		}
	}
}

// TestUnknownProposals shows that what other proposals bring is refused, or
// comes out as good as it went in.
func TestUnknownProposals(t *testing.T) {
	dir := specDir(t)
	for suite, want := range map[string]string{"threads": "threads", "exception-handling": "exceptions", "typed-function-references": "typed function references"} {
		files, err := filepath.Glob(filepath.Join(dir, suite, "testdata", "*.wasm"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no modules of %s: %v", suite, err)
		}
		refused := 0
		for _, file := range files {
			if _, _, err := meter.Rewrite(read(t, file)); err != nil && strings.Contains(err.Error(), want) {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: none of %d modules refused by that name", suite, len(files))
		}
	}
}

// TestOutOfReach shows that code cannot name what is added: such a module is
// invalid before, refused here, and so never becomes valid.
func TestOutOfReach(t *testing.T) {
	// A function of no parameter and no local variable, and one global.
	module := func(code ...byte) []byte {
		b := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x06\x06\x01\x7f\x01\x41\x00\x0b\x0a")
		b = append(b, byte(len(code)+4), 1, byte(len(code)+2), 0)
		return append(append(b, code...), 0x0b)
	}
	if _, _, err := meter.Rewrite(module(0x41, 0, 0x24, 0)); err != nil {
		t.Fatalf("global.set of its own: %v", err)
	}
	for want, code := range map[string][]byte{
		"global 1 of 1":         {0x41, 0, 0x24, 1},
		"local variable 0 of 0": {0x20, 0, 0x1a},
		"function 1 of 1":       {0x10, 1},
		"type 1 of 1":           {0x02, 1, 0x0b},
	} {
		if _, _, err := meter.Rewrite(module(code...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Rewrite of code %x: %v, want %s", code, err, want)
		}
	}
}

// TestCustomSections shows that of all custom sections the names alone stay, so that
// manifests make no difference, and that a stack trace has the original's names.
func TestCustomSections(t *testing.T) {
	bin := assemble(t, `(module $given (import "spec" "missing" (func)) (func $outer (export "f") (call $inner)) (func $inner (unreachable)))`)
	section := func(name, body string) string {
		return "\x00" + string([]byte{byte(1 + len(name) + len(body)), byte(len(name))}) + name + body
	}
	alone, _, err := meter.Rewrite(bin)
	if err != nil {
		t.Fatal(err)
	}
	bin = append(bin, section("manifest", "{}")+section(".debug_line", "x")+section("reloc.CODE", "x")...)
	out, _, err := meter.Rewrite(bin)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, alone) {
		t.Errorf("with more custom sections the output ends in %q, want that of the module without them", out[len(out)-30:])
	}
	p := newPair(t, allFeatures)
	defer p.close()
	for _, r := range p.runtimes {
		if _, err := r.NewHostModuleBuilder("spec").NewFunctionBuilder().WithFunc(func() {}).Export("missing").Instantiate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	made, errs := p.instantiate(bin, "")
	if errs != [2]error{} {
		t.Fatal(errs)
	}
	_, plain := made[0].ExportedFunction("f").Call(t.Context())
	_, metered := made[1].ExportedFunction("f").Call(t.Context())
	if metered == nil || metered.Error() != plain.Error() || !strings.Contains(metered.Error(), "given.inner()\n\tgiven.outer()") {
		t.Errorf("trap of the metered module: %v, want that of the original: %v", metered, plain)
	}
}
