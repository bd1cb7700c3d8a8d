package meter

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A rewriter copies a module section by section. What it must know of one
// section stands in an earlier one.
type rewriter struct {
	out  []byte
	last int // order of the latest section that is written

	types     []signature // functions' types by their index
	funcs     []uint32    // types of functions, the imported ones first
	imported  uint32      // functions
	globals   uint32      // imported and own; also the index of the first added one
	yieldType uint32      // index of the added type
	wide      bool        // types or globals speak of vectors
	hasCode   bool

	mutable []uint32 // indexes of globals that can be set back
	other   string   // see [State]
}

// keeps notes what an instance may keep that cannot be set back; the first is
// enough.
func (w *rewriter) keeps(what string) {
	if w.other == "" {
		w.other = what
	}
}

// The sections to which something is added; where a module lacks one it is
// made.
var grown = [...]byte{secType, secImport, secGlobal, secExport}

// section copies one section.
func (w *rewriter) section(id byte, r *reader) error {
	if id == secCustom {
		return w.custom(r)
	}
	if id == secTag {
		return Exceptions
	}
	if int(id) >= len(order) {
		return errors.New("unknown")
	}
	if order[id] <= w.last {
		return errors.New("malformed: out of order")
	}
	w.fillUpTo(order[id])
	w.last = order[id]
	body := w.rewrite(id, r)
	if r.err == nil && r.more() {
		r.fail("malformed: bytes are left over")
	}
	w.out = appendSection(w.out, id, body)
	return r.err
}

// fillUpTo makes the sections that should have come before the one at o.
func (w *rewriter) fillUpTo(o int) {
	for _, id := range grown {
		if at := order[id]; at > w.last && at < o {
			w.last = at
			w.out = appendSection(w.out, id, w.rewrite(id, &reader{b: []byte{0}}))
		}
	}
}

func (w *rewriter) finish() error {
	w.fillUpTo(len(order))
	if len(w.funcs) > int(w.imported) && !w.hasCode {
		return errors.New("malformed: functions without code")
	}
	return nil
}

// rewrite returns what takes the place of the section that r reads.
func (w *rewriter) rewrite(id byte, r *reader) []byte {
	switch id {
	case secType:
		return w.typeSection(r)
	case secImport:
		return w.imports(r)
	case secFunction:
		for range r.count() {
			w.funcs = append(w.funcs, r.index("type", w.yieldType))
		}
		return r.b
	case secTable:
		for range r.count() {
			w.table(r)
		}
		return r.b
	case secMemory:
		n := r.count()
		if n > 1 {
			r.stop(Memories)
		}
		for range n {
			r.limits()
		}
		return r.b
	case secGlobal:
		return w.globalSection(r)
	case secExport:
		return w.exports(r)
	case secStart:
		return appendU32(nil, w.moved(r))
	case secElement:
		return w.elements(r)
	case secCode:
		w.hasCode = true
		return w.code(r)
	default: // data and data count hold nothing that has moved
		r.at = len(r.b)
		return r.b
	}
}

// moved reads the index of a function and returns its new one.
func (w *rewriter) moved(r *reader) uint32 {
	return w.place(r.index("function", uint32(len(w.funcs))))
}

// place returns where the function i is among those of the rewritten module.
func (w *rewriter) place(i uint32) uint32 {
	if i >= w.imported {
		i++
	}
	return i
}

// A signature says how many values a function or a block takes and leaves.
type signature struct{ params, results uint32 }

func (w *rewriter) typeSection(r *reader) []byte {
	n := r.count()
	begin := r.at
	for range n {
		switch form := r.byte(); {
		case form == 0x5d:
			r.stop(StackSwitching)
		case form != 0x60 && r.err == nil:
			r.stop(fmt.Errorf("type form %#x: %w", form, GC))
		}
		var s signature
		s.params = w.values(r)
		s.results = w.values(r)
		w.types = append(w.types, s)
	}
	w.yieldType = n
	out := append(appendU32(nil, n+1), r.b[begin:r.at]...)
	return append(out, 0x60, 2, typeI32, typeI32, 1, typeI32)
}

// values reads a list of value types.
func (w *rewriter) values(r *reader) (n uint32) {
	n = r.count()
	for range n {
		w.wide = r.valueType() == typeV128 || w.wide
	}
	return n
}

func (w *rewriter) imports(r *reader) []byte {
	n := r.count()
	begin := r.at
	for range n {
		module, name := r.name(), r.name()
		if string(module) == Module {
			r.fail("it imports %.64q from %s, which is the meter's", name, Module)
		}
		switch kind := r.byte(); kind {
		case kindFunc:
			w.funcs = append(w.funcs, r.index("type", w.yieldType))
			w.imported++
		case kindTable:
			w.table(r)
		case kindMemory:
			r.limits()
		case kindGlobal:
			w.wide = r.valueType() == typeV128 || w.wide
			if r.byte() == mutable {
				w.keeps("an imported global")
			}
			w.globals++
		case kindTag:
			r.stop(Exceptions)
		default:
			r.fail("unknown kind of import %d", kind)
		}
	}
	out := append(appendU32(nil, n+1), r.b[begin:r.at]...)
	out = appendName(appendName(out, Module), Yield)
	return appendU32(append(out, kindFunc), w.yieldType)
}

// Kinds of import and export.
const (
	kindFunc = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

func (w *rewriter) table(r *reader) {
	r.valueType()
	r.limits()
}

func (w *rewriter) globalSection(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, n+2)
	for range n {
		t := r.valueType()
		w.wide = t == typeV128 || w.wide
		mutability := r.byte()
		if mutability == mutable {
			w.global(t)
		}
		out = append(out, t, mutability)
		out = w.constant(out, r)
		w.globals++ // after its initial value: that cannot speak of it
	}
	for range 2 {
		out = append(out, typeI32, mutable, opI32Const, 0, opEnd)
	}
	return out
}

const mutable = 1

// global notes the next global, a mutable one of type t.
func (w *rewriter) global(t byte) {
	switch t {
	case typeI32, typeI64, typeF32, typeF64:
		w.mutable = append(w.mutable, w.globals)
	case typeV128:
		w.keeps("a global of type v128")
	default:
		w.keeps("a global that holds a reference")
	}
}

func (w *rewriter) exports(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, n+2+uint32(len(w.mutable)))
	for range n {
		name := r.name()
		if s := string(name); s == Fuel || s == Depth || strings.HasPrefix(s, globalPrefix) {
			r.fail("it exports %s, which is the meter's", s)
		}
		kind := r.byte()
		var index uint32
		switch kind {
		case kindFunc:
			index = w.moved(r)
		case kindTable, kindMemory:
			index = r.u32()
		case kindGlobal:
			index = r.index("global", w.globals)
		case kindTag:
			r.stop(Exceptions)
		default:
			r.fail("unknown kind of export %d", kind)
		}
		out = append(appendName(out, string(name)), kind)
		out = appendU32(out, index)
	}
	for n, index := range w.mutable {
		out = appendU32(append(appendName(out, GlobalName(n)), kindGlobal), index)
	}
	out = appendU32(append(appendName(out, Fuel), kindGlobal), w.globals)
	return appendU32(append(appendName(out, Depth), kindGlobal), w.globals+1)
}

// elements copies the segments of tables. The low bits of each one's flags say
// which of its eight forms it has.
func (w *rewriter) elements(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, n)
	for range n {
		const passive, explicit, expressions = 1, 2, 4
		flags := r.u32()
		if flags > 7 {
			r.fail("unknown form of segment %d", flags)
		}
		out = appendU32(out, flags)
		if flags&passive == 0 {
			if flags&explicit != 0 {
				out = appendU32(out, r.u32())
			}
			out = w.constant(out, r)
		}
		if flags&(passive|explicit) != 0 {
			if flags&expressions != 0 {
				out = append(out, r.valueType())
			} else {
				out = append(out, r.byte())
			}
		}
		items := r.count()
		out = appendU32(out, items)
		for range items {
			if flags&expressions != 0 {
				out = w.constant(out, r)
			} else {
				out = appendU32(out, w.moved(r))
			}
		}
	}
	return out
}

// custom copies the names of functions, which a stack trace shows, and leaves all
// other custom sections out: nobody asks compiled code for them, and modules that
// differ in their manifests alone are compiled once.
func (w *rewriter) custom(r *reader) error {
	name := r.name()
	switch {
	case r.err != nil:
		return r.err
	case !utf8.Valid(name):
		return errors.New("malformed: the name is not UTF-8")
	case string(name) != "name":
		return nil
	}
	if body, ok := w.names(&reader{b: r.b[r.at:]}); ok {
		w.out = appendSection(w.out, secCustom, append(appendName(nil, "name"), body...))
	}
	return nil
}
