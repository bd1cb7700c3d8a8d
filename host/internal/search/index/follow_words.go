package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// follow brings one index in step with the database, which has the message told: its
// record, and its words where noted says that documents changed. Where it needs another
// folder, that is built in the background, and the old one answers until then.
//
// Record and documents are those of one moment, which may be later than told. A round
// that knows less than what is served already does nothing.
func (f *follower) follow(ctx context.Context, ix *Index, told uint64, noted bool) error {
	if ix.halted.Load() != nil {
		return nil
	}
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
	if told >= ix.at && (st.Folder == nil || ix.with != m || noted || ix.behind.Load()) {
		ix.behind.Store(true) // until it is not
		var level bool
		err := f.notes.View(func(now storage.Moment) (err error) {
			level, err = f.bringLevel(ctx, ix, now, st, m)
			return err
		})
		if err != nil || !level {
			return err
		}
		ix.with = m
		ix.behind.Store(false)
		ix.Slim()
	}
	ix.level.Store(told)
	return nil
}

// bringLevel is follow where something changed since m, the record that was read last.
// It reports false where a folder is built first, or where another round comes.
func (f *follower) bringLevel(ctx context.Context, ix *Index, now storage.Moment, st *State, m *Meta) (level bool, err error) {
	m, err = recordAt(now, m)
	if m == nil || err != nil {
		return false, err
	}
	want := settings.SchemaOf(&m.Settings)
	if st.Folder == nil || st.Meta.Docs != m.Docs || !st.Folder.Schema.Serves(want) || st.Folder.Schema.Outdated(want) {
		if st.Meta.UID != m.UID { // a swap counts at once
			old := st.Meta.Clone()
			old.UID = m.UID
			ix.state.Store(&State{old, st.Folder})
		}
		ix.startRepair(f.catalog.ctx, st.Folder)
		return false, nil
	}
	// The record first: it names the fields that documents may have.
	if st.Meta != m {
		ix.Publish(m, st.Folder)
		st = ix.state.Load()
	}
	if err := f.writeWords(ctx, ix, now, st); err != nil {
		if errors.Is(err, bleveindex.ErrNotWritable) || ctx.Err() != nil {
			return false, err
		}
		f.catalog.Log(fmt.Sprintf("index %q is rebuilt from its documents", ix.UID()), err)
		ix.startRepair(f.catalog.ctx, st.Folder)
		return false, nil
	}
	return true, nil
}

// recordAt returns the record that now has of the index of m. nil: the index has other
// documents there, or another name, and the round that reads of it comes.
func recordAt(now storage.Moment, m *Meta) (*Meta, error) {
	b, err := now.Meta(m.UID)
	if b == nil || err != nil {
		return nil, err
	}
	at := new(Meta)
	if err := json.Unmarshal(b, at); err != nil {
		return nil, fmt.Errorf("read index %q: %w", m.UID, err)
	}
	if at.Docs != m.Docs {
		return nil, nil
	}
	return at, nil
}

// writeWords puts the documents that changed since, as they are now, into the folder of st.
func (f *follower) writeWords(ctx context.Context, ix *Index, now storage.Moment, st *State) error {
	c := f.catalog
	w := st.Folder.Writer(st.Meta.Fields, c.Limits)
	at := ix.at
	err := now.Notes(st.Meta.Docs, ix.at, func(seq uint64, ids []string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		docs, err := now.Documents(st.Meta.Docs, ids)
		if err != nil {
			return err
		}
		at = seq
		return w.PutAll(ids, docs)
	})
	if err == nil && (at > ix.at || st.Folder.Next.Load() != st.Meta.Next) {
		if err = w.Finish(st.Meta.Next); err == nil {
			err = ix.uniteBehind(ctx, st.Folder)
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

// replace builds a folder for an index of a cluster's node, in place of bad, of the record
// and the documents of one moment. What changes meanwhile is noted, and comes after.
func (f *follower) replace(ctx context.Context, ix *Index, bad *bleveindex.Folder) error {
	select {
	case ix.words <- struct{}{}:
		defer func() { <-ix.words }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ix.dropped.Load() || ix.state.Load().Folder != bad {
		return nil
	}
	var m *Meta
	var made *bleveindex.Folder
	var at uint64
	err := f.notes.View(func(now storage.Moment) (err error) {
		if at, err = now.Seq(); err != nil {
			return err
		}
		if m, err = recordAt(now, ix.newest()); m == nil || err != nil {
			return err
		}
		scan := func(put func(storage.Document) error) error { return now.ScanAfter(ctx, m.Docs, "", put) }
		made, err = f.catalog.buildFolder(ctx, m, settings.SchemaOf(&m.Settings), scan, func(int) {})
		return err
	})
	if err != nil || made == nil {
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

// followedWords are the [Words] of a batch on a node of a cluster: they come by the log.
type followedWords struct {
	ix    *Index
	empty bool // nobody has seen the batch's record yet
}

func (f *follower) words(ix *Index, _ uint32) Words { return &followedWords{ix: ix} }

func (w *followedWords) Empty(*Meta) error { w.empty = true; return nil }

func (w *followedWords) Pruned() uint32 { return 0 }

func (w *followedWords) Wrote(_ *Meta, visible bool, _ func(*vector.Memory)) {
	w.empty = w.empty && !visible
}

func (w *followedWords) Put(ctx context.Context, m *Meta, _ []string) (*Meta, error) {
	if w.empty {
		return m, nil
	}
	return m, w.ix.Catalog.Await(ctx, w.ix)
}

func (w *followedWords) Finish(context.Context) error { return nil }

func (w *followedWords) Drop() error { return nil }
