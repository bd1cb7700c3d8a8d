package search_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/write"
)

// hammerEnv is how long TestHammerSearchersAndWriter runs; default 2 s.
const hammerEnv = "PARLEY_TEST_HAMMER"

// TestHammerSearchersAndWriter has four searchers and one writer, which adds,
// updates, deletes, replaces whole bodies and changes settings. What the writer
// leaves alone is found by every search; at the end all agrees.
func TestHammerSearchersAndWriter(t *testing.T) {
	long := 2 * time.Second
	if v := os.Getenv(hammerEnv); v != "" {
		var err error
		if long, err = time.ParseDuration(v); err != nil {
			t.Fatalf("%s: %v", hammerEnv, err)
		}
	}
	r := newSmallRig(t)
	r.settings("a", `{"filterableAttributes":["kind"]}`)
	r.add("a", docsJSON(0, 100, func(i int) string { return fmt.Sprintf(`"text":"steady word%d","kind":"steady"`, i) }))
	var stop atomic.Bool
	var searches atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; !stop.Load(); i++ {
				res, err := r.svc.Search(t.Context(), auth.Everyone(), "a", search.Query{Q: "steady", Filter: filter("kind = steady"), Limit: limit(200)})
				if err != nil || len(res.Hits) != 100 {
					t.Errorf("search %d: %v", i, err)
					return
				}
				if _, err := listDocuments(r.svc, t.Context(), auth.Everyone(), "a", search.DocumentsQuery{Offset: i % 300}); err != nil {
					t.Errorf("list %d: %v", i, err)
					return
				}
				searches.Add(1)
			}
		})
	}
	rounds, passing := 0, map[int]bool{}
	for deadline := time.Now().Add(long); time.Now().Before(deadline) && !t.Failed(); rounds++ {
		first := 1000 + 50*(rounds%20)
		r.add("a", docsJSON(first, 50, func(int) string { return fmt.Sprintf(`"text":"passing","kind":"passing","n":%d`, rounds) }))
		for id := first; id < first+50; id++ {
			passing[id] = true
		}
		switch rounds % 5 {
		case 1:
			r.ok(write.DeleteDocuments("a", []string{fmt.Sprint(first)}))
			delete(passing, first)
		case 2:
			r.settings("a", fmt.Sprintf(`{"filterableAttributes":["kind","extra%d"]}`, rounds))
		case 3:
			body := docsJSON(5000, 400, func(int) string { return `"kind":"large","pad":"` + strings.Repeat("x ", 500) + `"` })
			r.ok(r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON, Partial: true}, strings.NewReader(body)))
			r.ok(r.svc.DeleteByFilter("a", filter("kind = large")))
		}
	}
	stop.Store(true)
	wg.Wait()
	if got := r.search("a", search.Query{Q: "passing", Limit: limit(1)}).EstimatedTotalHits; got != len(passing) || r.count("a") != 100+len(passing) {
		t.Errorf("%d documents of the writer are found, %d counted in all; want %d and %d", got, r.count("a"), len(passing), 100+len(passing))
	}
	t.Logf("%d rounds of the writer, %d searches in %v", rounds, searches.Load(), long)
}
