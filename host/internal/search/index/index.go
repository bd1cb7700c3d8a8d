package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// An Index is one index, open. There is one writer at a time, the scheduler,
// which waits for a repair to end.
type Index struct {
	Catalog *Catalog
	state   atomic.Pointer[State]
	dropped atomic.Bool
	halted  atomic.Pointer[string] // why nothing works on it any more, see contain; nil: it does

	writing chan struct{} // has one token while somebody writes; see lock

	// Of a node of a cluster, where writing does not keep the words from following.
	record atomic.Pointer[Meta] // the newest; nil on a host alone
	words  chan struct{}        // has one token while somebody writes words
	at     uint64               // the message up to which the folder has the log; with words
	with   *Meta                // the newest record when the folder was brought level last; with words
	behind atomic.Bool          // there may be notes that the folder lacks
	level  atomic.Uint64        // the message up to which record and words are served

	mu      sync.Mutex
	repair  chan struct{} // closed when the repair under way ends; nil without one
	uniting chan struct{} // closed when the merge of segments that is due ends; nil without one
	merging bool          // it has begun
	beside  int           // batches written since
	derived derived
}

// A State is what readers of an index go by, all of one moment.
type State struct {
	Meta   *Meta
	Folder *bleveindex.Folder // nil while there is nothing to serve
}

// contain calls f, which works on the index. Where it panics, that index is halted: what it
// has is served on, and nothing works on it until the host starts again.
func (ix *Index) contain(f func() error) error {
	err := contain.Call(f)
	if contain.Is(err) {
		why, _, _ := strings.Cut(err.Error(), "\n")
		ix.halted.Store(&why)
		ix.Catalog.Log(fmt.Sprintf("index %q is halted: it takes no change until the host starts again, and searches find what it has", ix.UID()), err)
		ix.Catalog.keeper.tell()
		return nil
	}
	return err
}

// haltError is the error of who wants to change the index, or waits for its changes, which
// is halted.
func (ix *Index) haltError() error {
	return apierr.Newf(indexerr.IndexHalted, "Index `%s` takes no change, since work on it failed (%s): the host's log has the rest. A new start of the host tries again.", ix.UID(), *ix.halted.Load())
}

func newIndex(c *Catalog, m *Meta) *Index {
	ix := &Index{Catalog: c, writing: make(chan struct{}, 1), words: make(chan struct{}, 1)}
	ix.state.Store(&State{Meta: m})
	return ix
}

// Lock makes the caller the one writer of the index. The error is an [apierr.Error] of code
// [indexerr.IndexHalted] where nothing may write to it any more.
func (ix *Index) Lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = ix.LockToRemove(ctx)
	if err == nil && ix.halted.Load() != nil {
		unlock()
		return nil, ix.haltError()
	}
	return unlock, err
}

// LockToRemove is Lock for who removes the index, which may be halted.
func (ix *Index) LockToRemove(ctx context.Context) (unlock func(), err error) {
	select {
	case ix.writing <- struct{}{}:
		unlock := func() { <-ix.writing }
		if err := ix.Catalog.Await(ctx, ix); err != nil {
			unlock()
			return nil, err
		}
		return unlock, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Publish makes m and f what readers go by. The folder before it, if it is another,
// is deleted once its readers are gone.
func (ix *Index) Publish(m *Meta, f *bleveindex.Folder) {
	ix.Catalog.opened.Add(f)
	old := ix.state.Swap(&State{m, f}).Folder
	if old == nil || old == f {
		return
	}
	old.Retire(func() {
		ix.Catalog.Columns.Forget(old.Name())
		if err := old.Remove(); err != nil {
			ix.Catalog.Log(fmt.Sprintf("removing an old folder of index %q failed", ix.UID()), err)
		}
	})
}

// State is what readers go by now.
func (ix *Index) State() *State { return ix.state.Load() }

// UID is what the index is called: a swap changes it.
func (ix *Index) UID() string { return ix.Meta().UID }

// Meta is the index's record.
func (ix *Index) Meta() *Meta { return ix.state.Load().Meta }

// openFolder opens the index's folder, brings it up to date from the outbox
// and lets it serve. An error says why it must be built anew; it may serve
// until then.
func (ix *Index) openFolder() error {
	m := ix.Meta()
	f, err := bleveindex.Open(filepath.Join(ix.Catalog.Dir, m.Folder))
	if err != nil {
		return err
	}
	ix.Catalog.opened.Add(f)
	ix.state.Store(&State{m, f})
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
func (ix *Index) farBehind(f *bleveindex.Folder) bool {
	n := 0
	err := ix.Catalog.DB.Outbox(ix.Meta().Docs, func(task uint32, ids []string) error {
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
func (ix *Index) catchUp(f *bleveindex.Folder) error {
	m := ix.Meta()
	if f.Next.Load() < m.Pruned || f.Next.Load() > m.Next {
		return fmt.Errorf("its folder is of another time: it has the tasks from %d on not, the documents have those below %d", f.Next.Load(), m.Next)
	}
	if err := ix.replay(f); err != nil {
		return fmt.Errorf("catch up with the documents: %w", err)
	}
	return nil
}

// replay indexes again what tasks changed that f has not, or not wholly.
func (ix *Index) replay(f *bleveindex.Folder) error {
	m := ix.Meta()
	db := ix.Catalog.DB
	w := f.Writer(m.Fields, ix.Catalog.Limits)
	n := 0
	err := db.Outbox(m.Docs, func(task uint32, ids []string) error {
		if task < f.Next.Load() {
			return nil
		}
		if err := ix.Catalog.ctx.Err(); err != nil {
			return err
		}
		n++
		docs, err := db.Documents(m.Docs, ids)
		if err != nil {
			return err
		}
		return w.PutAll(ids, docs)
	})
	if err != nil || n == 0 && f.Next.Load() == m.Next {
		return err
	}
	return w.Finish(m.Next)
}

// startRepair builds a new folder in place of bad in the background, unless
// one is being built.
func (ix *Index) startRepair(ctx context.Context, bad *bleveindex.Folder) (started bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.repair != nil {
		return false
	}
	done := make(chan struct{})
	ix.repair = done
	ix.Catalog.repairs.Go(func() {
		defer func() {
			ix.mu.Lock()
			ix.repair = nil
			ix.mu.Unlock()
			close(done)
			ix.Catalog.keeper.repaired()
		}()
		for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, 30*time.Second) {
			err := ix.contain(func() error { return ix.Catalog.keeper.replace(ctx, ix, bad) })
			if err == nil || ctx.Err() != nil || ix.halted.Load() != nil {
				return
			}
			ix.Catalog.Log(fmt.Sprintf("building index %q failed; trying again in %v", ix.UID(), pause), err)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	})
	return true
}

// Rebuild replaces the folder by one made from the documents. Call it with the
// lock.
func (ix *Index) Rebuild(ctx context.Context) error {
	m := ix.Meta()
	f, err := ix.Catalog.BuildFolder(ctx, m, settings.SchemaOf(&m.Settings), func(int) {})
	if err != nil {
		return err
	}
	m = m.Clone()
	return ix.PutFolder(f, m)
}

// PutFolder makes f the index's folder, and m with it its record. Where it fails, f
// is gone and the old folder stays.
func (ix *Index) PutFolder(f *bleveindex.Folder, m *Meta) error {
	before := ix.state.Load()
	unread := before.Meta.Folder // m may be the same record
	m.Folder = f.Name()
	if err := ix.Catalog.DB.PutMeta(ix.UID(), m.Encode()); err != nil {
		return errors.Join(fmt.Errorf("write record of index: %w", err), f.Remove())
	}
	ix.Publish(m, f)
	if before.Folder == nil && unread != "" {
		// It could not be opened. Where it can't be deleted, the next start sweeps.
		_ = os.RemoveAll(filepath.Join(ix.Catalog.Dir, unread))
	}
	return nil
}

// MakeReady makes sure that the index has a folder to write to that is in step with
// the documents. Call it with the lock.
func (ix *Index) MakeReady(ctx context.Context) error { return ix.Catalog.keeper.makeReady(ctx, ix) }

func (ix *Index) repairing() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.repair != nil
}

// Busy reports whether the index is being written, or built anew.
func (ix *Index) Busy() bool { return len(ix.writing) > 0 || ix.repairing() }

// settled waits until no repair is under way.
func (ix *Index) settled(ctx context.Context) error {
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

// PutMeta changes the index's record and nothing else. A node of a cluster serves
// it when this returns, by another folder where it takes one.
func (ix *Index) PutMeta(ctx context.Context, m *Meta) error {
	if err := ix.Catalog.DB.PutMeta(ix.UID(), m.Encode()); err != nil {
		return fmt.Errorf("write record of index: %w", err)
	}
	return ix.Catalog.keeper.serve(ctx, ix, m)
}

// PutSettings makes m, which has new settings, the index's record, with a folder that
// serves them. begin is called before it is too late to cancel; report is told how many
// documents a folder has that is built for it. On a node of a cluster the record may be
// served later, see [Catalog.Await].
func (ix *Index) PutSettings(ctx context.Context, m *Meta, begin func() error, report func(done int)) error {
	return ix.Catalog.keeper.putSettings(ctx, ix, m, begin, report)
}

// Slim builds the folder anew in the background where it has words that are not
// searched any more. Until then searches leave them out, which costs time.
func (ix *Index) Slim() {
	if st := ix.state.Load(); st.Folder != nil && st.Folder.Schema.Excess(settings.SchemaOf(&st.Meta.Settings)) {
		ix.startRepair(ix.Catalog.ctx, st.Folder)
	}
}

// Suspect has the folder built anew that a search found damaged.
func (ix *Index) Suspect(f *bleveindex.Folder, why error) {
	if ix.state.Load().Folder != f {
		return // replaced already
	}
	ix.Catalog.mu.RLock()
	defer ix.Catalog.mu.RUnlock()
	if ix.Catalog.ctx.Err() == nil && ix.startRepair(ix.Catalog.ctx, f) {
		ix.Catalog.Log(fmt.Sprintf("index %q is rebuilt from its documents", ix.UID()), why)
	}
}

// ParseFilter reads a request's filter, within b (nil: a budget of its own), and
// checks that the index has what it asks about. A mistake is an [apierr.Error]
// of code.
func (ix *Index) ParseFilter(m *Meta, raw json.RawMessage, code apierr.Code, b *filter.Budget) (*filter.Node, error) {
	n, err := filter.Parse(raw, ix.Catalog.Contains(), b)
	if err == nil {
		err = n.Check(&m.Settings)
	}
	if err != nil {
		return nil, filter.Refuse(err, code)
	}
	return n, nil
}

// BuildFolder makes a folder for m's documents under the schema sc. report is
// told, now and then, how many are in it.
func (c *Catalog) BuildFolder(ctx context.Context, m *Meta, sc *bleveindex.Schema, report func(done int)) (*bleveindex.Folder, error) {
	return c.buildFolder(ctx, m, sc, func(f func(storage.Document) error) error { return c.DB.Scan(ctx, m.Docs, f) }, report)
}

func (c *Catalog) buildFolder(ctx context.Context, m *Meta, sc *bleveindex.Schema, scan func(func(storage.Document) error) error, report func(done int)) (*bleveindex.Folder, error) {
	if m.Bytes > c.PartBytes() {
		defer c.Limits.Enter()()
	}
	return bleveindex.Build(ctx, c.Dir, sc, m.Fields, m.Next, c.Limits, scan, report)
}
