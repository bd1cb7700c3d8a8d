package wasm

import (
	"encoding/binary"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// maxTable bounds a table, in entries of 8 bytes. Tables are memory of the
// host's that the limit on a guest's own does not see.
const maxTable = 1 << 17

// boundTables returns module with a maximum of [maxTable] on every table that
// might grow past it: growing further fails then, as growing memory does. It
// refuses a table that begins with more.
func boundTables(module []byte) ([]byte, error) {
	for s := range sections(module) {
		if s.id != sectionTable {
			continue
		}
		bounded, err := boundSection(&s.body)
		if err != nil {
			return nil, err
		}
		out := append(make([]byte, 0, len(module)+16), module[:s.begin]...)
		return append(appendSection(out, sectionTable, bounded), module[s.end:]...), nil
	}
	return module, nil
}

// boundSection returns the section of tables with a maximum on each.
func boundSection(c *cursor) ([]byte, error) {
	n := c.u32()
	out := binary.AppendUvarint(nil, uint64(n))
	for range n {
		element := c.byte()
		flags := c.byte()
		least, most := c.u32(), uint32(maxTable)
		if flags&1 != 0 {
			most = min(most, c.u32())
		}
		switch {
		case c.bad || flags > 1 || element != 0x70 && element != 0x6f:
			return nil, fmt.Errorf("it has a table of a form that the host does not know: %w", abi.ErrMalformed)
		case least > maxTable:
			return nil, fmt.Errorf("it begins with a table of %d entries and the limit is %d", least, maxTable)
		}
		out = append(out, element, 1)
		out = binary.AppendUvarint(out, uint64(least))
		out = binary.AppendUvarint(out, uint64(max(least, most)))
	}
	return out, nil
}
