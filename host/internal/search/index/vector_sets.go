package index

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A VectorCount is how many vectors an index has, those of embedders that its
// settings do not name aside.
type VectorCount struct {
	Documents int // that have at least one
	Vectors   int
}

// EmbedderSets are the sets of the embedders that the settings name.
func (m *Meta) EmbedderSets() (ids []uint32) {
	for _, name := range slices.Sorted(maps.Keys(m.Settings.Embedders)) {
		if set, ok := m.VectorSets[name]; ok {
			ids = append(ids, set.ID)
		}
	}
	return ids
}

// RecountVectors counts m's vectors anew.
func RecountVectors(ctx context.Context, db storage.DB, m *Meta) error {
	n := VectorCount{}
	docs := new(vector.Set)
	for _, set := range m.EmbedderSets() {
		err := db.ScanVectors(ctx, m.Docs, set, func(id string, b []byte) error {
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

// A BuildingSet is a set that an embedder is being asked for.
type BuildingSet struct {
	ID uint32
	Of uint64 // what makes its vectors, see [Embedder.fingerprint]
}

// names reports whether the record knows a set.
func (m *Meta) names(set uint32) bool {
	for _, v := range m.VectorSets {
		if v.ID == set {
			return true
		}
	}
	for _, b := range m.Building {
		if b.ID == set {
			return true
		}
	}
	return false
}

// cloneMap returns a copy that may be changed.
func cloneMap[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}
