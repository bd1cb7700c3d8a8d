package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// buildWait is how long a search waits for a folder that can answer it.
const buildWait = 10 * time.Second

// serving returns the record and a folder that can answer for it; call release
// when done.
func (ix *index) serving(ctx context.Context) (st *state, release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, buildWait)
	defer cancel()
	for {
		st := ix.state.Load()
		switch {
		case ix.dropped.Load():
			return nil, nil, notFound(ix.uid())
		case st.folder != nil && st.folder.Schema.Serves(settings.SchemaOf(&st.meta.Settings)):
			if release, ok := st.folder.Acquire(); ok {
				return st, release, nil
			}
			continue // swapped just now
		}
		repairing := ix.repairing()
		err := ix.settled(ctx)
		if err != nil || !repairing && st == ix.state.Load() {
			return nil, nil, &apierr.Error{
				Code: apierr.IndexNotReady, RetryAfter: buildWait, Err: err,
				Message: fmt.Sprintf("Index `%s` is being built anew from its documents; try again in a while.", ix.uid()),
			}
		}
	}
}

// close closes the folder once its readers are gone. The index serves nothing
// any more.
func (ix *index) close() error {
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
func (ix *index) drop() {
	if f := ix.unserve(); f != nil {
		f.Retire(func() {
			ix.service.columns.Forget(f.Name())
			_ = f.Remove()
		})
		return
	}
	_ = os.RemoveAll(filepath.Join(ix.service.opts.Dir, ix.meta().Folder))
}

// unserve makes every later read find nothing, and returns the folder.
func (ix *index) unserve() *folder.Folder {
	ix.dropped.Store(true)
	return ix.state.Swap(&state{meta: ix.meta()}).folder
}
