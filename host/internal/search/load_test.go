package search_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// A slowDB hands out no documents before it is let go.
type slowDB struct {
	*store.Store
	let chan struct{}
}

func (d slowDB) Scan(ctx context.Context, docs string, f func(storage.Document) error) error {
	select {
	case <-d.let:
	case <-ctx.Done():
		return ctx.Err()
	}
	return d.Store.Scan(ctx, docs, f)
}

// TestLoadNotReady opens a service whose folder is gone: the index is not ready
// until it is built, and is then.
func TestLoadNotReady(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	if l := r.svc.Load(); l.Indexes != 1 || l.Documents != 7 || l.DocumentBytes == 0 || l.NotReady != 0 {
		t.Errorf("Load = %+v, want one index of 7 documents that is ready", l)
	}
	r.close()
	mustDo(t, os.RemoveAll(r.folder()))
	db, err := store.Open(r.dir)
	mustDo(t, err)
	slow := slowDB{db, make(chan struct{})}
	svc, err := search.Open(search.Options{Dir: r.folders(), DB: slow, Bodies: db})
	mustDo(t, err)
	if l := svc.Load(); l.Indexes != 1 || l.Documents != 7 || l.NotReady != 1 {
		t.Errorf("Load without a folder = %+v, want one index that is not ready", l)
	}
	close(slow.let)
	waittest.For(t, "no index that is not ready", func() bool { return svc.Load().NotReady == 0 })
	mustDo(t, errors.Join(svc.Close(), db.Close()))
}
