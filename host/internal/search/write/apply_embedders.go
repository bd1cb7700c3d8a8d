package write

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// A vectorChange is what a change of settings does to the sets of vectors. The
// new sets are written before the index's record names them as its own, and the
// old ones go when it names them no more.
type vectorChange struct {
	service  *Writer
	run      *task.Run
	ix       *index.Index
	docs     string
	old, new *index.Meta // new is what the record will be
	made     []uint32
	replaced []uint32
}

// changeVectors makes the sets that m asks for where those of the index will
// not do. An [apierr.Error] is the task's failure, another one the machine's.
// What was asked of an embedder until then is kept for the next try, be it of
// this task or of one that wants the same, unless the task was canceled.
func (s *Writer) changeVectors(ctx context.Context, r *task.Run, ix *index.Index, m *index.Meta) (*vectorChange, error) {
	old := ix.Meta()
	c := &vectorChange{service: s, run: r, ix: ix, docs: m.Docs, old: old, new: m}
	names := slices.Concat(slices.Sorted(maps.Keys(old.VectorSets)), slices.Sorted(maps.Keys(m.Settings.Embedders)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := c.change(ctx, name); err != nil {
			return nil, errors.Join(err, c.end(ctx, false))
		}
	}
	if !maps.Equal(old.VectorSets, m.VectorSets) {
		if err := index.RecountVectors(ctx, s.indexes.DB, m); err != nil {
			return nil, errors.Join(err, c.end(ctx, false))
		}
	}
	return c, nil
}

// end removes the sets that nobody needs: the old ones where the change was
// made, else the new ones but for those that a next try goes on with.
func (c *vectorChange) end(ctx context.Context, done bool) error {
	gone := c.made
	if done {
		gone = c.replaced
	} else if errors.Is(context.Cause(ctx), task.ErrCanceled) {
		for _, name := range slices.Sorted(maps.Keys(c.ix.Meta().Building)) {
			if err := c.forget(ctx, name); err != nil {
				return err
			}
		}
	}
	for _, set := range gone {
		if err := c.service.indexes.DB.DropVectors(c.docs, set); err != nil {
			return fmt.Errorf("remove vectors: %w", err)
		}
	}
	c.service.indexes.Vectors.Keep(func(docs string, set uint32) bool { return docs != c.docs || !slices.Contains(gone, set) })
	return nil
}

// change looks after the set of one embedder.
func (c *vectorChange) change(ctx context.Context, name string) error {
	set, has := c.old.VectorSets[name]
	was, known := c.old.Settings.Embedders[name]
	e, wanted := c.new.Settings.Embedders[name]
	same := wanted && known && e.SameVectors(&was)
	begun, resumed := c.old.Building[name]
	if resumed && (same || !wanted || begun.Of != e.Fingerprint()) {
		if err := c.forget(ctx, name); err != nil {
			return err
		}
		resumed = false
	}
	if same || !wanted && !known {
		return nil
	}
	if has {
		c.replaced = append(c.replaced, set.ID)
		delete(c.new.VectorSets, name)
	}
	w := setWork{change: c, name: name, from: set, resumed: resumed, sameModel: known && wanted && e.SameModel(&was)}
	if w.set.ID = begun.ID; !resumed {
		c.new.LastSet++
		w.set.ID = c.new.LastSet
		// A crash may have left something there.
		if err := c.service.indexes.DB.DropVectors(c.docs, w.set.ID); err != nil {
			return fmt.Errorf("remove vectors: %w", err)
		}
	}
	var err error
	switch {
	case !wanted || e.Source == settings.UserProvided:
		c.made = append(c.made, w.set.ID)
		if wanted {
			w.embedder, w.set.Dimensions = &e, e.VectorDimensions()
		}
		if has {
			err = w.copy(ctx)
		}
	default:
		w.embedder, w.set.Dimensions = &e, e.VectorDimensions()
		if err = c.note(ctx, name, index.BuildingSet{ID: w.set.ID, Of: e.Fingerprint()}); err == nil {
			err = w.embed(ctx)
		}
	}
	if err == nil && w.count > 0 {
		c.new.VectorSets[name] = w.set
	}
	delete(c.new.Building, name)
	return err
}

// note writes down that a set is being built, so that it is not swept away.
func (c *vectorChange) note(ctx context.Context, name string, b index.BuildingSet) error {
	m := c.ix.Meta().Clone()
	m.Building[name], m.LastSet = b, max(m.LastSet, b.ID)
	return c.ix.PutMeta(ctx, m)
}

// forget removes a set that was being built.
func (c *vectorChange) forget(ctx context.Context, name string) error {
	m := c.ix.Meta().Clone()
	set := m.Building[name].ID
	delete(m.Building, name)
	delete(c.new.Building, name)
	if err := c.ix.PutMeta(ctx, m); err != nil {
		return err
	}
	if err := c.service.indexes.DB.DropVectors(c.docs, set); err != nil {
		return fmt.Errorf("remove vectors: %w", err)
	}
	return nil
}
