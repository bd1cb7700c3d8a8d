package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/write"
)

// TestHammerReadersAndWriter searches from many goroutines while documents are
// written and settings make new folders. A search must find what it is bound
// to find, at any time.
func TestHammerReadersAndWriter(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["group"],"sortableAttributes":["text"]}`)
	r.add("a", docsJSON(0, 200, func(i int) string { return fmt.Sprintf(`"text":"steady number%d","group":%d`, i, i%2) }))
	var stop atomic.Bool
	var searches atomic.Int64
	var wg sync.WaitGroup
	ctx := t.Context()
	for g := range max(2*runtime.GOMAXPROCS(0), 4) {
		wg.Go(func() {
			for i := g; !stop.Load(); i++ {
				res, err := r.svc.Search(ctx, auth.Everyone(), "a", search.Query{
					Q: "steady", Filter: filter(fmt.Sprintf("group = %d", i%2)), Limit: limit(200),
					Facets: []string{"group"}, Sort: []string{"text:desc"}, Format: highlight.Format{Highlight: []string{"*"}},
				})
				if err != nil {
					t.Error(err)
					return
				}
				if res.EstimatedTotalHits != 100 || len(res.Hits) != 100 {
					t.Errorf("search found %d, returned %d; want 100", res.EstimatedTotalHits, len(res.Hits))
					return
				}
				if got, want := facetText(res.Facets), fmt.Sprintf("group: %d=100 [%d %d]", i%2, i%2, i%2); got != want {
					t.Errorf("facets %s, want %s", got, want)
					return
				}
				if _, err := r.svc.ChatIndexes(ctx, auth.Everyone(), nil); err != nil {
					t.Error(err)
					return
				}
				searches.Add(1)
			}
		})
	}
	rounds := 6 // once each change
	if os.Getenv("LONG") != "" {
		rounds = 30
	}
	for i := range rounds {
		r.add("a", docsJSON(1000+10*i, 10, func(i int) string { return `"text":"passing","group":7` }))
		switch i % 6 {
		case 2:
			r.settings("a", fmt.Sprintf(`{"filterableAttributes":["group","extra%d"]}`, i))
		case 4:
			r.settings("a", `{"searchableAttributes":["text"],"displayedAttributes":["id","group"]}`)
		case 5:
			r.ok(write.DeleteDocuments("a", []string{"1000", fmt.Sprint(1000 + 10*i)}))
			r.settings("a", `{"searchableAttributes":null,"displayedAttributes":null}`)
		}
	}
	stop.Store(true)
	wg.Wait()
	if searches.Load() < 10 {
		t.Errorf("only %d searches ran", searches.Load())
	}
	r.folder() // one is left
}

// TestHammerCloseLeavesNothing opens and closes services that are searched, and
// wants every goroutine gone.
func TestHammerCloseLeavesNothing(t *testing.T) {
	warm := newRig(t) // what bleve starts once for the process
	warm.add("a", `{"id":1,"x":"y"}`)
	warm.close()
	before := runtime.NumGoroutine()
	for range 5 {
		r := newRig(t)
		r.add("a", docsJSON(0, 50, func(i int) string { return `"x":"word"` }))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Q: "word"})
					if apierr.Is(err, indexerr.IndexNotFound) {
						return // closed
					}
					if err != nil {
						if !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "closed") {
							t.Errorf("search while closing: %v", err)
						}
						return
					}
				}
			})
		}
		r.close()
		wg.Wait()
	}
	if !waittest.Until(func() bool { return runtime.NumGoroutine() <= before }) {
		n := runtime.NumGoroutine()
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", n, before, buf[:runtime.Stack(buf, true)])
	}
}
