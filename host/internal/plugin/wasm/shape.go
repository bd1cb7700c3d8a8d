package wasm

import (
	"fmt"

	"github.com/parley-search/parley/abi"
)

// A Shape is what a module shows of itself, read without compiling or running
// any of it.
type Shape struct {
	Imports   []Import
	Exports   []Export
	MemoryMin uint32 // pages of 64 KiB
	MemoryMax uint32 // pages; 65536 where the module names none
	memories  int    // of its own
}

// An Import is one thing that a module wants from the host.
type Import struct {
	Module, Name string
	Kind         string // func, table, memory, global or tag
	Signature    string // of a func, such as "(i32, i32) -> i64"
}

// An Export is one thing that a module offers.
type Export struct {
	Name      string
	Kind      string
	Signature string // of a func
}

// Func returns the signature of the exported function name; ok is false where
// there is none.
func (s *Shape) Func(name string) (signature string, ok bool) {
	for _, e := range s.Exports {
		if e.Name == name && e.Kind == kinds[0] {
			return e.Signature, true
		}
	}
	return "", false
}

// HasMemory reports whether the module exports its memory under the ABI's name.
func (s *Shape) HasMemory() bool {
	for _, e := range s.Exports {
		if e.Name == abi.Memory && e.Kind == "memory" {
			return true
		}
	}
	return false
}

var kinds = [...]string{"func", "table", "memory", "global", "tag"}

// Describe reads the shape of a core module. It understands the sections that
// a shape needs and nothing of the code, so a module that it accepts may still
// fail to compile.
func Describe(module []byte) (*Shape, error) {
	if !abi.IsModule(module) {
		return nil, fmt.Errorf("no core WebAssembly module: %w", abi.ErrMalformed)
	}
	d := &describer{shape: &Shape{MemoryMax: 1 << 16}}
	end := 8
	for s := range sections(module) {
		d.section(s.id, &s.body)
		if s.body.bad {
			return nil, explain(module, fmt.Errorf("section %d: %w", s.id, abi.ErrMalformed))
		}
		end = s.end
	}
	if end != len(module) {
		return nil, fmt.Errorf("sections: %w", abi.ErrMalformed)
	}
	if err := d.name(); err != nil {
		return nil, err
	}
	return d.shape, nil
}

// A describer gathers what the sections say; functions are named by the types
// that an earlier section holds.
type describer struct {
	shape   *Shape
	types   []string
	funcs   []uint32 // type of each function, the imported ones first
	exports []uint32 // index of each export
	wants   []uint32 // type of each imported function
}

func (d *describer) section(id byte, c *cursor) {
	switch id {
	case sectionType:
		for range c.u32() {
			if c.bad {
				return
			}
			d.types = append(d.types, c.funcType())
		}
	case sectionImport:
		for range c.u32() {
			if c.bad {
				return
			}
			d.importEntry(c)
		}
	case sectionFunction:
		for range c.u32() {
			if c.bad {
				return
			}
			d.funcs = append(d.funcs, c.u32())
		}
	case sectionMemory:
		for range c.u32() {
			if c.bad {
				return
			}
			d.shape.memories++
			d.shape.MemoryMin, d.shape.MemoryMax = c.limits()
		}
	case sectionExport:
		for range c.u32() {
			if c.bad {
				return
			}
			name, kind, index := c.text(), c.kind(), c.u32()
			d.shape.Exports = append(d.shape.Exports, Export{Name: name, Kind: kind})
			d.exports = append(d.exports, index)
		}
	}
}

func (d *describer) importEntry(c *cursor) {
	i := Import{Module: c.text(), Name: c.text(), Kind: c.kind()}
	switch i.Kind {
	case "func":
		t := c.u32()
		d.funcs = append(d.funcs, t)
		d.wants = append(d.wants, t)
	case "table":
		c.byte()
		c.limits()
	case "memory":
		c.limits()
	case "global":
		c.bytes(2)
	case "tag":
		c.byte()
		c.u32()
	}
	d.shape.Imports = append(d.shape.Imports, i)
}

// name puts signatures to imported and exported functions.
func (d *describer) name() error {
	k := 0
	for i := range d.shape.Imports {
		if d.shape.Imports[i].Kind != "func" {
			continue
		}
		if int(d.wants[k]) >= len(d.types) {
			return fmt.Errorf("import %q: no such type: %w", clip(d.shape.Imports[i].Name, 64), abi.ErrMalformed)
		}
		d.shape.Imports[i].Signature = d.types[d.wants[k]]
		k++
	}
	for i := range d.shape.Exports {
		e := &d.shape.Exports[i]
		if e.Kind != "func" {
			continue
		}
		if int(d.exports[i]) >= len(d.funcs) || int(d.funcs[d.exports[i]]) >= len(d.types) {
			return fmt.Errorf("export %q: no such function: %w", clip(e.Name, 64), abi.ErrMalformed)
		}
		e.Signature = d.types[d.funcs[d.exports[i]]]
	}
	return nil
}
