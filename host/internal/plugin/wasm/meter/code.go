package meter

// freeWeight is what a function may weigh outside its loops without being
// counted, as long as it calls nothing there. A call weighs a part of it.
const freeWeight = 4 * weightCall

// maxLocals is how many local variables a function may have, with those that
// are added: wazero takes no more.
const maxLocals = 50_000

// code copies the bodies of all functions and has them count.
func (w *rewriter) code(r *reader) []byte {
	n := r.count()
	own := w.funcs[w.imported:]
	if int(n) != len(own) && r.err == nil {
		r.fail("malformed: %d bodies for %d functions", n, len(own))
		return nil
	}
	out := appendU32(make([]byte, 0, len(r.b)+len(r.b)/2), n)
	c := coder{rewriter: w, fuel: w.globals, depth: w.globals + 1, yield: w.imported}
	for k := range n {
		body := r.sub(r.u32())
		out = c.function(out, body, w.types[own[k]].params)
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
	fuel, depth, yield uint32 // indexes of what was added

	body    []byte  // of the function, as far as it is copied
	locals  uint32  // parameters among them; also the index of the first added one
	blocks  []block // those open, the innermost last
	loops   []loop  // those open, the innermost last; the first is the function
	calls   bool    // something is called
	leaves  bool    // by a tail call, too
	stack   stack
	depths  []uint32 // of a table of branches
	charges []charge // to be put into body
	spliced []byte   // body with them
	head    []byte   // declarations of locals and what is done at the entry
}

// Local variables that are added, counted from the first one: what is left of
// the fuel, where the function's callees stand, and where it stands itself.
const (
	localFuel = iota
	localDepth
	localOwn
	addedLocals
)

// A loop gathers the weight of what is executed each time it is entered.
type loop struct {
	at       int // in the coder's body: where its weight is to be written
	weight   uint64
	inside   int  // how many blocks are open in which it is, itself among them
	plain    bool // nothing but openings of blocks, and no branch, was in it yet
	segments []segment
}

// function appends the body that r reads, of a function with so many
// parameters.
func (c *coder) function(out []byte, r *reader, params uint32) []byte {
	c.body, c.charges, c.calls, c.leaves = c.body[:0], c.charges[:0], false, false
	c.blocks, c.loops = c.blocks[:0], append(c.loops[:0], loop{})
	c.stack = stack{wide: c.wide}
	groups := r.count()
	begin, locals := r.at, uint64(params)
	for range groups {
		locals += uint64(r.u32())
		c.stack.wide = r.valueType() == typeV128 || c.stack.wide
	}
	if locals+addedLocals > maxLocals && r.err == nil {
		r.fail("%d local variables are too many", locals)
	}
	c.locals = uint32(locals)
	c.head = append(appendU32(c.head[:0], groups+1), r.b[begin:r.at]...)

	for c.instruction(r) {
	}
	if r.err == nil && r.more() {
		r.fail("malformed: code after its end")
	}
	c.enter()
	body := c.insert()
	out = appendU32(out, uint32(len(c.head)+len(body)))
	return append(append(out, c.head...), body...)
}

// enter completes the head of a function whose body is copied.
func (c *coder) enter() {
	weight := c.loops[0].weight
	if !c.calls {
		c.head = append(c.head, 1, typeI32)
	} else {
		frame := c.stack.frame(c.locals)
		c.head = append(c.head, addedLocals, typeI32)
		c.descend(frame)
		weight += weighFrame(frame)
	}
	if c.calls || weight > freeWeight {
		var at int
		c.head, at = c.charge(c.head)
		putWeight(c.head[at:], weight)
	}
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
	b = appendU32(append(b, opLocalTee), c.locals+localFuel)
	b = appendU32(append(b, opGlobalSet), c.fuel)
	b = appendU32(append(b, opLocalGet), c.locals+localFuel)
	b = append(b, opI32Const, 0, opI32LtS, opIf, blockTypeEmpty)
	b = appendU32(append(b, opLocalGet), c.locals+localFuel)
	b = appendU32(append(b, opGlobalGet), c.depth)
	b = appendU32(append(b, opCall), c.yield)
	b = appendU32(append(b, opGlobalSet), c.fuel)
	return append(b, opEnd)
}

// chargeRange appends code that takes from the fuel what the length on top of
// the stack, shifted right, says. The length stays there. Shifted by one at
// least it cannot be more than fits below zero, since fuel is never below it
// where code begins to take.
func (c *coder) chargeRange(shift byte) {
	b := appendU32(append(c.body, opLocalTee), c.locals+localFuel)
	b = appendU32(append(b, opGlobalGet), c.fuel)
	b = appendU32(append(b, opLocalGet), c.locals+localFuel)
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
