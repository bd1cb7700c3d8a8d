package wasm

import (
	"fmt"
	"os"
)

// findData returns where module has its data section, and the beginning of the
// memory as that section leaves it. wazero would keep the section on the host's
// heap, several times its size for a Go guest's thousands of small segments, and
// copy all of it into each instance: so it is cut out before.
//
// There is none, with a nil memory, where its segments are not all plain ones that
// fit into least bytes of memory: what is peculiar stays wazero's matter.
func findData(module []byte, least uint64) (begin, end int, memory []byte) {
	for s := range sections(module) {
		switch s.id {
		case sectionDataCount: // the code may name segments
			return 0, 0, nil
		case sectionData:
			begin, end = s.begin, s.end
			if memory = layData(&s.body, least); memory == nil {
				return 0, 0, nil
			}
		}
	}
	return begin, end, memory
}

// layData returns the memory that the section c describes, up to its last
// segment's end; nil where a segment is of another form than an address and
// bytes, or does not fit into least.
func layData(c *cursor, least uint64) (memory []byte) {
	end, again := uint64(0), *c
	if !eachSegment(&again, least, func(address uint64, b []byte) { end = max(end, address+uint64(len(b))) }) || end == 0 {
		return nil
	}
	memory = make([]byte, end)
	eachSegment(c, least, func(address uint64, b []byte) { copy(memory[address:], b) })
	return memory
}

// eachSegment gives see the segments of the section c and reports whether all of
// them are an address and bytes that fit into least.
func eachSegment(c *cursor, least uint64, see func(address uint64, b []byte)) bool {
	const active, i32Const, end = 0, 0x41, 0x0b
	for range c.u32() {
		if c.u32() != active || c.byte() != i32Const {
			return false
		}
		address := uint64(uint32(c.s32()))
		if c.byte() != end {
			return false
		}
		b := c.bytes(c.u32())
		if c.bad || address+uint64(len(b)) > least {
			return false
		}
		see(address, b)
	}
	return !c.bad && len(c.b) == 0
}

// An image is the beginning of the memory that a module's instances start with.
// From a file, they share it, and each has of its own only the pages that it
// writes to. The zero value is an empty one.
type image struct {
	file  *os.File // nil: bytes has it
	size  int
	bytes []byte
}

// newImage returns the image of memory, from a file if r has a folder for it.
func (r *Runtime) newImage(memory []byte) image {
	if len(memory) > 0 {
		if f, err := r.hold(memory); err == nil {
			return image{file: f, size: len(memory)}
		}
	}
	return image{size: len(memory), bytes: memory} // no folder, no room: dearer, and as right
}

// lay puts the image at the beginning of block, which holds zeroes.
func (m *image) lay(block []byte) error {
	if m.file == nil {
		copy(block, m.bytes)
		return nil
	}
	if err := mapOver(block[:m.size], m.file, false); err != nil {
		return fmt.Errorf("map data of module: %w", err)
	}
	return nil
}

func (m *image) close() error {
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}
