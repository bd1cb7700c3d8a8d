package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// A vectorChange is what a change of settings does to the sets of vectors. The
// new sets are written before the index's record names them as its own, and the
// old ones go when it names them no more.
type vectorChange struct {
	service  *Service
	run      *task.Run
	ix       *index
	docs     string
	old, new *meta // new is what the record will be
	made     []uint32
	replaced []uint32
}

// A buildingSet is a set that an embedder is being asked for.
type buildingSet struct {
	ID uint32
	Of uint64 // what makes its vectors, see [Embedder.fingerprint]
}

// changeVectors makes the sets that m asks for where those of the index will
// not do. An [apierr.Error] is the task's failure, another one the machine's.
// What was asked of an embedder until then is kept for the next try, be it of
// this task or of one that wants the same, unless the task was canceled.
func (s *Service) changeVectors(ctx context.Context, r *task.Run, ix *index, m *meta) (*vectorChange, error) {
	old := ix.meta()
	c := &vectorChange{service: s, run: r, ix: ix, docs: m.Docs, old: old, new: m}
	names := slices.Concat(slices.Sorted(maps.Keys(old.VectorSets)), slices.Sorted(maps.Keys(m.Settings.Embedders)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := c.change(ctx, name); err != nil {
			return nil, errors.Join(err, c.end(ctx, false))
		}
	}
	if !maps.Equal(old.VectorSets, m.VectorSets) {
		if err := s.recountVectors(ctx, m); err != nil {
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
		for _, name := range slices.Sorted(maps.Keys(c.ix.meta().Building)) {
			if err := c.forget(name); err != nil {
				return err
			}
		}
	}
	for _, set := range gone {
		if err := c.service.opts.DB.DropVectors(c.docs, set); err != nil {
			return fmt.Errorf("remove vectors: %w", err)
		}
	}
	c.service.spaces.Keep(func(docs string, set uint32) bool { return docs != c.docs || !slices.Contains(gone, set) })
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
		if err := c.forget(name); err != nil {
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
		if err := c.service.opts.DB.DropVectors(c.docs, w.set.ID); err != nil {
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
		if err = c.note(name, buildingSet{w.set.ID, e.Fingerprint()}); err == nil {
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
func (c *vectorChange) note(name string, b buildingSet) error {
	m := c.ix.meta().clone()
	m.Building[name], m.LastSet = b, max(m.LastSet, b.ID)
	return c.ix.putMeta(m)
}

// forget removes a set that was being built.
func (c *vectorChange) forget(name string) error {
	m := c.ix.meta().clone()
	set := m.Building[name].ID
	delete(m.Building, name)
	delete(c.new.Building, name)
	if err := c.ix.putMeta(m); err != nil {
		return err
	}
	if err := c.service.opts.DB.DropVectors(c.docs, set); err != nil {
		return fmt.Errorf("remove vectors: %w", err)
	}
	return nil
}

// cloneMap returns a copy that may be changed.
func cloneMap[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
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
			if m.names(set) {
				continue
			}
			if err := s.opts.DB.DropVectors(m.Docs, set); err != nil {
				return fmt.Errorf("remove vectors: %w", err)
			}
		}
	}
	return nil
}

// names reports whether the record knows a set.
func (m *meta) names(set uint32) bool {
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
