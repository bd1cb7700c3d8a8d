package search_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// A rig is a service on a directory, with its store and queue.
type rig struct {
	sealer   settings.Sealer
	tb       testing.TB
	dir      string
	store    *store.Store
	svc      *search.Service
	queue    *task.Queue
	stop     func()
	upstream outbound.Sender
	// vectorMemory is that of the service's options.
	vectorMemory int64
	queryVectors int
	openFolders  int                        // see search.Options
	descriptors  func() (used, most uint64) // see search.Options
	plain        bool                       // without features; set while the rig is closed
	// damaged: folders are built anew in this test, as they should. In all
	// others that would hide a mistake.
	damaged bool
	memory  int64 // see search.Options
	// maxCrashes is that of the queue's options: tests that kill again and again
	// let none fail for it.
	maxCrashes int
	failed     func(error) // see task.Options
	batchTime  time.Duration
	// running and waiting bound the searches; 0: as by default.
	running, waiting int
	cutoff           time.Duration // see search.Options; 0: a minute
	shared           *sharedRig    // on a node of a cluster; nil: a host alone
	// wrapNotes returns what a node has for its notes; nil: the store.
	wrapNotes func(*store.Store) index.Notes
	// wrap returns what the service has for a database; nil: the store.
	wrap func(*store.Store) storage.DB
}

// newRig opens a service in an empty directory that goes with the test.
func newRig(tb testing.TB) *rig {
	tb.Helper()
	up := upstream.New(upstream.Options{Private: upstream.AnyPrivate()})
	tb.Cleanup(func() { _ = up.Close() })
	r := &rig{tb: tb, dir: tb.TempDir(), upstream: up}
	r.open()
	tb.Cleanup(r.close)
	return r
}

func (r *rig) open() {
	r.tb.Helper()
	if err := r.tryOpen(); err != nil {
		r.tb.Fatal(err)
	}
}

func (r *rig) tryOpen() (err error) {
	if r.shared != nil {
		if err := r.openShared(); err != nil {
			return err
		}
	} else if r.store, err = store.Open(r.dir); err != nil {
		return err
	}
	sealer, err := store.OpenSealer(r.dir, nil)
	if err != nil {
		return err
	}
	r.sealer = sealer
	var db storage.DB = r.store
	if r.wrap != nil {
		db = r.wrap(r.store)
	}
	if r.svc, err = search.Open(search.Options{Notes: r.notes(), Dir: r.folders(), DB: db, Sealer: sealer, Bodies: r.store, IndexingMemory: r.memory, IndexingThreads: 3, OpenFolders: r.openFolders, Descriptors: r.descriptors, Upstream: r.upstream, Plugins: chat.Embedders{Sources: embedSources()}, EmbedderPause: time.Millisecond, VectorMemory: r.vectorMemory, QueryVectors: r.queryVectors, Features: func() feature.Set {
		return feature.Set{ChatCompletions: true, ContainsFilter: !r.plain, CompositeEmbedders: !r.plain, Multimodal: !r.plain}
	}, Cutoff: cmp.Or(r.cutoff, time.Minute), Log: r.log, Running: r.running, Waiting: r.waiting}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	if r.shared != nil {
		r.shared.run(ctx)
	}
	if r.shared != nil && !r.shared.leads {
		r.stop = func() { cancel(); r.shared.running.Wait() }
		return nil
	}
	if r.queue, err = task.Open(ctx, r.store, r.svc, task.Options{Retry: time.Millisecond, Failed: r.failed, MaxCrashes: r.maxCrashes, BatchTime: r.batchTime}); err != nil {
		cancel()
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.queue.Run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-done
		if r.shared != nil {
			r.shared.running.Wait()
		}
	}
	return nil
}

// federate answers several queries from the indexes of r.
func (r *rig) federate() *federate.Service {
	return federate.New(federate.Options{Indexes: r.svc})
}

// log shows what the service tells nobody else.
func (r *rig) log(message string, err error) {
	switch {
	case r.tb == nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", message, err)
	case !r.damaged:
		r.tb.Errorf("%s: %v", message, err)
	}
}

func (r *rig) folders() string { return filepath.Join(r.dir, "indexes") }

func (r *rig) close() {
	r.tb.Helper()
	if r.stop == nil {
		return
	}
	r.stop()
	r.stop = nil
	if err := errors.Join(r.svc.Close(), r.store.Close()); err != nil {
		r.tb.Error(err)
	}
}

func (r *rig) reopen() {
	r.tb.Helper()
	r.close()
	r.open()
}

// run enqueues what a function of tasks.go made and waits for its end.
func (r *rig) run(n task.New, err error) task.Task {
	r.tb.Helper()
	if err != nil {
		r.tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sum, err := r.queue.Enqueue(ctx, n)
	if err != nil {
		r.tb.Fatal(err)
	}
	t, err := r.queue.Wait(ctx, sum.TaskUID)
	if err != nil {
		r.tb.Fatal(err)
	}
	return t
}

// ok is run for a task that must succeed.
func (r *rig) ok(n task.New, err error) task.Task {
	r.tb.Helper()
	t := r.run(n, err)
	if t.Status != task.Succeeded {
		r.tb.Fatalf("task %d of type %s: status %s, error %+v; want succeeded", t.UID, t.Type, t.Status, t.Error)
	}
	return t
}

// add puts documents, given as JSON, into an index.
func (r *rig) add(uid, body string) {
	r.tb.Helper()
	r.ok(write.AddDocuments(uid, "", false, []byte(body)))
}

// settings patches the settings of an index.
func (r *rig) settings(uid, body string) {
	r.tb.Helper()
	r.ok(r.svc.UpdateSettings(uid, []byte(body)))
}

// search runs a query as a caller that may do all.
func (r *rig) search(uid string, q search.Query) *search.Result {
	r.tb.Helper()
	res, err := r.svc.Search(context.Background(), auth.Everyone(), uid, q)
	if err != nil {
		r.tb.Fatal(err)
	}
	return res
}

// ids returns the ids that a query finds, with spaces between.
func (r *rig) ids(uid string, q search.Query) string {
	r.tb.Helper()
	var ids []string
	for _, h := range r.search(uid, q).Hits {
		ids = append(ids, h.ID)
	}
	return strings.Join(ids, " ")
}

// filter makes the JSON of a filter that is one string.
func filter(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

func limit(n int) *int { return &n }

// wantCode checks the code of an error.
func wantCode(tb testing.TB, what string, err error, want apierr.Code) {
	tb.Helper()
	if got := apierr.From(err); got == nil || got.Code != want {
		tb.Errorf("%s: error %v, want code %s", what, err, want)
	}
}

// movies is the quickstart's sample.
func movies(tb testing.TB) []byte {
	tb.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, e := os.Stat(filepath.Join(dir, "go.mod")); e == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			err = errors.New("no go.mod above the test")
		}
		dir = up
	}
	if err != nil {
		tb.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "examples", "quickstart", "movies.json"))
	if err != nil {
		tb.Fatalf("read the sample: %v", err)
	}
	return b
}

// docsJSON makes n documents with ids from first.
func docsJSON(first, n int, body func(i int) string) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, "%c{\"id\":%d,%s}", "[,"[min(i-first, 1)], i, body(i))
	}
	return b.String() + "]"
}
