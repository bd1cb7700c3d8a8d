// Package search keeps the indexes: their documents, their settings, and the
// search over them. Packages below it have what needs no index: see the rationale.
//
// Documents live in the database (see [storage.DB]); a bleve folder is derived from
// them and may be thrown away at any time. All writes are tasks, which package write
// makes and applies; its Writer is a part of the [Service].
//
// Every read takes the caller. What it may not use looks to it exactly like
// what does not exist, and the filter of its tenant token holds for documents,
// counts and facet values as much as for hits.
package search

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/embed"
	"github.com/parley-search/parley/host/internal/search/embedder"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
	"github.com/parley-search/parley/host/internal/search/write"
)

// Options are what a [Service] needs. Dir and DB are required.
type Options struct {
	Dir string // for the bleve folders; made if absent
	DB  storage.DB
	// Log is told what nobody waits for: a folder that was rebuilt, and why;
	// default: nobody.
	Log func(message string, err error)
	// Sealer keeps the keys and headers of embedders; without one, settings with
	// such a secret are refused.
	Sealer settings.Sealer
	// Upstream reaches embedders; without one they fail.
	Upstream outbound.Sender
	// Plugins are those that make vectors for embedders of other sources than
	// rest; nil: there are none.
	Plugins embed.Plugins
	// QueryVectors is how many vectors that embedders made of queries are kept,
	// for when they come again. Default none.
	QueryVectors int
	// EmbedderPause is waited before an embedder is asked again, twice as long
	// each time; default 1 s.
	EmbedderPause time.Duration
	// OpenFolders is how many indexes are open at a time; the others are opened by their
	// next use. Default 1024.
	OpenFolders int
	// Descriptors says how many this process has open, and may have; nil: there is no bound.
	Descriptors func() (used, most uint64)
	// VectorMemory bounds the bytes of vectors in memory; what is beyond is read
	// at each search. Default 1 GiB.
	VectorMemory int64
	// Features says what is on; nil: what is by default.
	Features func() feature.Set
	// IndexingThreads is how many documents are taken apart at a time; default:
	// half of the processors.
	IndexingThreads int
	// Cutoff bounds one search; past it, what is ranked so far is returned and
	// [Result.Degraded] is set. Default 1500 ms.
	Cutoff time.Duration
	// Bodies keeps the bodies that [Service.ReadDocuments] reads.
	Bodies write.Bodies
	// IndexingMemory is what writing documents may take, in bytes, beyond what
	// the process has otherwise; see heapBound. Default 512 MiB.
	IndexingMemory int64
	// Running is how many searches run at once; default GOMAXPROCS. Waiting is
	// how many may wait for that, negative: none; default 1000.
	Running, Waiting int
	// Notes is set on a node of a cluster, where the records of indexes change by
	// the log, of which [Service.Tell] hears.
	Notes index.Notes
	// Now is the clock for dates of indexes; default [time.Now].
	Now func() time.Time
	// Searched is told of every search of one index; default: nobody. It runs in
	// the search: be quick.
	Searched func(Searched)
}

// A Service holds all indexes. Safe for concurrent use.
type Service struct {
	*write.Writer // makes tasks and applies them

	opts      Options
	indexes   *index.Catalog
	columns   *bleveindex.ColumnCache // of indexes
	spaces    *vector.Memory          // of indexes
	queries   *embedder.QueryCache
	embedders *embedder.Service
	gate      *gate
}

// Open opens all indexes of o.DB; see [index.Open].
func Open(o Options) (*Service, error) {
	o.OpenFolders = cmp.Or(o.OpenFolders, 1024)
	if o.Descriptors == nil {
		o.Descriptors = func() (used, most uint64) { return 0, 0 }
	}
	o.VectorMemory = cmp.Or(o.VectorMemory, 1<<30)
	o.Cutoff = cmp.Or(o.Cutoff, 1500*time.Millisecond)
	o.IndexingMemory = cmp.Or(o.IndexingMemory, 512<<20)
	o.Running = cmp.Or(o.Running, runtime.GOMAXPROCS(0))
	o.Waiting = cmp.Or(o.Waiting, 1000)
	o.IndexingThreads = cmp.Or(o.IndexingThreads, max(runtime.GOMAXPROCS(0)/2, 1))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Features == nil {
		o.Features = feature.Default
	}
	if o.Log == nil {
		o.Log = func(string, error) {}
	}
	if o.Searched == nil {
		o.Searched = func(Searched) {}
	}
	indexes, err := index.Open(index.Options{
		Notes: o.Notes, Dir: o.Dir, DB: o.DB, Log: o.Log, Now: o.Now, Sealer: o.Sealer, Features: o.Features,
		OpenFolders: o.OpenFolders, Descriptors: o.Descriptors, VectorMemory: o.VectorMemory, IndexingMemory: o.IndexingMemory, IndexingThreads: o.IndexingThreads,
	})
	if err != nil {
		return nil, err
	}
	embedders := &embedder.Service{Upstream: o.Upstream, Plugins: o.Plugins, Sealer: o.Sealer, Pause: o.EmbedderPause, Log: o.Log}
	return &Service{
		Writer: write.NewWriter(indexes, embedders, o.Bodies),
		opts:   o, indexes: indexes, columns: indexes.Columns, spaces: indexes.Vectors,
		queries: embedder.NewQueryCache(o.QueryVectors), embedders: embedders,
		gate: newGate(o.Running, max(o.Waiting, 0)),
	}, nil
}

// Close ends what is done in the background and closes all folders once their
// readers are gone. Call it after the queue's Run has returned.
func (s *Service) Close() error { return s.indexes.Close() }

// Tell notes what a message of the cluster's log changed; see [index.Catalog.Tell].
func (s *Service) Tell(n index.News) { s.indexes.Tell(n) }

// WaitFor returns once searches know a message of the log; see
// [index.Catalog.WaitFor].
func (s *Service) WaitFor(ctx context.Context, uid string, seq uint64) error {
	return s.indexes.WaitFor(ctx, uid, seq)
}

// Level is the message up to which the searches of all indexes know the log.
func (s *Service) Level() uint64 { return s.indexes.Level() }

// Halted returns the indexes that are halted, and why; see [index.Catalog.Halted].
func (s *Service) Halted() []string { return s.indexes.Halted() }

// Lead removes what a leader before left behind; see [index.Catalog.Lead].
func (s *Service) Lead(ctx context.Context) error { return s.indexes.Lead(ctx) }

// CopyFolders copies the folders of the indexes; see [index.Catalog.CopyFolders].
func (s *Service) CopyFolders(ctx context.Context, dir string) error {
	return s.indexes.CopyFolders(ctx, dir)
}

// index returns the index that caller may use, and the filter that holds for
// it. [indexerr.IndexNotFound] is the same error whether uid does not exist or
// is not for the caller.
func (s *Service) index(caller *auth.Caller, uid string) (*index.Index, *filter.Node, error) {
	rule, ok := caller.Index(uid)
	var ix *index.Index
	if ok {
		ix = s.indexes.Find(uid)
	}
	if ix == nil {
		return nil, nil, index.NotFound(uid)
	}
	if len(rule) == 0 {
		return ix, nil, nil
	}
	n, err := filter.Parse(rule, s.indexes.Contains(), nil)
	if err == nil && n == nil {
		err = errors.New("it is empty") // and would let everything through
	}
	if err != nil {
		// The token's author wrote it, not the caller: still the only one to
		// read the message is the caller's developer.
		return nil, nil, &apierr.Error{Code: filter.Refuse(err, searcherr.InvalidSearchFilter).Code, Message: "The filter in the tenant token's searchRules is wrong: " + err.Error(), Err: err}
	}
	return ix, n, nil
}
