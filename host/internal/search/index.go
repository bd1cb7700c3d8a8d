package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// An index is one index, open. There is one writer at a time, the scheduler,
// which waits for a repair to end.
type index struct {
	service *Service
	state   atomic.Pointer[state]
	dropped atomic.Bool

	writing chan struct{} // has one token while somebody writes; see lock

	mu     sync.Mutex
	repair chan struct{} // closed when the repair under way ends; nil without one
	facets facetCache
}

// A state is what readers of an index go by, all of one moment.
type state struct {
	meta   *meta
	folder *folder.Folder // nil while there is nothing to serve
}

func newIndex(s *Service, m *meta) *index {
	ix := &index{service: s, writing: make(chan struct{}, 1)}
	ix.state.Store(&state{meta: m})
	return ix
}

// lock makes the caller the one writer of the index.
func (ix *index) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case ix.writing <- struct{}{}:
		return func() { <-ix.writing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// publish makes st what readers go by. The folder before it, if it is another,
// is deleted once its readers are gone.
func (ix *index) publish(st *state) {
	old := ix.state.Swap(st).folder
	if old == nil || old == st.folder {
		return
	}
	old.Retire(func() {
		ix.service.columns.Forget(old.Name())
		if err := old.Remove(); err != nil {
			ix.service.opts.Log(fmt.Sprintf("removing an old folder of index %q failed", ix.uid()), err)
		}
	})
}

// uid is what the index is called: a swap changes it.
func (ix *index) uid() string { return ix.meta().UID }

// meta is the index's record.
func (ix *index) meta() *meta { return ix.state.Load().meta }

// openFolder opens the index's folder, brings it up to date from the outbox
// and lets it serve. An error says why it must be built anew; it may serve
// until then.
func (ix *index) openFolder() error {
	m := ix.meta()
	f, err := folder.Open(filepath.Join(ix.service.opts.Dir, m.Folder))
	if err != nil {
		return err
	}
	ix.state.Store(&state{m, f})
	want := settings.SchemaOf(&m.Settings)
	other := fmt.Errorf("its folder has another shape: %s; wanted %s", f.Schema.Encode(), want.Encode())
	if !f.Schema.Serves(want) {
		return other
	}
	if f.Behind = ix.farBehind(f); f.Behind {
		return errFarBehind
	}
	if err := ix.catchUp(f); err != nil {
		return err
	}
	if f.Schema.Outdated(want) {
		return other
	}
	return nil
}

// errFarBehind says that catching up would keep the host from starting.
var errFarBehind = errors.New("its folder lacks many documents that changed")

// fewBehind is how many documents are caught up with before the host serves.
const fewBehind = 2000

// farBehind reports whether more than a few documents changed that f may not
// have: a large task was under way when the process ended.
func (ix *index) farBehind(f *folder.Folder) bool {
	n := 0
	err := ix.service.opts.DB.Outbox(ix.meta().Docs, func(task uint32, ids []string) error {
		if task >= f.Next.Load() {
			n += len(ids)
		}
		if n > fewBehind {
			return errFarBehind
		}
		return nil
	})
	return errors.Is(err, errFarBehind)
}

// catchUp brings f in step with the documents from the outbox.
func (ix *index) catchUp(f *folder.Folder) error {
	m := ix.meta()
	if f.Next.Load() < m.Pruned || f.Next.Load() > m.Next {
		return fmt.Errorf("its folder is of another time: it has the tasks from %d on not, the documents have those below %d", f.Next.Load(), m.Next)
	}
	if err := ix.replay(f); err != nil {
		return fmt.Errorf("catch up with the documents: %w", err)
	}
	return nil
}

// replay indexes again what tasks changed that f has not, or not wholly.
func (ix *index) replay(f *folder.Folder) error {
	m := ix.meta()
	db := ix.service.opts.DB
	w := f.Writer(m.Fields, ix.service.limits)
	n := 0
	err := db.Outbox(m.Docs, func(task uint32, ids []string) error {
		if task < f.Next.Load() {
			return nil
		}
		if err := ix.service.ctx.Err(); err != nil {
			return err
		}
		n++
		docs, err := db.Documents(m.Docs, ids)
		if err != nil {
			return err
		}
		return writeDocs(w, ids, docs)
	})
	if err != nil || n == 0 && f.Next.Load() == m.Next {
		return err
	}
	return w.Finish(m.Next)
}

// writeDocs puts each document, or deletes it where it is absent.
func writeDocs(w *folder.Writer, ids []string, docs []storage.Document) error {
	for i, d := range docs {
		var err error
		if d.Seq == 0 {
			err = w.Delete(ids[i])
		} else {
			err = w.Put(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startRepair builds a new folder in place of bad in the background, unless
// one is being built.
func (ix *index) startRepair(ctx context.Context, bad *folder.Folder) (started bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.repair != nil {
		return false
	}
	done := make(chan struct{})
	ix.repair = done
	ix.service.repairs.Go(func() {
		defer func() {
			ix.mu.Lock()
			ix.repair = nil
			ix.mu.Unlock()
			close(done)
		}()
		for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, 30*time.Second) {
			err := ix.replace(ctx, bad)
			if err == nil || ctx.Err() != nil {
				return
			}
			ix.service.opts.Log(fmt.Sprintf("building index %q failed; trying again in %v", ix.uid(), pause), err)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	})
	return true
}

// replace rebuilds where the folder is still the bad one. One that is only
// behind is caught up with.
func (ix *index) replace(ctx context.Context, bad *folder.Folder) error {
	unlock, err := ix.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if ix.dropped.Load() || ix.state.Load().folder != bad {
		return nil
	}
	if bad != nil && bad.Behind {
		bad.Behind = false // whatever comes of it, it is not tried again
		defer ix.service.limits.Enter()()
		err := ix.catchUp(bad)
		if ctx.Err() != nil || err == nil && !bad.Schema.Outdated(settings.SchemaOf(&ix.meta().Settings)) {
			return err
		}
	}
	return ix.rebuild(ctx)
}

// rebuild replaces the folder by one made from the documents. Call it with the
// lock.
func (ix *index) rebuild(ctx context.Context) error {
	m := ix.meta()
	f, err := ix.service.buildFolder(ctx, m, settings.SchemaOf(&m.Settings), func(int) {})
	if err != nil {
		return err
	}
	m = m.clone()
	return ix.swap(f, m)
}

// swap makes f the index's folder, and m with it its record. Where it fails, f
// is gone and the old folder stays.
func (ix *index) swap(f *folder.Folder, m *meta) error {
	before := ix.state.Load()
	unread := before.meta.Folder // m may be the same record
	m.Folder = f.Name()
	if err := ix.service.opts.DB.PutMeta(ix.uid(), m.encode()); err != nil {
		return errors.Join(fmt.Errorf("write record of index: %w", err), f.Remove())
	}
	ix.publish(&state{m, f})
	if before.folder == nil && unread != "" {
		// It could not be opened. Where it can't be deleted, the next start sweeps.
		_ = os.RemoveAll(filepath.Join(ix.service.opts.Dir, unread))
	}
	return nil
}

// ready makes sure that the index has a folder to write to that is in step with
// the documents. Call it with the lock.
func (ix *index) ready(ctx context.Context) error {
	st := ix.state.Load()
	if st.folder == nil || !st.folder.Schema.Serves(settings.SchemaOf(&st.meta.Settings)) {
		return ix.rebuild(ctx)
	}
	if st.folder.Next.Load() == st.meta.Next {
		return nil
	}
	if err := ix.catchUp(st.folder); errors.Is(err, folder.ErrNotWritable) {
		return err
	} else if err != nil {
		ix.service.opts.Log(fmt.Sprintf("index %q is built anew from its documents", ix.uid()), err)
		return ix.rebuild(ctx)
	}
	return nil
}

func (ix *index) repairing() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.repair != nil
}

// busy reports whether the index is being written, or built anew.
func (ix *index) busy() bool { return len(ix.writing) > 0 || ix.repairing() }

// settled waits until no repair is under way.
func (ix *index) settled(ctx context.Context) error {
	ix.mu.Lock()
	done := ix.repair
	ix.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// filter reads a request's filter, within b (nil: a budget of its own), and
// checks that the index has what it asks about. A mistake is an [apierr.Error]
// of code.
func (ix *index) filter(m *meta, raw json.RawMessage, code apierr.Code, b *budget) (*filter.Node, error) {
	n, err := filter.Parse(raw, ix.service.contains(), b.ofFilters())
	if err == nil {
		err = n.Check(&m.Settings)
	}
	if err != nil {
		return nil, filter.Refuse(err, code)
	}
	return n, nil
}

// buildFolder makes a folder for m's documents under the schema sc. report is
// told, now and then, how many are in it.
func (s *Service) buildFolder(ctx context.Context, m *meta, sc *folder.Schema, report func(done int)) (*folder.Folder, error) {
	if m.Bytes > s.partBytes() {
		defer s.limits.Enter()()
	}
	scan := func(f func(storage.Document) error) error { return s.opts.DB.Scan(ctx, m.Docs, f) }
	return folder.Build(s.opts.Dir, sc, m.Fields, m.Next, s.limits, scan, report)
}
