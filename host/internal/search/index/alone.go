package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// alone is the [keeper] of a host that is alone.
type alone struct{ *Catalog }

func (a *alone) open() error {
	c := a.Catalog
	metas, err := c.DB.Metas()
	if err != nil {
		return fmt.Errorf("read indexes: %w", err)
	}
	var bad []*Index
	for uid, b := range metas {
		m, err := DecodeMeta(uid, b)
		if err != nil {
			return err
		}
		if c.Sealer != nil && m.Settings.SealHeaders(c.Sealer) { // written by a build that did not seal them
			if err := c.DB.PutMeta(uid, m.Encode()); err != nil {
				return fmt.Errorf("seal headers of index %q: %w", uid, err)
			}
		}
		if m.Vectors == nil { // written by a build that did not count them
			if err := RecountVectors(c.ctx, c.DB, m); err != nil {
				return fmt.Errorf("read index %q: %w", uid, err)
			}
		}
		ix := newIndex(c, m)
		c.indexes[uid] = ix
		if why := ix.openFolder(); why != nil {
			if !errors.Is(why, errFarBehind) {
				c.Log(fmt.Sprintf("index %q is rebuilt from its documents", uid), why)
			}
			bad = append(bad, ix)
		}
	}
	// Before anything is built, which it would take for something left behind.
	if err := c.sweep(); err != nil {
		return err
	}
	for _, ix := range bad {
		ix.startRepair(c.ctx, ix.state.Load().Folder)
	}
	for _, ix := range c.indexes {
		ix.Slim()
	}
	return nil
}

func (a *alone) create(_ context.Context, m *Meta) (*Index, error) {
	f, err := bleveindex.Create(a.Dir, settings.SchemaOf(&m.Settings))
	if err != nil {
		return nil, err
	}
	if err := f.Writer(nil, a.Limits).Finish(m.Next); err != nil {
		return nil, err
	}
	ix := newIndex(a.Catalog, m)
	if err := ix.PutFolder(f, m); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.indexes[m.UID] = ix
	return ix, nil
}

func (a *alone) remove(_ context.Context, ix *Index) error {
	a.mu.Lock()
	delete(a.indexes, ix.UID())
	a.mu.Unlock()
	ix.drop()
	return nil
}

func (a *alone) rename(_ context.Context, renamed map[*Index]*Meta) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ix := range renamed {
		delete(a.indexes, ix.UID())
	}
	for ix, m := range renamed {
		ix.state.Store(&State{m, ix.state.Load().Folder})
		a.indexes[m.UID] = ix
	}
	return nil
}

func (a *alone) serve(_ context.Context, ix *Index, m *Meta) error {
	ix.state.Store(&State{m, ix.state.Load().Folder})
	return nil
}

func (a *alone) putSettings(ctx context.Context, ix *Index, m *Meta, begin func() error, report func(done int)) error {
	want := settings.SchemaOf(&m.Settings)
	if f := ix.State().Folder; f != nil && f.Schema.Serves(want) {
		if err := begin(); err != nil {
			return err
		}
		if err := ix.PutMeta(ctx, m); err != nil {
			return err
		}
		ix.Slim()
		return nil
	}
	f, err := a.BuildFolder(ctx, m, want, report)
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return errors.Join(err, f.Remove())
	}
	return ix.PutFolder(f, m)
}

// replace rebuilds where the folder is still the bad one. One that is only
// behind is caught up with.
func (a *alone) replace(ctx context.Context, ix *Index, bad *bleveindex.Folder) error {
	unlock, err := ix.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if ix.dropped.Load() || ix.state.Load().Folder != bad {
		return nil
	}
	if bad != nil && bad.Behind {
		bad.Behind = false // whatever comes of it, it is not tried again
		defer a.Limits.Enter()()
		err := ix.catchUp(bad)
		if ctx.Err() != nil || err == nil && !bad.Schema.Outdated(settings.SchemaOf(&ix.Meta().Settings)) {
			return err
		}
	}
	return ix.Rebuild(ctx)
}

func (a *alone) makeReady(ctx context.Context, ix *Index) error {
	st := ix.state.Load()
	if st.Folder == nil || !st.Folder.Schema.Serves(settings.SchemaOf(&st.Meta.Settings)) {
		return ix.Rebuild(ctx)
	}
	if st.Folder.Next.Load() == st.Meta.Next {
		return nil
	}
	if err := ix.catchUp(st.Folder); errors.Is(err, bleveindex.ErrNotWritable) {
		return err
	} else if err != nil {
		a.Log(fmt.Sprintf("index %q is rebuilt from its documents", ix.UID()), err)
		return ix.Rebuild(ctx)
	}
	return nil
}

func (a *alone) await(context.Context, *Index) error { return nil }

func (a *alone) words(ix *Index, first uint32) Words {
	return &ownWords{ix: ix, first: first, folder: ix.State().Folder}
}

func (a *alone) tell() {}

func (a *alone) repaired() {}
