// Package meter rewrites a WebAssembly module so that it counts what it does,
// and asks the host for leave each time it has done so much. A host that says
// no (by panicking) ends a guest that would never end by itself; a host that
// says yes learns what the guest has spent.
//
// # What is counted
//
// The module gets a global, [Fuel], and an import, [Yield]. Code takes from the
// global; where it falls below zero the guest calls yield, whose answer is the
// global's new value. Each instruction has a weight, for how long it may
// take (see weigh). Fuel is taken:
//
//   - at each turn of a loop, its first one too: the weight of all instructions
//     of the loop that are not in an inner loop;
//   - in a loop that begins with a table of branches, behind each target of the table: the
//     weight up to the next one (see dispatch.go). So a turn pays for what it executes there,
//     and not for all of it: Go makes each function one loop around such a table;
//   - at the entry of a function: the weight of all instructions outside its
//     loops, but nothing where they weigh little and the function calls nothing;
//   - before an instruction that works on a range of memory or of a table: by
//     the range's size.
//
// So no code that runs for long avoids being counted. All that is ever executed
// without is a short function without loops, and who calls it has paid for the
// call. A call whose frame is large weighs more. In a loop with other branches more is taken than is executed, which
// errs on the safe side.
//
// # How deep it stands
//
// A second global, [Depth], says how many bytes of stack the open calls take, as
// an estimate from above: what runs a guest bounds its memory, but seldom its
// stack to anything of use. Before a call the caller writes there what it found
// at its own entry, and its own frame. So nothing is to be done where a function
// returns, and one that calls nothing pays nothing. Yield is told. Between two
// yields fuel bounds how far the stack grows, to some 16 bytes a unit.
//
// # What is kept between calls
//
// The module's own mutable globals are exported, so that whoever runs it can set
// them back. [State] says how many there are, and what else an instance may keep.
//
// # What it leaves
//
// Behaviour: results and traps are those of the original. Of the custom sections
// the names of functions stay, adapted; all others are left out. In a module
// without names a stack trace shows numbers, which are one above those of the
// original, for the added import comes first.
//
// The output hangs on the input alone. It refuses what it does not know, among
// it threads, exceptions, garbage collection, 64-bit memories and typed
// function references; tail calls and SIMD it knows. It is written after the
// binary format of the core specification, version 2, chapter 5
// (https://www.w3.org/TR/wasm-core-2/), and the tail call proposal.
//
// It does not validate: an invalid module may come out, and is as invalid as
// it was. In particular no code can name what has been added to it.
package meter

import "fmt"

// Names of what a rewritten module has more.
const (
	// Module and Yield name the imported function, of type (fuel, depth i32) ->
	// i32. It is given both globals, of which fuel is below zero; its result
	// should be above.
	Module = "parley.meter"
	Yield  = "yield"
	// Fuel is the name under which the i32 global is exported. It begins at
	// zero: the first thing that code does is to yield.
	Fuel = "parley.fuel"
	// Depth is that of the i32 global that says how deep the latest call stands.
	// Whoever calls an export sets it to zero before.
	Depth = "parley.depth"
)

// A State says what an instance of a rewritten module keeps between calls,
// beside its memory.
type State struct {
	// Globals is how many mutable globals it has. They are exported as
	// [GlobalName] of 0 and on.
	Globals int
	// Other names what it may keep that nobody can set back: a change of a table,
	// a segment that was dropped, a global of another type than a number. Empty
	// where memory and globals are all.
	Other string
}

// GlobalName is the name under which the nth mutable global is exported.
func GlobalName(n int) string { return fmt.Sprint(globalPrefix, n) }

const globalPrefix = "parley.global."

// Rewrite returns the metered form of bin, which it leaves as it is. An error
// names what it does not know, or what is malformed.
func Rewrite(bin []byte) ([]byte, State, error) {
	r := &reader{b: bin}
	if string(r.bytes(len(preamble))) != preamble {
		return nil, State{}, fmt.Errorf("not a core module of version 1")
	}
	w := &rewriter{out: append(make([]byte, 0, len(bin)+len(bin)/4), preamble...)}
	for r.more() {
		id := r.byte()
		body := r.sub(r.u32())
		if r.err != nil {
			break
		}
		if err := w.section(id, body); err != nil {
			return nil, State{}, fmt.Errorf("section %s: %w", sectionName(id), err)
		}
	}
	if r.err != nil {
		return nil, State{}, r.err
	}
	if err := w.finish(); err != nil {
		return nil, State{}, err
	}
	return w.out, State{len(w.mutable), w.other}, nil
}

const preamble = "\x00asm\x01\x00\x00\x00"

// Sections, by the number that the format gives them.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count", "tag",
}

func sectionName(id byte) string {
	if int(id) < len(sectionNames) {
		return sectionNames[id]
	}
	return fmt.Sprint(id)
}

// order is where each section that the rewriter knows stands among the others;
// 0 means that it does not know it.
var order = [...]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6,
	secExport: 7, secStart: 8, secElement: 9, secDataCount: 10, secCode: 11, secData: 12,
	secTag: 0,
}
