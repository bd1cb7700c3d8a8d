package meter

// instruction copies one instruction; more is false after the one that ends
// the function, and after an error.
func (c *coder) instruction(r *reader) (more bool) {
	begin := r.at
	op := r.byte()
	if r.err != nil {
		return false
	}
	c.weigh(weigh(op))
	c.push(effect(op))
	switch immediateOf(op) {
	case immNone:
		switch op {
		case opEnd:
			return c.end()
		case opElse:
			c.loops[len(c.loops)-1].plain = false
			c.otherwise()
		}
	case immNumber:
		r.skip()
		if op == opTableSet {
			c.keeps(tables)
		}
	case immMemory:
		r.memoryArg()
	case imm32:
		r.bytes(4)
	case imm64:
		r.bytes(8)
	case immThrow:
		r.stop(Exceptions)
	case immTypedRef:
		r.stop(TypedRefs)
	case immSpecial:
		return c.special(r, begin, op)
	default:
		if op >= 0xe0 && op <= 0xe6 {
			r.stop(StackSwitching)
		}
		r.fail("unknown instruction %#x", op)
	}
	return c.copy(r, begin)
}

// copy copies what r has read since begin.
func (c *coder) copy(r *reader, begin int) (more bool) {
	if r.err != nil {
		return false
	}
	c.body = append(c.body, r.b[begin:r.at]...)
	return true
}

// weigh adds to the weight of the innermost loop, or of what is behind its last target.
func (c *coder) weigh(n uint64) {
	l := &c.loops[len(c.loops)-1]
	if s := len(l.segments); s > 0 {
		l.segments[s-1].weight += n
		return
	}
	l.weight += n
}

// end closes the innermost block.
func (c *coder) end() (more bool) {
	c.body = append(c.body, opEnd)
	n := len(c.blocks)
	if n == 0 {
		return false
	}
	b := c.blocks[n-1]
	if b.loop {
		l := &c.loops[len(c.loops)-1]
		putWeight(c.body[l.at:], l.weight+c.group(l))
		c.loops = c.loops[:len(c.loops)-1]
	}
	l := &c.loops[len(c.loops)-1]
	l.plain = false
	if b.target {
		l.segments = append(l.segments, segment{at: len(c.body), alone: b.alone})
	}
	c.blocks = c.blocks[:n-1]
	c.stack.height = b.base
	c.push(int(b.results))
	return true
}

// otherwise begins the second half of a conditional, which finds what the first
// one found.
func (c *coder) otherwise() {
	if n := len(c.blocks); n > 0 {
		b := c.blocks[n-1]
		c.stack.height = b.base + b.params
	}
}

// special copies an instruction that opens a block, that names something that
// has moved or must not be named, or whose form takes some reading.
func (c *coder) special(r *reader, begin int, op byte) (more bool) {
	switch op {
	case opBlock, opIf:
		if op == opIf {
			c.loops[len(c.loops)-1].plain = false
		}
		c.open(false, c.blockType(r))
	case opBr, opBrIf:
		c.branched(r.u32())
		c.loops[len(c.loops)-1].plain = false
	case opLoop:
		return c.loop(r, begin)
	case opBrTable:
		n := r.count()
		c.weigh(2)
		c.depths = c.depths[:0]
		for range n {
			c.depths = append(c.depths, r.u32())
		}
		c.dispatched(append(c.depths, r.u32()))
	case opCall, opReturnCall:
		f := r.index("function", uint32(len(c.funcs)))
		if r.err != nil {
			return false
		}
		c.called(c.types[c.funcs[f]], op == opReturnCall)
		c.body = appendU32(append(c.body, op), c.place(f))
		return true
	case opCallIndirect, opReturnIndirect:
		t := r.index("type", c.yieldType)
		r.u32()
		if r.err != nil {
			return false
		}
		c.push(-1) // which function
		c.called(c.types[t], op == opReturnIndirect)
	case opRefFunc:
		c.body = appendU32(append(c.body, op), c.moved(r))
		return r.err == nil
	case opSelectTyped:
		for range r.count() {
			r.valueType()
		}
	case opLocalGet, opLocalSet, opLocalTee:
		r.index("local variable", c.locals)
	case opGlobalGet, opGlobalSet:
		r.index("global", c.fuel)
	case 0xd0: // ref.null
		r.valueType()
	case opPrefixBulk:
		c.bulk(r)
	case opPrefixSIMD:
		c.weigh(3)
		c.stack.wide = true
		if r.simd() == simdConst {
			c.push(1)
		}
	case opPrefixThreads:
		r.stop(Threads)
	case opPrefixGC:
		r.stop(GC)
	default:
		r.fail("unknown instruction %#x", op)
	}
	return c.copy(r, begin)
}

// loop copies the opening of a loop, with a charge behind it.
func (c *coder) loop(r *reader, begin int) (more bool) {
	c.open(true, c.blockType(r))
	if !c.copy(r, begin) {
		return false
	}
	var at int
	c.body, at = c.charge(c.body)
	c.loops[len(c.loops)-1].plain = false
	c.loops = append(c.loops, loop{at: at, weight: 1, inside: len(c.blocks), plain: true})
	return true
}

// bulk reads an instruction of prefix 0xfc behind the prefix, and charges for
// the range on which it works. The charge comes before the instruction.
func (c *coder) bulk(r *reader) {
	op := r.u32()
	switch op {
	case bulkDataDrop, bulkElemDrop:
		c.keeps("a segment that it drops")
	case bulkTableInit, bulkTableCopy, bulkTableGrow, bulkTableFill:
		c.keeps(tables)
	}
	switch op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // trunc_sat
	case bulkDataDrop, bulkElemDrop, 16: // table.size
		r.u32()
		c.push(1) // of the last alone
	case bulkMemoryInit, bulkMemoryCopy:
		r.u32()
		r.u32()
		c.push(-3)
		c.weigh(weightCall)
		c.chargeRange(3)
	case bulkMemoryFill:
		r.u32()
		c.push(-3)
		c.weigh(weightCall)
		c.chargeRange(3)
	case bulkTableInit, bulkTableCopy:
		r.u32()
		r.u32()
		c.push(-3)
		c.weigh(weightCall)
		c.chargeRange(1)
	case bulkTableFill, bulkTableGrow:
		r.u32()
		c.push(-1) // of growing; filling takes three
		c.weigh(weightGrow)
		c.chargeRange(1)
	case 18: // memory.discard
		r.stop(MemoryControl)
	case 19, 20, 21, 22: // numbers of 128 bits
		r.stop(WideArithmetic)
	default:
		if r.err == nil {
			r.fail("unknown instruction 0xfc %d", op)
		}
	}
}

const tables = "a table that it changes"

// simd reads an instruction of prefix 0xfd behind the prefix, and returns which.
func (r *reader) simd() (op uint32) {
	switch op = r.u32(); {
	case op <= 11, op == 92, op == 93: // loads and v128.store
		r.memoryArg()
	case op == simdConst, op == 13: // i8x16.shuffle
		r.bytes(16)
	case op >= 21 && op <= 34: // extract_lane, replace_lane
		r.byte()
	case op >= 84 && op <= 91: // loads and stores of one lane
		r.memoryArg()
		r.byte()
	case op >= 0x100 && op < 0x130:
		r.stop(RelaxedSIMD)
	case op > lastPlainSIMD:
		r.fail("unknown instruction 0xfd %d", op)
	}
	return op
}

func (r *reader) memoryArg() {
	if align := r.u32(); align > maxMemoryArgAlign {
		r.stop(Memories)
	}
	r.u32()
}

// blockType reads what a block takes and leaves: nothing, one value, or what a
// type says.
func (c *coder) blockType(r *reader) (s signature) {
	if !r.more() {
		r.stop(errShort)
		return s
	}
	// Numbers of types are not negative, the others are; of a signed LEB128
	// number of one byte bit 6 is the sign.
	switch b := r.b[r.at]; {
	case b == blockTypeEmpty:
		r.at++
	case b&0xc0 == 0x40:
		r.valueType()
		s.results = 1
	default:
		if t := r.index("type", c.yieldType); r.err == nil {
			s = c.types[t]
		}
	}
	return s
}

// constant copies an expression that makes an initial value.
func (w *rewriter) constant(out []byte, r *reader) []byte {
	for r.err == nil {
		begin := r.at
		op := r.byte()
		switch op {
		case opEnd:
			return append(out, op)
		case opI32Const, 0x42:
			r.skip()
		case 0x43:
			r.bytes(4)
		case 0x44:
			r.bytes(8)
		case opI32Add, opI32Sub, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub, mul: extended constants
		case opGlobalGet:
			r.index("global", w.globals)
		case 0xd0:
			r.valueType()
		case opRefFunc:
			out = appendU32(append(out, op), w.moved(r))
			continue
		case opPrefixSIMD:
			if r.u32() != simdConst {
				r.fail("unknown constant")
			}
			r.bytes(16)
		default:
			r.fail("unknown constant %#x", op)
		}
		out = append(out, r.b[begin:r.at]...)
	}
	return out
}
