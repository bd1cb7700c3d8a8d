package meter

// freeWeight is what a function may weigh outside its loops without being
// counted, as long as it calls nothing there. A call weighs a part of it.
const freeWeight = 4 * weightCall

// maxLocals is how many local variables a function may have, with the one that
// is added: wazero takes no more.
const maxLocals = 50_000

// code copies the bodies of all functions and has them count.
func (w *rewriter) code(r *reader) []byte {
	n := r.count()
	if int(n) != len(w.funcs) && r.err == nil {
		r.fail("malformed: %d bodies for %d functions", n, len(w.funcs))
		return nil
	}
	out := appendU32(make([]byte, 0, len(r.b)+len(r.b)/2), n)
	c := coder{rewriter: w, fuel: w.globals, yield: w.imported}
	for k := range n {
		body := r.sub(r.u32())
		out = c.function(out, body, w.params[w.funcs[k]])
		if body.err != nil {
			r.fail("function %d: %w", w.imported+k, body.err)
			return nil
		}
	}
	return out
}

// A coder copies the code of one function after the other.
type coder struct {
	*rewriter
	fuel, yield uint32 // indexes of what was added

	body   []byte // of the function, as far as it is copied
	locals uint32 // parameters among them; also the index of the added one
	blocks []bool // those open, the innermost last: is it a loop
	loops  []loop // those open, the innermost last; the first is the function
	calls  bool   // something is called outside of loops
	head   []byte // declarations of locals and the charge of the entry
}

// A loop gathers the weight of what is executed each time it is entered.
type loop struct {
	at     int // in the coder's body: where its weight is to be written
	weight uint64
}

// function appends the body that r reads, of a function with so many
// parameters.
func (c *coder) function(out []byte, r *reader, params uint32) []byte {
	c.body, c.calls = c.body[:0], false
	c.blocks, c.loops = c.blocks[:0], append(c.loops[:0], loop{})
	groups := r.count()
	begin, locals := r.at, uint64(params)
	for range groups {
		locals += uint64(r.u32())
		r.valueType()
	}
	if locals >= maxLocals && r.err == nil {
		r.fail("%d local variables are too many", locals)
	}
	c.locals = uint32(locals)
	c.head = append(appendU32(c.head[:0], groups+1), r.b[begin:r.at]...)
	c.head = append(c.head, 1, typeI32)

	for c.instruction(r) {
	}
	if r.err == nil && r.more() {
		r.fail("malformed: code after its end")
	}
	if weight := c.loops[0].weight; c.calls || weight > freeWeight {
		var at int
		c.head, at = c.charge(c.head)
		putWeight(c.head[at:], weight)
	}
	out = appendU32(out, uint32(len(c.head)+len(c.body)))
	return append(append(out, c.head...), c.body...)
}

// charge appends code that takes from the fuel; how much is to be written at
// the place it returns.
func (c *coder) charge(b []byte) (_ []byte, at int) {
	b = appendU32(append(b, opGlobalGet), c.fuel)
	b = append(b, opI32Const)
	at = len(b)
	b = append(b, 0, 0, 0, 0, 0)
	return c.take(b), at
}

// take appends code that subtracts the number on top of the stack from the one
// below it, which is the fuel, and yields where too little is left.
func (c *coder) take(b []byte) []byte {
	b = append(b, opI32Sub)
	b = appendU32(append(b, opLocalTee), c.locals)
	b = appendU32(append(b, opGlobalSet), c.fuel)
	b = appendU32(append(b, opLocalGet), c.locals)
	b = append(b, opI32Const, 0, opI32LtS, opIf, blockTypeEmpty)
	b = appendU32(append(b, opLocalGet), c.locals)
	b = appendU32(append(b, opCall), c.yield)
	b = appendU32(append(b, opGlobalSet), c.fuel)
	return append(b, opEnd)
}

// chargeRange appends code that takes from the fuel what the length on top of
// the stack, shifted right, says. The length stays there. Shifted by one at
// least it cannot be more than fits below zero, since fuel is never below it
// where code begins to take.
func (c *coder) chargeRange(shift byte) {
	b := appendU32(append(c.body, opLocalTee), c.locals)
	b = appendU32(append(b, opGlobalGet), c.fuel)
	b = appendU32(append(b, opLocalGet), c.locals)
	b = append(b, opI32Const, shift, opI32ShrU)
	c.body = c.take(b)
}

// maxWeight keeps what is taken at once far from what an i32 holds.
const maxWeight = 1 << 28

// putWeight writes weight into five bytes, as signed LEB128 that is as long as
// it may be.
func putWeight(b []byte, weight uint64) {
	weight = min(max(weight, 1), maxWeight)
	for i := range 4 {
		b[i] = byte(weight>>(7*i)) | 0x80
	}
	b[4] = byte(weight >> 28)
}
