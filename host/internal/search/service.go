// Package search keeps the indexes: their documents, their settings, and the
// search over them. Packages below it have what needs no index: see the rationale.
//
// Documents live in the database (see [storage.DB]); a bleve folder is derived from
// them and may be thrown away at any time. All writes are tasks: the functions
// of tasks.go make and check them, [Service.Process] applies them.
//
// Every read takes the caller. What it may not use looks to it exactly like
// what does not exist, and the filter of its tenant token holds for documents,
// counts and facet values as much as for hits.
package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/feature"
	"github.com/parley-search/parley/host/internal/outbound"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/text"
	"github.com/parley-search/parley/host/internal/search/vector"
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
	// QueryVectors is how many vectors that embedders made of queries are kept,
	// for when they come again. Default none.
	QueryVectors int
	// Remotes are the hosts that queries may be sent to, by Upstream; nil: none.
	Remotes Remotes
	// RemoteTimeout bounds how long one of them has to answer; default 15 s.
	RemoteTimeout time.Duration
	// EmbedderPause is waited before an embedder is asked again, twice as long
	// each time; default 1 s.
	EmbedderPause time.Duration
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
	Bodies Bodies
	// IndexingMemory is what writing documents may take, in bytes, beyond what
	// the process has otherwise; see heapBound. Default 512 MiB.
	IndexingMemory int64
	// Running is how many searches run at once; default GOMAXPROCS. Waiting is
	// how many may wait for that, negative: none; default 1000.
	Running, Waiting int
	// Now is the clock for dates of indexes; default [time.Now].
	Now func() time.Time
	// Searched is told of every search of one index; default: nobody. It runs in
	// the search: be quick.
	Searched func(Searched)
}

// A Service holds all indexes. Safe for concurrent use.
type Service struct {
	opts    Options
	fuzzy   text.Speller
	columns *folder.ColumnCache
	queries *queryVectors
	gate    *gate
	spaces  *vector.Memory
	limits  *folder.Limits

	mu      sync.RWMutex
	indexes map[string]*index // by uid

	repairs sync.WaitGroup
	ctx     context.Context // of repairs
	stop    context.CancelFunc
}

// Open opens all indexes of o.DB. A bleve folder that is missing, damaged,
// stale or of another shape is built anew in the background; until then the
// old one answers where there is one.
func Open(o Options) (*Service, error) {
	o.RemoteTimeout = cmp.Or(o.RemoteTimeout, 15*time.Second)
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
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make index directory: %w", err)
	}
	if o.Searched == nil {
		o.Searched = func(Searched) {}
	}
	s := &Service{opts: o, columns: folder.NewColumnCache(folder.ColumnBytes), queries: newQueryVectors(o.QueryVectors), spaces: vector.NewMemory(o.DB, o.VectorMemory), gate: newGate(o.Running, max(o.Waiting, 0)), limits: folder.NewLimits(o.IndexingThreads, o.IndexingMemory), indexes: map[string]*index{}}
	var err error
	if s.fuzzy, err = text.NewSpeller(); err != nil {
		return nil, err
	}
	metas, err := o.DB.Metas()
	if err != nil {
		return nil, fmt.Errorf("read indexes: %w", err)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	var bad []*index
	for uid, b := range metas {
		m := new(meta)
		if err := json.Unmarshal(b, m); err != nil {
			return nil, errors.Join(fmt.Errorf("read index %q: %w", uid, err), s.Close())
		}
		if o.Sealer != nil && m.Settings.SealHeaders(o.Sealer) { // written by a build that did not seal them
			if err := o.DB.PutMeta(uid, m.encode()); err != nil {
				return nil, errors.Join(fmt.Errorf("seal headers of index %q: %w", uid, err), s.Close())
			}
		}
		if m.Vectors == nil { // written by a build that did not count them
			if err := s.recountVectors(s.ctx, m); err != nil {
				return nil, errors.Join(fmt.Errorf("read index %q: %w", uid, err), s.Close())
			}
		}
		ix := newIndex(s, m)
		s.indexes[uid] = ix
		if why := ix.openFolder(); why != nil {
			if !errors.Is(why, errFarBehind) {
				o.Log(fmt.Sprintf("index %q is built anew from its documents", uid), why)
			}
			bad = append(bad, ix)
		}
	}
	// Before anything is built, which it would take for something left behind.
	if err := s.sweep(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, ix := range bad {
		ix.startRepair(s.ctx, ix.state.Load().folder)
	}
	for _, ix := range s.indexes {
		ix.slim()
	}
	return s, nil
}

// sweep removes the folders and documents of indexes that are no more: what a
// crash left behind.
func (s *Service) sweep() error {
	folders := map[string]bool{}
	for _, ix := range s.indexes {
		folders[ix.meta().Folder] = true
	}
	entries, err := os.ReadDir(s.opts.Dir)
	if err != nil {
		return fmt.Errorf("list index folders: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !folders[e.Name()] {
			if err := os.RemoveAll(filepath.Join(s.opts.Dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove old index folder: %w", err)
			}
		}
	}
	return errors.Join(s.sweepVectors(), s.sweepDocuments())
}

// Close ends repairs and closes all folders once their readers are gone. Call
// it after the queue's Run has returned.
func (s *Service) Close() error {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.repairs.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, ix := range s.indexes {
		err = errors.Join(err, ix.close())
	}
	clear(s.indexes)
	return err
}

// index returns the index that caller may use, and the filter that holds for
// it. [apierr.IndexNotFound] is the same error whether uid does not exist or
// is not for the caller.
func (s *Service) index(caller *auth.Caller, uid string) (*index, *filter.Node, error) {
	rule, ok := caller.Index(uid)
	var ix *index
	if ok {
		s.mu.RLock()
		ix = s.indexes[uid]
		s.mu.RUnlock()
	}
	if ix == nil {
		return nil, nil, notFound(uid)
	}
	if len(rule) == 0 {
		return ix, nil, nil
	}
	n, err := filter.Parse(rule, s.contains(), nil)
	if err == nil && n == nil {
		err = errors.New("it is empty") // and would let everything through
	}
	if err != nil {
		// The token's author wrote it, not the caller: still the only one to
		// read the message is the caller's developer.
		return nil, nil, &apierr.Error{Code: filter.Refuse(err, apierr.InvalidSearchFilter).Code, Message: "The filter in the tenant token's searchRules is wrong: " + err.Error(), Err: err}
	}
	return ix, n, nil
}

// contains reports whether filters may have CONTAINS and STARTS WITH.
func (s *Service) contains() bool { return s.opts.Features().ContainsFilter }

func notFound(uid string) *apierr.Error {
	return apierr.Newf(apierr.IndexNotFound, "Index `%.400s` not found.", uid)
}
