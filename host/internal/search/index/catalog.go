// Package index keeps what there is of each index: its record ([Meta]), the bleve
// folder that is made of its documents, and the lock of its one writer. A [Catalog]
// has all indexes by uid.
//
// Documents are in the database (see [storage.DB]). A folder is derived from them:
// one that is missing, damaged, behind or of another shape is built anew in the
// background, while the old one answers where it can. Readers go by a [State], which
// never changes: call [Index.Acquire] to search it, [Index.Meta] where the record
// will do. Writers call [Index.Lock], change a clone of the record, write documents and
// record in one transaction, and [Index.Publish] what readers go by from then on.
//
// Who may use an index, and what tasks do to it, is not known here: see packages
// search and write.
package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// Options are what a [Catalog] needs. All but Sealer are required.
type Options struct {
	Dir string // for the bleve folders; made if absent
	DB  storage.DB
	Log func(message string, err error) // told of what nobody waits for
	Now func() time.Time
	// Sealer seals headers of embedders that an earlier version wrote openly; nil: they stay.
	Sealer      settings.Sealer
	Features    func() feature.Set
	OpenFolders int // that are open at a time, those of searches under way aside
	// Descriptors says how many this process has open, and may have; most 0: there is no bound.
	Descriptors     func() (used, most uint64)
	VectorMemory    int64 // bytes of vectors in memory
	IndexingMemory  int64 // bytes that writing documents may take
	IndexingThreads int   // documents that are taken apart at a time
	// Notes is set on a node of a cluster, where records change by the log; nil: this host is alone.
	Notes Notes
}

// fewDescriptors are left for searches and writes of the indexes that are there.
const fewDescriptors = 32

// A Catalog holds all indexes by their uids. Safe for concurrent use.
type Catalog struct {
	Options
	Columns *bleveindex.ColumnCache
	opened  *bleveindex.Opened
	Vectors *vector.Memory
	Limits  *bleveindex.Limits // of writers

	mu      sync.RWMutex
	indexes map[string]*Index // by uid

	keeper   keeper
	follower *follower // the keeper on a node of a cluster, which alone calls what uses it

	merging chan struct{} // has one token while segments of an index are merged behind its writes
	repairs sync.WaitGroup
	ctx     context.Context // of repairs and merges
	stop    context.CancelFunc
}

// Open opens all indexes of o.DB. A bleve folder that is missing, damaged,
// stale or of another shape is built anew in the background; until then the
// old one answers where there is one.
func Open(o Options) (*Catalog, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make index directory: %w", err)
	}
	c := &Catalog{
		Options: o, Columns: bleveindex.NewColumnCache(bleveindex.ColumnBytes), Vectors: vector.NewMemory(o.DB, o.VectorMemory),
		Limits: bleveindex.NewLimits(o.IndexingThreads, o.IndexingMemory), indexes: map[string]*Index{}, merging: make(chan struct{}, 1),
	}
	c.opened = bleveindex.NewOpened(c.OpenFolders, c.Columns)
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.keeper = &alone{c}
	if o.Notes != nil {
		c.follower = newFollower(c, o.Notes)
		c.keeper = c.follower
	}
	if err := c.keeper.open(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// sweep removes the folders and documents of indexes that are no more: what a
// crash left behind.
func (c *Catalog) sweep() error {
	folders := map[string]bool{}
	for _, ix := range c.indexes {
		folders[ix.Meta().Folder] = true
	}
	return errors.Join(c.sweepFolders(folders), c.sweepVectors(), c.SweepDocuments())
}

// sweepFolders removes all folders but those known.
func (c *Catalog) sweepFolders(known map[string]bool) error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return fmt.Errorf("list index folders: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !known[e.Name()] && e.Name() != "lost+found" { // which a disk of its own has
			if err := os.RemoveAll(filepath.Join(c.Dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove old index folder: %w", err)
			}
		}
	}
	return nil
}

// Close ends repairs and closes all folders once their readers are gone. Call
// it after the queue's Run has returned.
func (c *Catalog) Close() error {
	c.StopRepairs()
	c.repairs.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for _, ix := range c.indexes {
		err = errors.Join(err, ix.close())
	}
	clear(c.indexes)
	return err
}

// StopRepairs lets no folder be built in the background any more.
func (c *Catalog) StopRepairs() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
}

// Find returns the index of a uid, or nil.
func (c *Catalog) Find(uid string) *Index {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.indexes[uid]
}

// All returns the indexes, by uid.
func (c *Catalog) All() []*Index {
	c.mu.RLock()
	list := slices.Collect(maps.Values(c.indexes))
	c.mu.RUnlock()
	slices.SortFunc(list, func(a, b *Index) int { return strings.Compare(a.UID(), b.UID()) })
	return list
}

// NewMeta is the record of a new index.
func (c *Catalog) NewMeta(uid string, by uint32) *Meta {
	now := c.Now().UTC()
	return &Meta{
		UID: uid, CreatedAt: now, UpdatedAt: now, CreatedBy: by,
		Settings: settings.DefaultSettings(), Docs: uuid.NewString(), Next: by, Pruned: by, Vectors: &VectorCount{},
	}
}

// Create makes an index with the record m, and serves it. The error is an [apierr.Error] of code
// [indexerr.TooManyOpenFiles] where the process has hardly a descriptor left.
func (c *Catalog) Create(ctx context.Context, m *Meta) (*Index, error) {
	if used, most := c.Descriptors(); most > 0 && used+fewDescriptors > most {
		return nil, apierr.Newf(indexerr.TooManyOpenFiles, "Index `%s` is not made: the host has %d files and connections open, and may have %d. "+
			"Raise its limit (LimitNOFILE in a systemd unit, ulimit -n in a shell), or bound --http-max-connections.", m.UID, used, most)
	}
	return c.keeper.create(ctx, m)
}

// Remove takes an index out, which the database has no record of any more, and
// deletes its folder once its readers are gone.
func (c *Catalog) Remove(ctx context.Context, ix *Index) error { return c.keeper.remove(ctx, ix) }

// Rename gives indexes their new records, which have other uids, at once.
func (c *Catalog) Rename(ctx context.Context, renamed map[*Index]*Meta) error {
	return c.keeper.rename(ctx, renamed)
}

// Await waits until what is served of an index is in step with what the database
// has now; nil: until the indexes are those of the database.
func (c *Catalog) Await(ctx context.Context, ix *Index) error { return c.keeper.await(ctx, ix) }

// SweepDocuments removes the documents that no index has.
func (c *Catalog) SweepDocuments() error {
	c.mu.RLock()
	known := map[string]bool{}
	for _, ix := range c.indexes {
		known[ix.newest().Docs] = true
	}
	c.mu.RUnlock()
	c.Vectors.Keep(func(docs string, _ uint32) bool { return known[docs] })
	if err := c.DB.Sweep(func(docs string) bool { return known[docs] }); err != nil {
		return fmt.Errorf("remove documents of deleted indexes: %w", err)
	}
	return nil
}

// sweepVectors removes the sets that no record names: what a crash left behind.
func (c *Catalog) sweepVectors() error {
	for _, ix := range c.indexes {
		m := ix.newest()
		sets, err := c.DB.VectorSets(m.Docs)
		if err != nil {
			return fmt.Errorf("list vectors: %w", err)
		}
		for _, set := range sets {
			if m.names(set) {
				continue
			}
			if err := c.DB.DropVectors(m.Docs, set); err != nil {
				return fmt.Errorf("remove vectors: %w", err)
			}
		}
	}
	return nil
}

// PartBytes bounds what is held of the documents of one part. Beside it there
// are its words on their way to bleve, and what bleve merges.
func (c *Catalog) PartBytes() int64 {
	return min(max(c.IndexingMemory/32, 256<<10), 32<<20)
}

// Contains reports whether filters may have CONTAINS and STARTS WITH.
func (c *Catalog) Contains() bool { return c.Features().ContainsFilter }

// NotFound is the error of an index that does not exist, or not for who asks.
func NotFound(uid string) *apierr.Error {
	return apierr.Newf(indexerr.IndexNotFound, "Index `%.400s` not found.", uid)
}
