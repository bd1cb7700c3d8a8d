package search_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

func swap(rename bool, uids ...string) (task.New, error) {
	var list []write.Swap
	for i := 0; i < len(uids); i += 2 {
		list = append(list, write.Swap{Indexes: [2]string{uids[i], uids[i+1]}, Rename: rename})
	}
	return write.SwapIndexes(list)
}

func TestSwap(t *testing.T) {
	r := newRig(t)
	for _, uid := range []string{"a", "b", "c", "d"} {
		r.add(uid, `{"id":1,"is":"`+uid+`"}`)
	}
	holds := func(uid, want string) {
		t.Helper()
		if got := fmt.Sprintf("%s", r.all(uid)); got != `[{"id":1,"is":"`+want+`"}]` {
			t.Errorf("index %s holds %s, want what was %s", uid, got, want)
		}
		if got := r.ids(uid, search.Query{Q: want}); got != "1" {
			t.Errorf("index %s: search for %s found %q", uid, want, got)
		}
		info, err := r.svc.Index(auth.Everyone(), uid)
		if err != nil || info.UID != uid {
			t.Errorf("index %s says it is %s, %v", uid, info.UID, err)
		}
	}
	done := r.ok(swap(false, "a", "b", "d", "c"))
	if got := string(done.Details); got != `{"swaps":[{"indexes":["a","b"],"rename":false},{"indexes":["d","c"],"rename":false}]}` {
		t.Errorf("details %s", got)
	}
	for uid, was := range map[string]string{"a": "b", "b": "a", "c": "d", "d": "c"} {
		holds(uid, was)
	}
	r.ok(swap(true, "a", "new"))
	holds("new", "b")
	r.ok(write.UpdateIndex("new", "", "newer"))
	holds("newer", "b")
	if done := r.run(write.UpdateIndex("newer", "", "c")); done.Error == nil || done.Error.Code != indexerr.IndexAlreadyExists.String() {
		t.Errorf("a rename to the name of another index: %+v", done.Error)
	}
	r.ok(write.UpdateIndex("newer", "", "newer")) // its own name
	r.ok(write.UpdateIndex("newer", "", "new"))
	if _, err := r.svc.Index(auth.Everyone(), "a"); !apierr.Is(err, indexerr.IndexNotFound) {
		t.Errorf("the old name of a renamed index: %v", err)
	}
	for name, tt := range map[string]struct {
		work func() (task.New, error)
		code string
	}{
		"absent":           {func() (task.New, error) { return swap(false, "b", "c", "d", "nope") }, "index_not_found"},
		"renamed to one":   {func() (task.New, error) { return swap(true, "b", "c") }, "index_already_exists"},
		"renamed from one": {func() (task.New, error) { return swap(true, "nope", "x") }, "index_not_found"},
	} {
		if got := r.run(tt.work()); got.Error == nil || got.Error.Code != tt.code {
			t.Errorf("%s: error %+v, want %s", name, got.Error, tt.code)
		}
	}
	r.reopen()
	for uid, was := range map[string]string{"new": "b", "b": "a", "c": "d", "d": "c"} {
		holds(uid, was)
	}
	r.add("b", `{"id":2,"is":"more"}`)
	if n := r.count("b"); n != 2 {
		t.Errorf("%d documents after one was added to a swapped index, want 2", n)
	}
	_, err := swap(false, "a", "b", "c", "a")
	wantCode(t, "index twice", err, indexerr.InvalidSwapDuplicateIndexFound)
	_, err = swap(false, "a", "b c")
	wantCode(t, "bad uid", err, indexerr.InvalidSwapIndexes)
}

// TestHammerSwap searches two indexes while they are swapped: each answer is
// of one of them, whole, and none is missing.
func TestHammerSwap(t *testing.T) {
	r := newRig(t)
	for _, uid := range []string{"a", "b"} {
		r.add(uid, docsJSON(0, 20, func(int) string { return `"is":"word ` + uid + `"` }))
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				for _, uid := range []string{"a", "b"} {
					res, err := r.svc.Search(t.Context(), auth.Everyone(), uid, search.Query{Q: "word"})
					if err != nil || len(res.Hits) != 20 {
						t.Errorf("search of %s while swapping: %v", uid, err)
						return
					}
				}
			}
		})
	}
	for range 30 {
		r.ok(swap(false, "a", "b"))
	}
	stop.Store(true)
	wg.Wait()
}

func TestDocumentsChosen(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["n"],"sortableAttributes":["n","t","_geo"]}`)
	r.add("a", `[{"id":1,"n":5,"t":"b"},{"id":2,"n":[9,1],"t":"A"},{"id":3,"n":"x"},{"id":4,"_geo":{"lat":1,"lng":1}},{"id":5,"n":5,"_geo":{"lat":50,"lng":1}}]`)
	tests := []struct {
		name  string
		q     search.DocumentsQuery
		want  string
		total int
	}{
		{"ids", search.DocumentsQuery{IDs: []string{"3", "1", "9", "3"}}, "1 3", 2},
		{"no ids", search.DocumentsQuery{IDs: []string{}}, "", 0},
		{"ids and filter", search.DocumentsQuery{IDs: []string{"3", "1"}, Filter: filter("n = 5")}, "1", 1},
		{"up", search.DocumentsQuery{Sort: []string{"n:asc"}}, "2 1 5 3 4", 5},
		{"down", search.DocumentsQuery{Sort: []string{"n:desc"}}, "2 1 5 3 4", 5},
		{"two", search.DocumentsQuery{Sort: []string{"n:desc", "t:asc"}, Filter: filter("n = 5")}, "1 5", 2},
		{"texts", search.DocumentsQuery{Sort: []string{"t:asc"}, Limit: limit(2)}, "2 1", 5},
		{"place", search.DocumentsQuery{Sort: []string{"_geoPoint(49, 1):asc"}, Limit: limit(3)}, "5 4 1", 5},
		{"page", search.DocumentsQuery{Sort: []string{"n:asc"}, Offset: 3, Limit: limit(1)}, "3", 5},
		{"behind the end", search.DocumentsQuery{Sort: []string{"n:asc"}, Offset: 30}, "", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.q.Fields = []string{"id"}
			p, err := listDocuments(r.svc, t.Context(), auth.Everyone(), "a", tt.q)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i, d := range p.Documents {
				got += " "[:min(i, 1)] + string(d[len(`{"id":`):len(d)-1])
			}
			if got != tt.want || p.Total != tt.total {
				t.Errorf("documents %q of %d, want %q of %d", got, p.Total, tt.want, tt.total)
			}
		})
	}
	for _, bad := range []string{"n", "n:up", "id:asc", "_geoPoint(1):asc"} {
		_, err := listDocuments(r.svc, t.Context(), auth.Everyone(), "a", search.DocumentsQuery{Sort: []string{bad}})
		wantCode(t, bad, err, indexerr.InvalidDocumentSort)
	}
}
