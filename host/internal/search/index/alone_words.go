package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// ownWords are the [Words] of a batch on a host that is alone: it writes them itself.
type ownWords struct {
	ix     *Index
	first  uint32
	folder *bleveindex.Folder // that the words go to
	empty  bool               // the folder is a new one, which nobody has seen yet
}

// Empty makes a new folder. Readers have the old one until the batch is finished.
func (w *ownWords) Empty(m *Meta) error {
	c := w.ix.Catalog
	f, err := bleveindex.Create(c.Dir, settings.SchemaOf(&m.Settings))
	if err != nil {
		return err
	}
	if err := f.Writer(nil, c.Limits).Finish(w.first); err != nil {
		return errors.Join(err, f.Remove())
	}
	if w.empty {
		err = w.folder.Remove() // made by this batch as well
	}
	w.folder, m.Folder, w.empty = f, f.Name(), true
	return err
}

func (w *ownWords) Pruned() uint32 { return min(w.folder.Next.Load(), w.first) }

func (w *ownWords) Wrote(m *Meta, visible bool, put func(*vector.Memory)) {
	put(w.ix.Catalog.Vectors)
	if visible {
		w.ix.Publish(m.Clone(), w.folder)
		w.empty = false // it is the index's now
	}
}

// Put writes the words. Where that fails, the folder is built anew: the documents are
// written.
func (w *ownWords) Put(ctx context.Context, m *Meta, ids []string) (*Meta, error) {
	err := w.put(m, ids)
	if err == nil || w.empty || errors.Is(err, bleveindex.ErrNotWritable) {
		return m, err
	}
	w.ix.Catalog.Log(fmt.Sprintf("index %q is rebuilt from its documents", w.ix.UID()), err)
	if again := w.ix.Rebuild(ctx); again != nil {
		return m, errors.Join(err, again)
	}
	st := w.ix.State()
	w.folder = st.Folder
	return st.Meta.Clone(), nil
}

func (w *ownWords) put(m *Meta, ids []string) error {
	c := w.ix.Catalog
	to := w.folder.Writer(m.Fields, c.Limits)
	for len(ids) > 0 {
		n := min(len(ids), bleveindex.BatchDocs)
		// As they are written: with their Seq.
		docs, err := c.DB.Documents(m.Docs, ids[:n])
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		if err := to.PutAll(ids[:n], docs); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return to.Finish(m.Next)
}

func (w *ownWords) Finish(ctx context.Context) error { return w.ix.uniteBehind(ctx, w.folder) }

func (w *ownWords) Drop() error {
	if !w.empty {
		return nil
	}
	return w.folder.Remove()
}
