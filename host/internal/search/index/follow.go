package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// Notes is what a node of a cluster keeps for itself: which documents the log
// changed, and which folder has their words here. See package store.
type Notes interface {
	// Seq is the message up to which the database has the log.
	Seq() (uint64, error)
	// View calls f with the database as it is now. What f reads does not change meanwhile.
	View(f func(storage.Moment) error) error
	// PruneNotes forgets the notes of messages up to seq.
	PruneNotes(docs string, seq uint64) error
	// WordsFolder returns the name of the folder that has the words of docs, and
	// the message up to which it has them; "": there is none.
	WordsFolder(docs string) (name string, seq uint64, err error)
	PutWordsFolder(docs, name string, seq uint64) error
	// SweepWords forgets what is kept of docs that known does not know.
	SweepWords(known func(docs string) bool) error
}

// News is what one message of the log changed, once the database has it.
type News struct {
	Seq     uint64
	Indexes bool // records of indexes
	Docs    []string
	Vectors []ChangedVectors
}

// ChangedVectors are vectors below docs: those of one document, or, where Gone is
// set, all of the set.
type ChangedVectors struct {
	Docs string
	storage.StoredVectors
	Gone bool
}

// In a cluster, the leader writes records only. The words follow the log, on
// the leader as on all nodes: so a node that comes to lead has nothing to do
// first. A follower brings what is searched in step with the database.
type follower struct {
	catalog *Catalog
	notes   Notes
	wake    chan struct{}
	records map[string][]byte // of indexes by uid, as they were read last; of run

	mu      sync.Mutex
	told    uint64 // the newest message that the database has
	indexes bool   // records of indexes changed since level
	vectors []ChangedVectors
	bytes   int                 // of vectors
	dirty   map[string]struct{} // docs that changed since they were looked at
	level   uint64              // records of indexes are as this message left them
	changed chan struct{}       // closed and replaced whenever an index or level moves on
}

// maxNews bounds the bytes of vectors that wait for the memory of vectors. Past it
// that begins anew from the database.
const maxNews = 64 << 20

func newFollower(c *Catalog, n Notes) *follower {
	return &follower{catalog: c, notes: n, wake: make(chan struct{}, 1), dirty: map[string]struct{}{}, changed: make(chan struct{})}
}

// Tell notes what a message of the log changed. It does not wait. Only on a node
// of a cluster.
func (c *Catalog) Tell(n News) {
	f := c.follower
	f.mu.Lock()
	f.told = max(f.told, n.Seq)
	f.indexes = f.indexes || n.Indexes
	for _, docs := range n.Docs {
		f.dirty[docs] = struct{}{}
	}
	for _, v := range n.Vectors {
		f.bytes += len(v.Bytes) + 100
		f.vectors = append(f.vectors, v)
	}
	if f.bytes > maxNews {
		f.vectors, f.bytes = []ChangedVectors{{Gone: true}}, 0 // of all docs
	}
	f.mu.Unlock()
	f.poke()
}

func (f *follower) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// repaired has run look at the index again: its record may want another folder by now, which
// none could be built for meanwhile.
func (f *follower) repaired() { f.poke() }

// followPause is how long a node waits that could not bring its words in step.
const followPause = time.Second

// run follows until ctx ends.
func (f *follower) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		err := contain.Call(func() error { return f.round(ctx) })
		if contain.Is(err) {
			f.forgetNews()
		}
		if err != nil && ctx.Err() == nil {
			f.catalog.Log("bringing the indexes in step with the cluster's log failed; trying again", err)
			select {
			case <-ctx.Done():
			case <-time.After(followPause):
				f.poke()
			}
		}
	}
}

// forgetNews has the next round begin from the database: what a round that panicked was told
// is not known any more.
func (f *follower) forgetNews() {
	for _, ix := range f.catalog.All() {
		ix.behind.Store(true)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.indexes, f.vectors, f.bytes = true, []ChangedVectors{{Gone: true}}, 0
}

// round brings all indexes in step with what the database has when the round begins.
func (f *follower) round(ctx context.Context) error {
	f.mu.Lock()
	told, records, vectors, dirty := f.told, f.indexes, f.vectors, f.dirty
	f.indexes, f.vectors, f.bytes, f.dirty = false, nil, 0, map[string]struct{}{}
	f.mu.Unlock()
	again := func(err error) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.indexes = f.indexes || records
		maps.Copy(f.dirty, dirty)
		return err
	}
	f.putVectors(vectors)
	if records {
		if err := f.readRecords(); err != nil {
			return again(err)
		}
	}
	f.mu.Lock()
	f.level = max(f.level, told)
	f.mu.Unlock()
	f.catalog.mu.RLock()
	indexes := slices.Collect(maps.Values(f.catalog.indexes))
	f.catalog.mu.RUnlock()
	var failed error
	for _, ix := range indexes {
		_, noted := dirty[ix.newest().Docs]
		err := ix.contain(func() error { return f.follow(ctx, ix, told, noted) })
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("index %q: %w", ix.UID(), err))
		}
	}
	f.tell()
	if failed != nil {
		return again(failed)
	}
	return nil
}

// putVectors has the memory of vectors know what changed.
func (f *follower) putVectors(list []ChangedVectors) {
	spaces := f.catalog.Vectors
	for _, v := range list {
		if v.Gone {
			spaces.Keep(func(docs string, set uint32) bool { return v.Docs != "" && (docs != v.Docs || set != v.Set) })
			continue
		}
		var d *vector.Document
		if v.Bytes != nil {
			var err error
			if d, err = vector.Decode(v.Bytes); err != nil {
				// Those that read them from the database are told.
				spaces.Keep(func(docs string, set uint32) bool { return docs != v.Docs || set != v.Set })
				continue
			}
		}
		spaces.Put(v.Docs, v.Set, v.ID, d)
	}
}

// readRecords makes the indexes those that the database has records of. An index
// is who has its documents: a swap gives it another uid. One that was emptied has
// other documents under the same uid.
func (f *follower) readRecords() error {
	records, err := f.catalog.DB.Metas()
	if err != nil {
		return fmt.Errorf("read indexes: %w", err)
	}
	c := f.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	metas := make(map[string]*Meta, len(records))
	named := map[string]bool{} // docs
	for uid, b := range records {
		var m *Meta
		if ix := c.indexes[uid]; ix != nil && bytes.Equal(f.records[uid], b) {
			m = ix.newest()
		} else if m, err = DecodeMeta(uid, b); err != nil {
			return err
		}
		metas[uid], named[m.Docs] = m, true
	}
	byDocs := map[string]*Index{}
	for _, ix := range c.indexes {
		byDocs[ix.newest().Docs] = ix
	}
	indexes := make(map[string]*Index, len(metas))
	kept := map[*Index]bool{}
	for uid, m := range metas {
		ix := byDocs[m.Docs]
		if before := c.indexes[uid]; ix == nil && before != nil && !named[before.newest().Docs] {
			ix = before
		}
		if ix == nil {
			ix = newIndex(c, m)
		}
		ix.record.Store(m)
		indexes[uid], kept[ix] = ix, true
	}
	for _, ix := range c.indexes {
		if !kept[ix] {
			ix.drop()
		}
	}
	c.indexes, f.records = indexes, records
	return nil
}

func (f *follower) create(ctx context.Context, m *Meta) (*Index, error) {
	c := f.catalog
	if err := c.DB.PutMeta(m.UID, m.Encode()); err != nil {
		return nil, fmt.Errorf("write record of index: %w", err)
	}
	if err := c.Await(ctx, nil); err != nil {
		return nil, err
	}
	ix := c.Find(m.UID)
	if ix == nil {
		return nil, fmt.Errorf("index %q is gone", m.UID) // and so is this node's term
	}
	return ix, c.Await(ctx, ix)
}

func (f *follower) remove(ctx context.Context, _ *Index) error { return f.await(ctx, nil) }

func (f *follower) rename(ctx context.Context, _ map[*Index]*Meta) error { return f.await(ctx, nil) }

func (f *follower) serve(ctx context.Context, ix *Index, _ *Meta) error { return f.await(ctx, ix) }

func (f *follower) putSettings(_ context.Context, _ *Index, m *Meta, begin func() error, _ func(int)) error {
	if err := begin(); err != nil {
		return err
	}
	return f.catalog.DB.PutMeta(m.UID, m.Encode())
}

func (f *follower) makeReady(ctx context.Context, ix *Index) error { return f.await(ctx, ix) }

// newest is the index's record as the database has it. It is ahead of what is
// served while a node of a cluster builds another folder for it.
func (ix *Index) newest() *Meta {
	if m := ix.record.Load(); m != nil {
		return m
	}
	return ix.Meta()
}

// open opens the indexes of a node of a cluster: each serves what it has, and run brings
// it in step.
func (f *follower) open() error {
	c := f.catalog
	seq, err := f.notes.Seq()
	if err != nil {
		return err
	}
	if err := f.readRecords(); err != nil {
		return err
	}
	folders, docs := map[string]bool{}, map[string]bool{}
	for _, ix := range c.indexes {
		m := ix.newest()
		docs[m.Docs] = true
		name, at, err := f.notes.WordsFolder(m.Docs)
		if err != nil {
			return fmt.Errorf("read the folder of index %q: %w", m.UID, err)
		}
		ix.behind.Store(true)
		if name == "" {
			continue // built by the first round
		}
		opened, err := bleveindex.Open(filepath.Join(c.Dir, name))
		if err != nil {
			c.Log(fmt.Sprintf("index %q is rebuilt from its documents", m.UID), err)
			continue
		}
		folders[name] = true
		ix.at = at
		c.opened.Add(opened)
		ix.state.Store(&State{m, opened})
	}
	if err := c.sweepFolders(folders); err != nil {
		return err
	}
	if err := f.notes.SweepWords(func(d string) bool { return docs[d] }); err != nil {
		return fmt.Errorf("forget old folders: %w", err)
	}
	f.told, f.indexes = seq, true
	f.poke()
	c.repairs.Go(func() { f.run(c.ctx) })
	return nil
}

// Lead removes what a leader before left behind. Call it on a node of a cluster
// before its queue applies anything.
func (c *Catalog) Lead(ctx context.Context) error {
	if err := c.Await(ctx, nil); err != nil {
		return err
	}
	return errors.Join(c.sweepVectors(), c.SweepDocuments())
}
