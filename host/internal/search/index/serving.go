package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// BuildWait is how long a search waits for a folder that can answer it.
const BuildWait = 10 * time.Second

// Acquire returns the record and a folder that can answer for it; call release
// when done.
func (ix *Index) Acquire(ctx context.Context) (st *State, release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, BuildWait)
	defer cancel()
	for {
		st := ix.state.Load()
		switch {
		case ix.dropped.Load():
			return nil, nil, NotFound(ix.UID())
		case st.Folder != nil && st.Folder.Schema.Serves(settings.SchemaOf(&st.Meta.Settings)):
			if release, ok := st.Folder.Acquire(); ok {
				return st, release, nil
			}
			continue // swapped just now
		}
		repairing := ix.repairing()
		err := ix.settled(ctx)
		if err != nil || !repairing && st == ix.state.Load() {
			return nil, nil, &apierr.Error{
				Code: indexerr.IndexNotReady, RetryAfter: BuildWait, Err: err,
				Message: fmt.Sprintf("Index `%s` is being rebuilt from its documents; try again later.", ix.UID()),
			}
		}
	}
}

// close closes the folder once its readers are gone. The index serves nothing
// any more.
func (ix *Index) close() error {
	f := ix.unserve()
	if f == nil {
		return nil
	}
	done := make(chan error, 1)
	f.Retire(func() { done <- f.Close() })
	return <-done
}

// drop closes the folder once its readers are gone, and deletes it. Where that
// fails, the next start sweeps.
func (ix *Index) drop() {
	if f := ix.unserve(); f != nil {
		f.Retire(func() {
			ix.Catalog.Columns.Forget(f.Name())
			_ = f.Remove()
		})
		return
	}
	if unread := ix.Meta().Folder; unread != "" { // a node of a cluster sweeps
		_ = os.RemoveAll(filepath.Join(ix.Catalog.Dir, unread))
	}
}

// unserve makes every later read find nothing, and returns the folder.
func (ix *Index) unserve() *bleveindex.Folder {
	ix.dropped.Store(true)
	return ix.state.Swap(&State{Meta: ix.Meta()}).Folder
}

// ErrDamaged says that a folder cannot be read; see [Index.Suspect].
var ErrDamaged = errors.New("the index folder is damaged")

// Guard calls f, which reads a folder that may be damaged: what bleve makes
// of damaged bytes is [ErrDamaged].
func Guard(f func() error) (err error) {
	// A mapped file that is shorter than it was would else end the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	if err = f(); errors.Is(err, bleveindex.ErrUnreadable) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
