package meter

// Instructions that are more to the rewriter than bytes to copy.
const (
	opBlock          = 0x02
	opLoop           = 0x03
	opIf             = 0x04
	opElse           = 0x05
	opEnd            = 0x0b
	opBr             = 0x0c
	opBrIf           = 0x0d
	opBrTable        = 0x0e
	opCall           = 0x10
	opCallIndirect   = 0x11
	opReturnCall     = 0x12
	opReturnIndirect = 0x13
	opSelectTyped    = 0x1c
	opLocalGet       = 0x20
	opLocalSet       = 0x21
	opLocalTee       = 0x22
	opGlobalGet      = 0x23
	opGlobalSet      = 0x24
	opTableSet       = 0x26
	opMemoryGrow     = 0x40
	opI32Const       = 0x41
	opI32LtS         = 0x48
	opI32Add         = 0x6a
	opI32Sub         = 0x6b
	opI32ShrU        = 0x76
	opRefFunc        = 0xd2

	opPrefixGC      = 0xfb
	opPrefixBulk    = 0xfc
	opPrefixSIMD    = 0xfd
	opPrefixThreads = 0xfe

	blockTypeEmpty = 0x40

	// Behind opPrefixBulk.
	bulkMemoryInit = 8
	bulkDataDrop   = 9
	bulkMemoryCopy = 10
	bulkMemoryFill = 11
	bulkTableInit  = 12
	bulkElemDrop   = 13
	bulkTableCopy  = 14
	bulkTableGrow  = 15
	bulkTableFill  = 17

	// Weights of what is not 0 or 1.
	weightCall   = 16
	weightGrow   = 256
	weightLoad   = 8
	weightDivide = 8

	simdConst         = 12
	lastPlainSIMD     = 255 // behind opPrefixSIMD; what follows is relaxed SIMD
	maxMemoryArgAlign = 63  // from 64 on a memory's index follows
)

// An immediate says what follows an opcode.
type immediate uint8

const (
	immUnknown  immediate = iota
	immNone               // nothing
	immNumber             // one number
	immMemory             // alignment and offset
	imm32                 // four bytes
	imm64                 // eight
	immSpecial            // it has its own case
	immThrow              // it is of the exception proposals
	immTypedRef           // it is of typed function references
)

// immediateOf returns what follows the opcode op of one byte.
func immediateOf(op byte) immediate {
	switch {
	case op <= 0x01, op == opElse, op == opEnd, op == 0x0f, op == 0x1a, op == 0x1b, // unreachable, nop, return, drop, select
		op >= 0x45 && op <= 0xc4, op == 0xd1: // comparing and computing, ref.is_null
		return immNone
	case op == 0x25, op == 0x26, // table.get, table.set
		op == 0x3f, op == opMemoryGrow, op == opI32Const, op == 0x42: // memory.size, i64.const
		return immNumber
	case op >= 0x28 && op <= 0x3e: // loads and stores
		return immMemory
	case op == 0x43: // f32.const
		return imm32
	case op == 0x44: // f64.const
		return imm64
	case op >= opBlock && op <= opIf, op >= opBr && op <= opBrTable,
		op >= opCall && op <= opReturnIndirect, op == opSelectTyped,
		op >= opLocalGet && op <= opGlobalSet,
		op == 0xd0, op == opRefFunc, // ref.null
		op >= opPrefixGC && op <= opPrefixThreads:
		return immSpecial
	case op >= 0x06 && op <= 0x0a, op == 0x18, op == 0x19, op == 0x1f: // try, catch, throw, rethrow, throw_ref, delegate, catch_all, try_table
		return immThrow
	case op == 0x14, op == 0x15, op >= 0xd3 && op <= 0xd6: // call_ref and its kin
		return immTypedRef
	}
	return immUnknown
}

// weigh returns the weight of an instruction, 1 for what a processor does in a
// nanosecond or less. What compiles to nothing weighs nothing. A load weighs
// what it takes where it often misses the processor's caches, and even that is
// little next to one that always does.
func weigh(op byte) uint64 {
	switch op {
	case opBlock, opLoop, opEnd, opElse, 0x01, 0x1a, opLocalGet, opI32Const, 0x42, 0x43, 0x44:
		return 0
	case opCall, opCallIndirect, opReturnCall, opReturnIndirect:
		return weightCall
	case opMemoryGrow:
		return weightGrow
	case 0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82, // div and rem of integers
		0x91, 0x95, 0x9f, 0xa3: // sqrt and div of floats
		return weightDivide
	}
	if op >= 0x28 && op <= 0x35 || op == 0x25 { // loads and table.get
		return weightLoad
	}
	return 1
}
