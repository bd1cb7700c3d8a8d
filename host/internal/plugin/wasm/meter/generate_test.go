package meter_test

// A generator makes a valid module out of any bytes, which it takes as a stream
// of choices. All functions are of type (i32, i32) -> i32 and are exported, as
// "f0" and so on; memory, table and globals are there too. The module counts
// its own turns and calls and traps after turnLimit of them, so it always ends.
type generator struct {
	choices []byte
	out     []byte
	funcs   int
	self    int // the function that is being made
	labels  int // blocks open around what is being made, all without result
	size    int // instructions that may still be made
}

const turnLimit = 3000

// Indexes of what each generated module has.
const (
	genGlobal = 0 // a number
	genTurns  = 1 // how many turns are left
	genLocals = 5 // parameters among them
)

func (g *generator) pick(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	v := int(g.choices[0]) % n
	g.choices = g.choices[1:]
	return v
}

func (g *generator) emit(b ...byte) { g.out = append(g.out, b...) }

// leb appends a number that is not negative; the signed form of it, for
// constants, has a sign bit to spare.
func leb(b []byte, v int, signed bool) []byte {
	for v >= 0x80 || signed && v >= 0x40 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func (g *generator) constant(v int) { g.out = leb(append(g.out, 0x41), v, true) }

func list(items ...[]byte) []byte {
	b := leb(nil, len(items), false)
	for _, i := range items {
		b = append(b, i...)
	}
	return b
}

func sized(b []byte) []byte { return append(leb(nil, len(b), false), b...) }

// generate returns the module that choices stand for, and how many functions
// it has.
func generate(choices []byte) (bin []byte, funcs int) {
	g := &generator{choices: choices}
	g.funcs = 1 + g.pick(5)
	section := func(id byte, body []byte) {
		bin = append(append(bin, id), sized(body)...)
	}
	bin = append(bin, "\x00asm\x01\x00\x00\x00"...)
	section(1, list([]byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f}))
	var types, exports, items, bodies [][]byte
	for f := range g.funcs {
		types = append(types, []byte{0})
		exports = append(exports, append(sized([]byte{'f', byte('0' + f)}), 0, byte(f)))
		items = append(items, []byte{byte(f)})
	}
	section(3, list(types...))
	section(4, list([]byte{0x70, 1, 8, 16}))
	section(5, list([]byte{1, 1, 3}))
	turns := append(leb([]byte{0x7f, 1, 0x41}, turnLimit, true), 0x0b)
	section(6, list([]byte{0x7f, 1, 0x41, 7, 0x0b}, turns))
	exports = append(exports, append(sized([]byte("memory")), 2, 0), append(sized([]byte("number")), 3, genGlobal), append(sized([]byte("turns")), 3, genTurns))
	section(7, list(exports...))
	section(9, list(append([]byte{0, 0x41, 0, 0x0b}, list(items...)...)))
	section(12, []byte{1})
	for g.self = range g.funcs {
		bodies = append(bodies, sized(g.function()))
	}
	section(10, list(bodies...))
	section(11, list(append([]byte{1}, sized([]byte("some bytes that memory.init copies"))...)))
	return bin, g.funcs
}

// function returns a body.
func (g *generator) function() []byte {
	g.out, g.labels, g.size = []byte{1, genLocals - 2, 0x7f}, 0, 60
	g.turn()
	for range 1 + g.pick(4) {
		g.statement(4)
	}
	if callee := g.callee(); callee < g.funcs && g.pick(4) == 0 { // end by a tail call
		g.value(2)
		g.value(2)
		g.emit(0x12, byte(callee))
	} else {
		g.value(3)
	}
	g.emit(0x0b)
	return g.out
}

// callee picks a function to call: mostly a later one, so that most calls end
// well. It may be one that does not exist.
func (g *generator) callee() int {
	if g.pick(16) == 15 {
		return g.pick(g.funcs)
	}
	return g.self + 1 + g.pick(2)
}

// turn counts, and traps where the module has done enough.
func (g *generator) turn() {
	g.emit(0x23, genTurns, 0x41, 1, 0x6b, 0x24, genTurns, 0x23, genTurns, 0x45, 0x04, 0x40, 0x00, 0x0b)
}
