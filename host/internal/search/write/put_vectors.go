package write

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// putVectors works out what d changes of the vectors of c's document, which is
// to be d.body. fresh: it takes nothing over from before.
func (b *docBatch) putVectors(ctx context.Context, c *docChange, d ingest.Received, fresh bool) error {
	var settings settings.Settings
	var sets map[string]vector.StoredSet
	if m := b.record(); m != nil {
		settings, sets = m.Settings, m.VectorSets
	}
	if len(settings.Embedders)+len(sets)+len(d.Given)+len(c.vectors) == 0 {
		return nil
	}
	names := slices.Concat(slices.Sorted(maps.Keys(settings.Embedders)), slices.Sorted(maps.Keys(sets)), slices.Sorted(maps.Keys(d.Given)), slices.Sorted(maps.Keys(c.vectors)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		g := d.Given[name]
		e, configured := settings.Embedders[name]
		switch {
		case bringsVectors(g):
			c.setVectors(name, &vector.Document{Made: g.Regenerate, Vectors: g.Vectors})
		case configured && e.Makes():
			old, err := b.oldVectors(name, []ingest.Received{d})
			if err != nil {
				return err
			}
			in, err := b.inputFor(ctx, name, &e, g, old[d.ID], fresh, d.Body)
			if err != nil {
				return err
			}
			switch o := old[d.ID]; {
			case len(in.texts) > 0:
				v, err := b.madeOf(ctx, name, &e, in)
				if err != nil {
					return err
				}
				c.setVectors(name, v)
			case in.hash != 0 && (o == nil || !o.Made || o.Text != in.hash):
				c.setVectors(name, &vector.Document{Made: true, Text: in.hash}) // of a document without text
			}
		case fresh:
			c.setVectors(name, nil)
		}
		if v := c.vectors[name]; v != nil && len(v.Vectors) > 0 {
			b.size += int64(4 * len(v.Vectors) * len(v.Vectors[0]))
		}
	}
	return nil
}

func (c *docChange) setVectors(name string, v *vector.Document) {
	if c.vectors == nil {
		c.vectors = map[string]*vector.Document{}
	}
	c.vectors[name] = v
}

// oldVectors returns what documents have of vectors, by id.
func (b *docBatch) oldVectors(name string, docs []ingest.Received) (map[string]*vector.Document, error) {
	out := map[string]*vector.Document{}
	m := b.record()
	if m == nil {
		return out, nil
	}
	var read []string
	set, ok := m.VectorSets[name]
	for _, d := range docs {
		c := b.changes[d.ID]
		if c == nil {
			c = &docChange{}
		}
		if v, changed := c.vectors[name]; changed {
			out[d.ID] = v
		} else if ok {
			read = append(read, d.ID)
		}
	}
	if len(read) == 0 {
		return out, nil
	}
	kept, err := b.service.indexes.DB.Vectors(m.Docs, set.ID, read)
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	for i, bytes := range kept {
		if bytes == nil {
			continue
		}
		if out[read[i]], err = vector.Decode(bytes); err != nil {
			return nil, fmt.Errorf("read vectors of document %q: %w", read[i], err)
		}
	}
	return out, nil
}

// A vectorPut is one change of vectors, for the database and for the memory.
type vectorPut struct {
	set uint32
	id  string
	v   *vector.Document // nil: none any more
}

// vectorPuts returns what a change of a document writes of vectors; seq is the
// document's. Sets that are not there yet are added to m.
func (d *docChange) vectorPuts(m *index.Meta, id string, seq uint64) (puts []vectorPut) {
	if d.body == nil {
		for _, name := range slices.Sorted(maps.Keys(m.VectorSets)) {
			puts = append(puts, vectorPut{m.VectorSets[name].ID, id, nil})
		}
		return puts
	}
	for _, name := range slices.Sorted(maps.Keys(d.vectors)) {
		v := d.vectors[name]
		set, ok := m.VectorSets[name]
		if v == nil {
			if ok && d.old.Seq != 0 { // else there was none to take away
				puts = append(puts, vectorPut{set.ID, id, nil})
			}
			continue
		}
		if !ok {
			m.LastSet++
			set.ID = m.LastSet
		}
		if e, configured := m.Settings.Embedders[name]; configured && set.Dimensions == 0 {
			set.Dimensions = e.VectorDimensions()
			if len(v.Vectors) > 0 {
				set.Dimensions = len(v.Vectors[0])
			}
		}
		m.VectorSets[name] = set
		kept := *v
		kept.Seq = seq
		puts = append(puts, vectorPut{set.ID, id, &kept})
	}
	return puts
}

// stored is puts as the database takes them.
func stored(puts []vectorPut) []storage.StoredVectors {
	out := make([]storage.StoredVectors, len(puts))
	for i, p := range puts {
		out[i] = storage.StoredVectors{Set: p.set, ID: p.id}
		if p.v != nil {
			out[i].Bytes = p.v.Encode()
		}
	}
	return out
}

// writeVectors writes vectors alone, in halves where they are too much for one
// transaction.
func writeVectors(db storage.DB, docs string, puts []vectorPut) error {
	if len(puts) == 0 {
		return nil
	}
	err := db.Write(storage.Change{Docs: docs, Vectors: stored(puts)})
	if errors.Is(err, storage.ErrTooBig) && len(puts) > 1 {
		half := len(puts) / 2
		if err := writeVectors(db, docs, puts[:half]); err != nil {
			return err
		}
		return writeVectors(db, docs, puts[half:])
	}
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	return nil
}
