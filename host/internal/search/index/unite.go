package index

import (
	"context"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
)

// mostBeside is how many batches are written while segments are united: each leaves a
// segment of its own, and each search looks into all of them.
const mostBeside = 64

// uniteBehind has the segments of f united in the background, where that is due: those
// that wrote do not wait for it. Of writers that go on meanwhile, it makes one wait
// after so many batches. Call it with the index's lock, behind a batch.
func (ix *Index) uniteBehind(ctx context.Context, f *bleveindex.Folder) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if done := ix.uniting; done != nil {
		if !ix.merging {
			return nil // another index's turn
		}
		if ix.beside++; ix.beside < mostBeside {
			return nil
		}
		ix.mu.Unlock()
		defer ix.mu.Lock()
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	c := ix.Catalog
	if !f.Due() || c.ctx.Err() != nil {
		return nil
	}
	release, ok := f.Acquire()
	if !ok {
		return nil
	}
	done := make(chan struct{})
	ix.uniting = done
	c.repairs.Go(func() {
		defer func() {
			release()
			ix.mu.Lock()
			ix.uniting, ix.merging, ix.beside = nil, false, 0
			ix.mu.Unlock()
			close(done)
		}()
		select {
		case c.merging <- struct{}{}: // one index at a time
			defer func() { <-c.merging }()
		case <-c.ctx.Done():
			return
		}
		ix.mu.Lock()
		ix.merging = true
		ix.mu.Unlock()
		if err := ix.contain(func() error { return f.Unite(c.ctx) }); err != nil && c.ctx.Err() == nil {
			c.Log(fmt.Sprintf("segments of index %q are not merged: searches take longer until the next try", ix.UID()), err)
		}
	})
	return nil
}
