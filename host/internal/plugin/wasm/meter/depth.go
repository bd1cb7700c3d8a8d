package meter

// frameBase is what a call takes of the stack at least, in bytes: the address to
// return to, saved registers, and what compiled code keeps of the instance.
const frameBase = 64

// freeFrame is how large a frame may be that is paid for by its call alone. Of
// a larger one each slot weighs 1, so that between two yields the stack grows by
// what the fuel is worth, and not by a few frames of any size.
const freeFrame = 256

func weighFrame(bytes uint64) uint64 { return (max(bytes, freeFrame) - freeFrame) / 8 }

// A stack follows the height of the operand stack through a function, to learn
// how much of the real stack a call of it takes. It may say too much, never too
// little: an instruction that it does not tell apart counts for the one of its
// kind that leaves most, and what cannot be reached counts as if it were.
type stack struct {
	height, highest uint32
	args            uint32 // of the call that has most, its results among them
	wide            bool   // there may be vectors
}

// push changes the height by n. It does not fall below base, what the innermost
// block found: behind a branch code may take what is not there.
func (s *stack) push(n int, base uint32) {
	s.height = uint32(max(int(s.height)+n, int(base)))
	s.highest = max(s.highest, s.height)
}

// frame returns how many bytes a call takes that has so many local variables.
func (s *stack) frame(locals uint32) uint64 {
	slot := uint64(8)
	if s.wide {
		slot = 16
	}
	return frameBase + slot*(uint64(locals)+uint64(s.highest)+uint64(s.args))
}

// A block is one that is open.
type block struct {
	loop   bool
	target bool   // of the table that its loop begins with
	alone  bool   // and of another branch
	base   uint32 // the operand stack's height below what the block takes
	signature
}

// open opens a block.
func (c *coder) open(loop bool, s signature) {
	height := max(c.stack.height, s.params)
	c.blocks = append(c.blocks, block{loop: loop, base: height - s.params, signature: s})
}

// base is the height below which the code of the innermost block does not reach.
func (c *coder) base() uint32 {
	if n := len(c.blocks); n > 0 {
		return c.blocks[n-1].base
	}
	return 0
}

// push has an instruction change the operand stack's height by n.
func (c *coder) push(n int) { c.stack.push(n, c.base()) }

// called notes a call of s, and tells the callee where it stands. A tail call
// has the callee stand in the caller's place.
func (c *coder) called(s signature, tail bool) {
	c.calls = true
	from := c.locals + localDepth
	if tail {
		c.leaves = true
		from = c.locals + localOwn
	}
	c.body = appendU32(append(c.body, opLocalGet), from)
	c.body = appendU32(append(c.body, opGlobalSet), c.depth)
	c.push(int(s.results) - int(s.params))
	c.stack.args = max(c.stack.args, s.params+s.results)
}

// descend appends code to the head that reckons where the function's callees
// stand: below a frame of so many bytes.
func (c *coder) descend(frame uint64) {
	c.head = appendU32(append(c.head, opGlobalGet), c.depth)
	if c.leaves {
		c.head = appendU32(append(c.head, opLocalTee), c.locals+localOwn)
	}
	at := len(c.head) + 1
	c.head = append(c.head, opI32Const, 0, 0, 0, 0, 0, opI32Add, opLocalSet)
	putWeight(c.head[at:], frame)
	c.head = appendU32(c.head, c.locals+localDepth)
}

// effect is how many values the instruction op of one byte leaves on the operand
// stack, less those that it takes. That of calls and of what has a prefix hangs
// on what follows.
func effect(op byte) int {
	switch {
	case op == opLocalGet, op == opGlobalGet, op >= opI32Const && op <= 0x44, // constants
		op == 0x3f, op == 0xd0, op == opRefFunc: // memory.size, ref.null
		return 1
	case op == opIf, op == 0x0d, op == opBrTable, op == 0x1a, // br_if, drop
		op == opLocalSet, op == opGlobalSet,
		op >= 0x46 && op <= 0x4f, op >= 0x51 && op <= 0x66, // comparing, but not with zero
		op >= opI32Add && op <= 0x78, op >= 0x7c && op <= 0x8a, // computing a number out of two
		op >= 0x92 && op <= 0x98, op >= 0xa0 && op <= 0xa6:
		return -1
	case op == 0x1b, op == opSelectTyped, op == 0x26, op >= 0x36 && op <= 0x3e: // select, table.set, stores
		return -2
	}
	return 0
}
