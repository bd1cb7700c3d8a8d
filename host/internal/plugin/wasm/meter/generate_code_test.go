package meter_test

// statement makes code that leaves the stack as it was.
func (g *generator) statement(depth int) {
	if g.size--; g.size < 0 || depth == 0 {
		g.emit(0x01)
		return
	}
	switch g.pick(16) {
	case 0, 1:
		g.value(depth - 1)
		g.emit(0x21, byte(g.pick(genLocals)))
	case 2:
		g.block(0x02, depth)
	case 3, 4:
		g.loop(depth)
	case 5:
		g.value(depth - 1)
		g.block(0x04, depth)
	case 6:
		g.branches(depth)
	case 7:
		g.address(depth - 1)
		g.value(depth - 1)
		g.emit(0x36, 0, byte(g.pick(128))) // i32.store
	case 8:
		g.value(depth - 1)
		g.emit(0x24, genGlobal)
	case 9:
		g.value(depth - 1)
		g.emit(0x1a)
	case 10:
		g.ranges(depth)
	case 11:
		if g.labels > 0 {
			g.value(depth - 1)
			g.emit(0x0d, byte(g.pick(g.labels)))
		}
	case 12:
		g.rare(depth)
	default:
		g.emit(0x20, byte(g.pick(genLocals)), 0x41, 1, 0x6a, 0x21, byte(g.pick(genLocals)))
	}
}

func (g *generator) inner(depth int) {
	g.labels++
	for range g.pick(3) {
		g.statement(depth - 1)
	}
	g.labels--
}

func (g *generator) block(op byte, depth int) {
	g.emit(op, 0x40)
	g.inner(depth)
	if op == 0x04 && g.pick(2) == 0 {
		g.emit(0x05)
		g.inner(depth)
	}
	g.emit(0x0b)
}

func (g *generator) loop(depth int) {
	g.emit(0x03, 0x40)
	g.turn()
	g.inner(depth)
	g.emit(0x23, genTurns, 0x41, []byte{1, 3, 7, 63}[g.pick(4)], 0x71, 0x0d, 0) // br_if on low bits of the turns left
	g.emit(0x0b)
}

// branches makes a br_table out of some blocks.
func (g *generator) branches(depth int) {
	n := 1 + g.pick(3)
	for range n {
		g.emit(0x02, 0x40)
	}
	g.labels += n
	g.value(depth - 1)
	g.emit(0x0e, byte(n))
	for range n + 1 {
		g.emit(byte(g.pick(g.labels)))
	}
	for range n {
		g.emit(0x0b)
		g.labels--
		g.statement(depth - 1)
	}
}

// ranges makes what works on a range of memory or of the table, mostly within
// bounds.
func (g *generator) ranges(depth int) {
	op := g.pick(6)
	for range 2 {
		if op >= 3 || g.pick(2) == 0 {
			g.constant(g.pick(12))
		} else {
			g.address(depth - 1)
		}
	}
	switch op {
	case 0, 1: // the length: any, or a large one
		g.address(depth - 1)
	case 2, 3:
		g.constant(g.pick(256) * 64)
	default:
		g.constant(g.pick(6))
	}
	switch op {
	case 0, 2:
		g.emit(0xfc, 11, 0) // memory.fill
	case 1:
		g.emit(0xfc, 10, 0, 0) // memory.copy
	case 3:
		g.emit(0xfc, 8, 0, 0) // memory.init
	case 4:
		g.emit(0xfc, 14, 0, 0) // table.copy
	case 5: // table.fill; its value lies between place and length
		g.emit(0x1a, 0x1a, 0xd2, byte(g.pick(g.funcs)))
		g.constant(g.pick(6))
		g.emit(0xfc, 17, 0)
	}
}

func (g *generator) rare(depth int) {
	switch g.pick(6) {
	case 0:
		g.value(depth - 1)
		g.emit(0x0f)
	case 1:
		g.value(0)
		g.emit(0x41, 31, 0x71, 0x45, 0x04, 0x40, 0x00, 0x0b) // unreachable, one time in 32
	case 2:
		if g.labels > 0 {
			g.emit(0x0c, byte(g.pick(g.labels)))
		}
	case 3:
		g.emit(0xd2, byte(g.pick(g.funcs)))
		g.constant(g.pick(3))
		g.emit(0xfc, 15, 0, 0x1a) // table.grow
	case 4:
		g.emit(0xfc, 9, 0) // data.drop
	case 5:
		g.value(depth - 1)
		g.value(depth - 1)
		g.constant(g.callee())
		g.emit(0x13, 0, 0) // return_call_indirect
	}
}

// address pushes an i32 that is mostly within memory.
func (g *generator) address(depth int) {
	g.value(depth)
	if g.pick(16) != 15 {
		g.emit(0x41, 0xff, 0xff, 0, 0x71)
	}
}

// value makes code that pushes an i32.
func (g *generator) value(depth int) {
	if g.size--; g.size < 0 || depth <= 0 {
		g.leaf()
		return
	}
	ops := []byte{0x6a, 0x6b, 0x6c, 0x6d, 0x70, 0x71, 0x72, 0x73, 0x74, 0x76, 0x46, 0x48, 0x4b, 0x4f}
	switch g.pick(12) {
	case 0, 1, 2:
		op := ops[g.pick(len(ops))]
		g.value(depth - 1)
		g.value(depth - 1)
		if (op == 0x6d || op == 0x70) && g.pick(8) != 7 {
			g.emit(0x41, 1, 0x72) // mostly not by zero
		}
		g.emit(op)
	case 3:
		g.address(depth - 1)
		g.emit(0x28, 0, byte(g.pick(128))) // i32.load
	case 4:
		g.value(depth - 1)
		g.value(depth - 1)
		if callee := g.callee(); callee < g.funcs {
			g.emit(0x10, byte(callee))
		} else {
			g.emit(0x73)
		}
	case 5:
		g.value(depth - 1)
		g.value(depth - 1)
		if callee := g.callee(); callee < g.funcs || g.pick(8) == 7 {
			g.constant(callee)
			g.emit(0x11, 0, 0)
		} else {
			g.emit(0x73)
		}
	case 6:
		g.value(depth - 1)
		g.emit(0x04, 0x7f) // if with a result
		g.labels++         // which no branch may name: it would have to bring one
		g.emit(0x20, byte(g.pick(genLocals)), 0x05, 0x41, 9)
		g.labels--
		g.emit(0x0b)
	case 7:
		g.value(depth - 1)
		g.value(depth - 1)
		g.value(depth - 1)
		g.emit(0x1b)
	case 8:
		g.value(depth - 1)
		g.emit(0xfd, 15, 0xfd, 22, byte(g.pick(16))) // i8x16.splat, extract_lane_u
	case 9:
		g.constant(g.pick(3))
		g.emit(0x40, 0) // memory.grow
	case 10:
		g.value(depth - 1)
		g.emit(0xac, 0x42, 3, 0x7e, 0xa7) // by way of i64
	default:
		g.value(depth - 1)
		g.emit(0x45)
	}
}

func (g *generator) leaf() {
	switch g.pick(4) {
	case 0:
		g.constant(g.pick(256))
	case 1:
		g.emit(0x23, genGlobal)
	default:
		g.emit(0x20, byte(g.pick(genLocals)))
	}
}
