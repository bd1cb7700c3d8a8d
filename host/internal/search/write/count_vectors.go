package write

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// countVectors brings m's count in step with puts that are about to be written.
func (s *Writer) countVectors(m *index.Meta, puts []vectorPut) error {
	changed := map[string]map[uint32]int{} // vectors by document and set
	for _, p := range puts {
		if changed[p.id] == nil {
			changed[p.id] = map[uint32]int{}
		}
		n := 0
		if p.v != nil {
			n = len(p.v.Vectors)
		}
		changed[p.id][p.set] = n
	}
	ids := slices.Sorted(maps.Keys(changed))
	before, after := make([]int, len(ids)), make([]int, len(ids))
	for _, set := range m.EmbedderSets() {
		kept, err := s.indexes.DB.Vectors(m.Docs, set, ids)
		if err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
		for i, id := range ids {
			n := keptVectors(kept[i])
			before[i] += n
			if now, ok := changed[id][set]; ok {
				n = now
			}
			after[i] += n
		}
	}
	for i := range ids {
		m.Vectors.Vectors += after[i] - before[i]
		m.Vectors.Documents += min(after[i], 1) - min(before[i], 1)
	}
	return nil
}

// keptVectors is how many vectors there are in what encode wrote; nil has none.
func keptVectors(b []byte) int {
	if len(b) < vector.DecodeHead {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[18:]))
}
