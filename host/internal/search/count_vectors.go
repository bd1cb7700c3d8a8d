package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/search/vector"
)

// A vectorCount is how many vectors an index has, those of embedders that its
// settings do not name aside.
type vectorCount struct {
	Documents int // that have at least one
	Vectors   int
}

// embedderSets are the sets of the embedders that the settings name.
func (m *meta) embedderSets() (ids []uint32) {
	for _, name := range slices.Sorted(maps.Keys(m.Settings.Embedders)) {
		if set, ok := m.VectorSets[name]; ok {
			ids = append(ids, set.ID)
		}
	}
	return ids
}

// countVectors brings m's count in step with puts that are about to be written.
func (s *Service) countVectors(m *meta, puts []vectorPut) error {
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
	for _, set := range m.embedderSets() {
		kept, err := s.opts.DB.Vectors(m.Docs, set, ids)
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

// recountVectors counts m's vectors anew.
func (s *Service) recountVectors(ctx context.Context, m *meta) error {
	n := vectorCount{}
	docs := new(vector.Set)
	for _, set := range m.embedderSets() {
		err := s.opts.DB.ScanVectors(ctx, m.Docs, set, func(id string, b []byte) error {
			v, err := vector.Decode(b)
			if err != nil {
				return fmt.Errorf("read vectors of document %q: %w", id, err)
			}
			if n.Vectors += len(v.Vectors); len(v.Vectors) > 0 && !docs.Has(v.Seq) {
				docs.Add(v.Seq)
				n.Documents++
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("count vectors: %w", err)
		}
	}
	m.Vectors = &n
	return nil
}

// keptVectors is how many vectors there are in what encode wrote; nil has none.
func keptVectors(b []byte) int {
	if len(b) < vector.DecodeHead {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[18:]))
}
