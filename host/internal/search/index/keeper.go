package index

import (
	"context"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A keeper keeps what is served of the indexes in step with the database: on a host alone
// the writer does so; on a node of a cluster, the part that follows the log.
type keeper interface {
	// open opens all indexes, and begins to bring them in step.
	open() error
	create(ctx context.Context, m *Meta) (*Index, error)
	remove(ctx context.Context, ix *Index) error
	rename(ctx context.Context, renamed map[*Index]*Meta) error
	// serve has readers go by m, which the database has.
	serve(ctx context.Context, ix *Index, m *Meta) error
	putSettings(ctx context.Context, ix *Index, m *Meta, begin func() error, report func(done int)) error
	// replace builds a folder in place of one that is bad; nil: there is none.
	replace(ctx context.Context, ix *Index, bad *bleveindex.Folder) error
	makeReady(ctx context.Context, ix *Index) error
	await(ctx context.Context, ix *Index) error
	// words are for a batch that begins with the task first.
	words(ix *Index, first uint32) Words
	// repaired is told that a folder is built, or that it is given up, once another may be.
	repaired()
	// tell wakes who waits for an index.
	tell()
}

// Words are how the words of a batch's documents get to the folder of its index. Call its
// methods with the index's lock.
type Words interface {
	// Empty: the batch begins anew, without the documents that there were; m is its record.
	Empty(m *Meta) error
	// Pruned is the task up to which the outbox is not needed any more.
	Pruned() uint32
	// Wrote is told that the database has the record m, which readers may see where visible
	// is set, and vectors, which put puts into memory.
	Wrote(m *Meta, visible bool, put func(*vector.Memory))
	// Put brings the words of some documents in step with the database, and returns the
	// record to go on with.
	Put(ctx context.Context, m *Meta, ids []string) (*Meta, error)
	// Finish ends the batch, and Drop one that failed. Segments may be merged behind it.
	Finish(ctx context.Context) error
	Drop() error
}

// Words returns those of a batch that begins with the task first. Call it with the lock,
// and once the index is ready.
func (ix *Index) Words(first uint32) Words { return ix.Catalog.keeper.words(ix, first) }
