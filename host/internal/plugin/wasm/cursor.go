package wasm

import (
	"iter"
	"strings"
)

// The sections that are of interest here.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionExport    = 7
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// A section is one of a module, which has it from begin to end.
type section struct {
	id         byte
	begin, end int
	body       cursor
}

// sections returns the sections of module up to the first that is cut.
func sections(module []byte) iter.Seq[section] {
	return func(yield func(section) bool) {
		c := cursor{b: module[8:]}
		for len(c.b) > 0 {
			s := section{begin: len(module) - len(c.b), id: c.byte()}
			s.body.b = c.bytes(c.u32())
			s.end = len(module) - len(c.b)
			if c.bad || !yield(s) {
				return
			}
		}
	}
}

// A cursor reads a module's bytes. Past the end, or on what it does not
// understand, it turns bad and reads zeroes.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) fail() {
	c.b, c.bad = nil, true
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail()
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(c.b)) {
		c.fail()
		return nil
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

// u32 reads an unsigned LEB128 number.
func (c *cursor) u32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.fail()
	return 0
}

// s32 reads a signed LEB128 number.
func (c *cursor) s32() int32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			if b&0x40 != 0 && shift < 28 {
				v |= ^uint32(0) << (shift + 7)
			}
			return int32(v)
		}
	}
	c.fail()
	return 0
}

func (c *cursor) text() string { return string(c.bytes(c.u32())) }

func (c *cursor) kind() string {
	k := c.byte()
	if int(k) >= len(kinds) {
		c.fail()
		return ""
	}
	return kinds[k]
}

func (c *cursor) limits() (least, most uint32) {
	flags := c.byte()
	if flags&^3 != 0 {
		c.fail()
	}
	least, most = c.u32(), 1<<16
	if flags&1 != 0 {
		most = c.u32()
	}
	return least, most
}

var valueTypes = map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref"}

func (c *cursor) funcType() string {
	if c.byte() != 0x60 {
		c.fail()
		return ""
	}
	params, results := c.valueTypes(), c.valueTypes()
	if results == "" {
		results = "()"
	}
	return "(" + params + ") -> " + results
}

func (c *cursor) valueTypes() string {
	var names []string
	for range c.u32() {
		name, ok := valueTypes[c.byte()]
		if !ok {
			c.fail()
			return ""
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
