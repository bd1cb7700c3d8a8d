package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
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
	folder *folder // nil while there is nothing to serve
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
	old.retire(func() {
		ix.service.columns.forget(old.name())
		if err := old.remove(); err != nil {
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
	f, err := openFolder(filepath.Join(ix.service.opts.Dir, m.Folder))
	if err != nil {
		return err
	}
	ix.state.Store(&state{m, f})
	if want := m.Settings.schema(); f.schema.Analyzer != want.Analyzer || f.schema.Layout != want.Layout || !f.schema.serves(&m.Settings) {
		return fmt.Errorf("its folder has another shape: %s; wanted %s", f.schema.encode(), want.encode())
	}
	if f.behind = ix.farBehind(f); f.behind {
		return errFarBehind
	}
	return ix.catchUp(f)
}

// errFarBehind says that catching up would keep the host from starting.
var errFarBehind = errors.New("its folder lacks many documents that changed")

// fewBehind is how many documents are caught up with before the host serves.
const fewBehind = 2000

// farBehind reports whether more than a few documents changed that f may not
// have: a large task was under way when the process ended.
func (ix *index) farBehind(f *folder) bool {
	n := 0
	err := ix.service.opts.DB.Outbox(ix.meta().Docs, func(task uint32, ids []string) error {
		if task >= f.next.Load() {
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
func (ix *index) catchUp(f *folder) error {
	m := ix.meta()
	if f.next.Load() < m.Pruned || f.next.Load() > m.Next {
		return fmt.Errorf("its folder is of another time: it has the tasks from %d on not, the documents have those below %d", f.next.Load(), m.Next)
	}
	if err := ix.replay(f); err != nil {
		return fmt.Errorf("catch up with the documents: %w", err)
	}
	return nil
}

// replay indexes again what tasks changed that f has not, or not wholly.
func (ix *index) replay(f *folder) error {
	m := ix.meta()
	db := ix.service.opts.DB
	w := ix.service.writer(f, m.Fields)
	n := 0
	err := db.Outbox(m.Docs, func(task uint32, ids []string) error {
		if task < f.next.Load() {
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
	if err != nil || n == 0 && f.next.Load() == m.Next {
		return err
	}
	return w.finish(m.Next)
}

// writeDocs puts each document, or deletes it where it is absent.
func writeDocs(w *folderWriter, ids []string, docs []Document) error {
	for i, d := range docs {
		var err error
		if d.Seq == 0 {
			err = w.delete(ids[i])
		} else {
			err = w.put(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startRepair builds a new folder in place of bad in the background, unless
// one is being built.
func (ix *index) startRepair(ctx context.Context, bad *folder) (started bool) {
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
func (ix *index) replace(ctx context.Context, bad *folder) error {
	unlock, err := ix.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if ix.dropped.Load() || ix.state.Load().folder != bad {
		return nil
	}
	if bad != nil && bad.behind {
		bad.behind = false // whatever comes of it, it is not tried again
		defer ix.service.heap.enter()()
		if err := ix.catchUp(bad); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return ix.rebuild(ctx)
}

// rebuild replaces the folder by one made from the documents. Call it with the
// lock.
func (ix *index) rebuild(ctx context.Context) error {
	m := ix.meta()
	f, err := ix.service.buildFolder(ctx, m, m.Settings.schema(), func(int) {})
	if err != nil {
		return err
	}
	m = m.clone()
	return ix.swap(f, m)
}

// swap makes f the index's folder, and m with it its record. Where it fails, f
// is gone and the old folder stays.
func (ix *index) swap(f *folder, m *meta) error {
	before := ix.state.Load()
	unread := before.meta.Folder // m may be the same record
	m.Folder = f.name()
	if err := ix.service.opts.DB.PutMeta(ix.uid(), m.encode()); err != nil {
		return errors.Join(fmt.Errorf("write record of index: %w", err), f.remove())
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
	if st.folder == nil || !st.folder.schema.serves(&st.meta.Settings) {
		return ix.rebuild(ctx)
	}
	if st.folder.next.Load() == st.meta.Next {
		return nil
	}
	if err := ix.catchUp(st.folder); errors.Is(err, errNotWritable) {
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
