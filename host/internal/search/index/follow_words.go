package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// follow brings one index in step with the message told: its record, and, where
// noted says that documents changed, its words. Where it needs another folder,
// that is built in the background, and the old one answers until then.
func (f *follower) follow(ctx context.Context, ix *Index, told uint64, noted bool) error {
	select {
	case ix.words <- struct{}{}:
	default: // a folder is being built; who does that pokes at its end
		if noted {
			ix.behind.Store(true)
		}
		return nil
	}
	defer func() { <-ix.words }()
	m, st := ix.newest(), ix.state.Load()
	if ix.dropped.Load() {
		return nil
	}
	want := settings.SchemaOf(&m.Settings)
	if st.Folder == nil || st.Meta.Docs != m.Docs || !st.Folder.Schema.Serves(want) || st.Folder.Schema.Outdated(want) {
		if st.Meta.UID != m.UID { // a swap counts at once
			old := st.Meta.Clone()
			old.UID = m.UID
			ix.state.Store(&State{old, st.Folder})
		}
		ix.startRepair(f.catalog.ctx, st.Folder)
		return nil
	}
	// The record first: it names the fields that documents may have.
	if st.Meta != m {
		ix.Publish(m, st.Folder)
		st = ix.state.Load()
		noted = true // the folder is to say that it is in step with this one
	}
	if noted || ix.behind.Load() {
		ix.behind.Store(true) // until it is not
		if err := f.writeWords(ctx, ix, st, told); err != nil {
			if errors.Is(err, folder.ErrNotWritable) || ctx.Err() != nil {
				return err
			}
			f.catalog.Log(fmt.Sprintf("index %q is rebuilt from its documents", ix.UID()), err)
			ix.startRepair(f.catalog.ctx, st.Folder)
			return nil
		}
		ix.behind.Store(false)
	}
	ix.level.Store(told)
	ix.Slim()
	return nil
}

// errLater ends the reading of notes.
var errLater = errors.New("a message of a later round")

// writeWords puts the documents that changed since, up to the message told, into
// the folder of st. Documents of later messages may have fields that the record
// does not name yet; they come with the round that reads it.
func (f *follower) writeWords(ctx context.Context, ix *Index, st *State, told uint64) error {
	c := f.catalog
	w := st.Folder.Writer(st.Meta.Fields, c.Limits)
	at := ix.at
	err := f.notes.Notes(st.Meta.Docs, ix.at, func(seq uint64, ids []string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if seq > told {
			return errLater
		}
		docs, err := c.DB.Documents(st.Meta.Docs, ids)
		if err != nil {
			return err
		}
		at = seq
		return w.PutAll(ids, docs)
	})
	if errors.Is(err, errLater) {
		err = nil
	}
	if err == nil && (at > ix.at || st.Folder.Next.Load() != st.Meta.Next) {
		if err = w.Finish(st.Meta.Next); err == nil {
			err = st.Folder.Unite(ctx)
		}
	}
	if err != nil || at == ix.at {
		return err
	}
	if err := f.notes.PutWordsFolder(st.Meta.Docs, st.Folder.Name(), at); err != nil {
		return err
	}
	ix.at = at
	return f.notes.PruneNotes(st.Meta.Docs, at)
}

// renew builds a folder for the newest record of an index of a cluster's node, in
// place of bad. Documents that change meanwhile are noted, and come after.
func (ix *Index) renew(ctx context.Context, bad *folder.Folder) error {
	f := ix.Catalog.follower
	defer f.poke()
	select {
	case ix.words <- struct{}{}:
		defer func() { <-ix.words }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ix.dropped.Load() || ix.state.Load().Folder != bad {
		return nil
	}
	// Not what the database has by now: a document of a later message may have
	// fields that the record does not name yet.
	f.mu.Lock()
	at := f.level
	f.mu.Unlock()
	m := ix.newest()
	made, err := ix.Catalog.BuildFolder(ctx, m, settings.SchemaOf(&m.Settings), func(int) {})
	if err != nil {
		return err
	}
	if err := f.notes.PutWordsFolder(m.Docs, made.Name(), at); err != nil {
		return errors.Join(fmt.Errorf("note folder of index: %w", err), made.Remove())
	}
	ix.at = at
	ix.behind.Store(true)
	ix.Publish(m, made)
	if ix.dropped.Load() {
		ix.drop()
	}
	return nil
}
