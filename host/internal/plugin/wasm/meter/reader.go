package meter

import (
	"errors"
	"fmt"
)

var errShort = errors.New("malformed: it ends too early")

// A reader reads a module's bytes. It keeps its first error; from then on it is
// at its end and reads zeroes.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail(format string, args ...any) {
	r.stop(fmt.Errorf(format, args...))
}

func (r *reader) stop(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.b)
}

func (r *reader) more() bool { return r.at < len(r.b) }

func (r *reader) byte() byte {
	if !r.more() {
		r.stop(errShort)
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b)-r.at {
		r.stop(errShort)
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

// sub returns a reader of the next n bytes alone.
func (r *reader) sub(n uint32) *reader {
	b := r.bytes(int(n))
	return &reader{b: b, err: r.err}
}

// u32 reads an unsigned LEB128 number of 32 bits.
func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail("malformed: a number is too long")
	return 0
}

// count reads the length of a list. None has more items than bytes follow, so
// that a loop over them is bounded by the module's size.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.stop(errShort)
		return 0
	}
	return n
}

// skip passes over a LEB128 number of any kind; whoever runs the module checks
// what it is.
func (r *reader) skip() {
	for r.byte() >= 0x80 {
	}
}

// name reads a length and so many bytes.
func (r *reader) name() []byte { return r.bytes(int(r.u32())) }

// index reads a number below bound.
func (r *reader) index(what string, bound uint32) uint32 {
	i := r.u32()
	if i >= bound && r.err == nil {
		r.fail("malformed: %s %d of %d", what, i, bound)
		return 0
	}
	return i
}

// valueType reads a type that a local, a global or a block may have.
func (r *reader) valueType() byte {
	t := r.byte()
	switch t {
	case typeI32, typeI64, typeF32, typeF64, typeV128, typeFunc, typeExtern:
	case 0x69:
		r.stop(Exceptions)
	case 0x63, 0x64:
		r.stop(TypedRefs)
	default:
		if r.err == nil {
			r.fail("unknown value type %#x", t)
		}
	}
	return t
}

const (
	typeI32    = 0x7f
	typeI64    = 0x7e
	typeF32    = 0x7d
	typeF64    = 0x7c
	typeV128   = 0x7b
	typeFunc   = 0x70
	typeExtern = 0x6f
)

// limits reads the bounds of a table or a memory.
func (r *reader) limits() {
	flags := r.byte()
	switch {
	case flags&4 != 0:
		r.stop(Memory64)
	case flags&8 != 0:
		r.stop(CustomPages)
	case flags&2 != 0:
		r.stop(Threads)
	case flags > 1:
		r.fail("unknown limits %#x", flags)
	}
	r.u32()
	if flags&1 != 0 {
		r.u32()
	}
}

// A Feature is a part of WebAssembly that came after its version 2.0, by its usual name:
// the meter refuses it wherever it meets it.
type Feature string

// Those that the meter knows by name.
const (
	CustomPages    Feature = "custom page sizes"
	Exceptions     Feature = "exceptions"
	GC             Feature = "garbage collection"
	Memories       Feature = "more than one memory"
	Memory64       Feature = "64-bit memories (memory64)"
	MemoryControl  Feature = "memory control"
	RelaxedSIMD    Feature = "relaxed SIMD"
	StackSwitching Feature = "stack switching"
	Threads        Feature = "threads and atomics"
	TypedRefs      Feature = "typed function references"
	WideArithmetic Feature = "wide arithmetic"
)

func (f Feature) Error() string { return "the meter does not know " + string(f) }

// appendU32 appends v as LEB128.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendName(b []byte, s string) []byte {
	return append(appendU32(b, uint32(len(s))), s...)
}

func appendSection(b []byte, id byte, body []byte) []byte {
	b = appendU32(append(b, id), uint32(len(body)))
	return append(b, body...)
}
