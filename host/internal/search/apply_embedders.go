package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/apierr"
)

// A vectorChange is what a change of settings does to the sets of vectors. The
// new sets are written before the index's record names them, and the old ones
// go when it names them no more.
type vectorChange struct {
	service  *Service
	docs     string
	old, new *meta // new is what the record will be
	made     []uint32
	replaced []uint32
}

// changeVectors makes the sets that m asks for where those of old will not do.
// An [apierr.Error] is the task's failure, another one the machine's; nothing
// is left of it then.
func (s *Service) changeVectors(ctx context.Context, old, m *meta) (*vectorChange, error) {
	c := &vectorChange{service: s, docs: m.Docs, old: old, new: m}
	names := slices.Concat(sortedKeys(old.VectorSets), sortedKeys(m.Settings.Embedders))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := c.change(ctx, name); err != nil {
			return nil, errors.Join(err, c.end(false))
		}
	}
	return c, nil
}

// end removes the sets that nobody needs: the old ones where the change was
// made, else the new ones.
func (c *vectorChange) end(done bool) error {
	gone := c.made
	if done {
		gone = c.replaced
	}
	for _, set := range gone {
		if err := c.service.opts.DB.DropVectors(c.docs, set); err != nil {
			return fmt.Errorf("remove vectors: %w", err)
		}
	}
	c.service.spaces.keep(func(docs string, set uint32) bool { return docs != c.docs || !slices.Contains(gone, set) })
	return nil
}

// change looks after the set of one embedder.
func (c *vectorChange) change(ctx context.Context, name string) error {
	set, has := c.old.VectorSets[name]
	was, known := c.old.Settings.Embedders[name]
	e, wanted := c.new.Settings.Embedders[name]
	if wanted && known && e.sameVectors(&was) || !wanted && !known {
		return nil
	}
	if has {
		c.replaced = append(c.replaced, set.ID)
		delete(c.new.VectorSets, name)
	}
	c.new.LastSet++
	w := setWork{change: c, name: name, from: set, set: vectorSet{ID: c.new.LastSet}}
	c.made = append(c.made, w.set.ID)
	// A crash may have left something there.
	if err := c.service.opts.DB.DropVectors(c.docs, w.set.ID); err != nil {
		return fmt.Errorf("remove vectors: %w", err)
	}
	var err error
	switch {
	case !wanted || e.Source == UserProvided:
		if wanted {
			w.embedder, w.set.Dimensions = &e, e.Dimensions
		}
		if has {
			err = w.copy(ctx)
		}
	default:
		w.embedder, w.set.Dimensions = &e, e.Dimensions
		err = w.embed(ctx)
	}
	if err == nil && w.count > 0 {
		c.new.VectorSets[name] = w.set
	}
	return err
}

// A setWork fills one set.
type setWork struct {
	change   *vectorChange
	name     string
	embedder *Embedder // nil: it was taken out of the settings
	from     vectorSet // the one before; ID 0: none
	set      vectorSet
	count    int
}

// copy takes over what documents brought themselves, and of the rest what fits.
func (w *setWork) copy(ctx context.Context) error {
	var puts []vectorPut
	db := w.change.service.opts.DB
	err := db.ScanVectors(ctx, w.change.docs, w.from.ID, func(id string, b []byte) error {
		v, err := decodeVectors(b)
		if err != nil {
			return fmt.Errorf("read vectors of document %q: %w", id, err)
		}
		if v.made && w.embedder == nil {
			return nil
		}
		if w.embedder != nil {
			if err := checkDimensions(w.name, v.vectors, w.set.Dimensions); err != nil {
				if v.made {
					return nil
				}
				return w.misfit(id, err)
			}
		}
		if puts = append(puts, vectorPut{w.set.ID, id, v}); len(puts) < vectorChunk {
			return nil
		}
		err = w.write(puts)
		puts = nil
		return err
	})
	return errors.Join(err, w.write(puts))
}

// misfit says that a document's own vectors are not those of the new settings.
func (w *setWork) misfit(id string, err error) error {
	e := apierr.From(err)
	return apierr.Newf(e.Code, "Document `%.511s`: %s. Update its `%s`, or the embedder's `dimensions`; the settings are as they were.", id, e.Message, vectorsField)
}

// vectorChunk is how many documents' vectors are written at once.
const vectorChunk = 256

// embed asks the embedder about all documents but those that brought vectors
// themselves.
func (w *setWork) embed(ctx context.Context) error {
	text, err := w.embedder.documentRenderer(&w.change.new.Settings)
	if err != nil {
		return fmt.Errorf("read the template of embedder %q: %w", w.name, err)
	}
	var chunk []Document
	run := func() error {
		err := w.embedChunk(ctx, text, chunk)
		chunk = nil
		return err
	}
	err = w.change.service.opts.DB.Scan(ctx, w.change.docs, func(d Document) error {
		d.Body = slices.Clone(d.Body)
		if chunk = append(chunk, d); len(chunk) < vectorChunk {
			return nil
		}
		return run()
	})
	if err != nil {
		return err
	}
	return run()
}

func (w *setWork) embedChunk(ctx context.Context, text *renderer, docs []Document) error {
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	before := make([][]byte, len(ids))
	if w.from.ID != 0 {
		var err error
		if before, err = w.change.service.opts.DB.Vectors(w.change.docs, w.from.ID, ids); err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
	}
	var puts []vectorPut
	var asked []*docVectors
	var texts []string
	for i, d := range docs {
		if before[i] != nil {
			v, err := decodeVectors(before[i])
			if err != nil {
				return fmt.Errorf("read vectors of document %q: %w", d.ID, err)
			}
			if !v.made {
				if err := w.fit(d.ID, v.vectors); err != nil {
					return err
				}
				puts = append(puts, vectorPut{w.set.ID, d.ID, v})
				continue
			}
		}
		t := text.render(d.Body)
		v := &docVectors{seq: d.Seq, made: true, text: hashText(t)}
		puts = append(puts, vectorPut{w.set.ID, d.ID, v})
		if t != "" {
			asked, texts = append(asked, v), append(texts, t)
		}
	}
	if len(texts) > 0 {
		made, err := w.change.service.embedTexts(ctx, w.name, w.embedder, w.set.Dimensions, texts, documentTries)
		if err != nil {
			return err
		}
		w.set.Dimensions = len(made[0])
		for i, v := range asked {
			v.vectors = [][]float32{made[i]}
		}
	}
	return w.write(puts)
}

// fit checks a document's own vectors against the set's, whose dimensions they
// decide where nothing did before.
func (w *setWork) fit(id string, vectors [][]float32) error {
	if len(vectors) == 0 {
		return nil
	}
	if w.set.Dimensions == 0 {
		w.set.Dimensions = len(vectors[0])
	}
	if err := checkDimensions(w.name, vectors, w.set.Dimensions); err != nil {
		return w.misfit(id, err)
	}
	return nil
}

func (w *setWork) write(puts []vectorPut) error {
	w.count += len(puts)
	return writeVectors(w.change.service.opts.DB, w.change.docs, puts)
}

// cloneSets returns a copy that may be changed.
func cloneSets(sets map[string]vectorSet) map[string]vectorSet {
	if sets == nil {
		return map[string]vectorSet{}
	}
	return maps.Clone(sets)
}

// sweepVectors removes the sets that no record names: what a crash left behind.
func (s *Service) sweepVectors() error {
	for _, ix := range s.indexes {
		m := ix.meta()
		sets, err := s.opts.DB.VectorSets(m.Docs)
		if err != nil {
			return fmt.Errorf("list vectors: %w", err)
		}
		for _, set := range sets {
			if slices.ContainsFunc(slices.Collect(maps.Values(m.VectorSets)), func(v vectorSet) bool { return v.ID == set }) {
				continue
			}
			if err := s.opts.DB.DropVectors(m.Docs, set); err != nil {
				return fmt.Errorf("remove vectors: %w", err)
			}
		}
	}
	return nil
}
