package search_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/write"
)

// folder is the one folder below r's.
func (r *rig) folder() string {
	r.tb.Helper()
	list, err := filepath.Glob(filepath.Join(r.folders(), "*"))
	if err != nil || len(list) != 1 {
		r.tb.Fatalf("folders %v, %v; want one", list, err)
	}
	return list[0]
}

// TestRebuild damages a folder between two runs in many ways; the next run
// must answer as if nothing had been.
func TestRebuild(t *testing.T) {
	truncateAll := func(t *testing.T, dir, pattern string, to int64) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, f := range files {
			if err := os.Truncate(f, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	ways := map[string]func(t *testing.T, dir string){
		"untouched":      func(*testing.T, string) {},
		"gone":           func(t *testing.T, dir string) { mustDo(t, os.RemoveAll(dir)) },
		"emptied":        func(t *testing.T, dir string) { mustDo(t, os.RemoveAll(dir), os.Mkdir(dir, 0o700)) },
		"no meta":        func(t *testing.T, dir string) { mustDo(t, os.Remove(filepath.Join(dir, "index_meta.json"))) },
		"no store":       func(t *testing.T, dir string) { mustDo(t, os.RemoveAll(filepath.Join(dir, "store"))) },
		"segments short": func(t *testing.T, dir string) { truncateAll(t, dir, "store/*.zap", 100) },
		"segments empty": func(t *testing.T, dir string) { truncateAll(t, dir, "store/*.zap", 0) },
		"root empty":     func(t *testing.T, dir string) { truncateAll(t, dir, "store/root.bolt", 0) },
		"root short":     func(t *testing.T, dir string) { truncateAll(t, dir, "store/root.bolt", 5000) },
		"root noise": func(t *testing.T, dir string) {
			noise := []byte(strings.Repeat("noise", 20_000))
			mustDo(t, os.WriteFile(filepath.Join(dir, "store/root.bolt"), noise, 0o600))
		},
	}
	for name, damage := range ways {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.damaged = true
			r.settings("books", `{"filterableAttributes":["year"]}`)
			r.add("books", books)
			before := r.folder()
			r.close()
			damage(t, before)
			r.open()
			if got, want := r.ids("books", search.Query{Q: "darkness", Filter: filter("year > 1900")}), "1 4"; got != want {
				t.Errorf("found %q, want %q", got, want)
			}
			r.add("books", `{"id":8,"title":"Darkness at Noon","year":1940}`)
			if got, want := r.ids("books", search.Query{Q: "darkness", Filter: filter("year > 1900")}), "8 1 4"; got != want {
				t.Errorf("after another document found %q, want %q", got, want)
			}
			if got := r.folder(); name == "untouched" && got != before {
				t.Errorf("folder %s, want the untouched one, %s", got, before)
			}
		})
	}
}

func mustDo(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStaleFolder puts an older copy of a folder in place of the newer one.
func TestStaleFolder(t *testing.T) {
	r := newRig(t)
	r.damaged = true
	r.add("books", books)
	r.close()
	copied := filepath.Join(t.TempDir(), "copy")
	dir := r.folder()
	mustDo(t, os.CopyFS(copied, os.DirFS(dir)))
	r.open()
	for i := range 3 {
		r.add("books", fmt.Sprintf(`[{"id":1%d,"title":"Later %d"},{"id":%d,"title":"Changed"}]`, i, i, i+1))
	}
	r.close()
	mustDo(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(copied)))
	r.open()
	waittest.For(t, "10 11 12 are found as later, and 1 2 3 as changed", func() bool {
		return r.ids("books", search.Query{Q: "later"}) == "10 11 12" && r.ids("books", search.Query{Q: "changed"}) == "1 2 3"
	})
}

// TestSweep wants what a crash may leave behind to be gone after the next
// start.
func TestSweep(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	r.close()
	left := filepath.Join(r.folders(), "left-behind")
	mustDo(t, os.MkdirAll(filepath.Join(left, "store"), 0o700))
	db, err := store.Open(r.dir)
	mustDo(t, err, db.Write(storage.Change{Docs: "nobody", Put: []storage.Document{{ID: "1", Seq: 1, Body: []byte(`{}`)}}}), db.Close())
	r.open()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("folder of no index: %v, want it gone", err)
	}
	docs, err := r.store.Page("nobody", 0, 10)
	if err != nil || len(docs) != 0 {
		t.Errorf("documents of no index: %v, %v; want none", docs, err)
	}
	if n := len(r.all("books")); n != 7 {
		t.Errorf("%d documents of the index, want 7", n)
	}
}

func TestFolderInUse(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	if _, err := store.Open(r.dir); err == nil || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("second open: %v, want an error that names process %d", err, os.Getpid())
	}
}

// TestDamageWhileServing damages a folder under a service that has it open. It
// has one segment, so that bleve does not merge: a fault in a goroutine of
// bleve's own could not be caught.
func TestDamageWhileServing(t *testing.T) {
	r := newRig(t)
	r.damaged = true
	r.add("a", docsJSON(0, 300, func(i int) string { return fmt.Sprintf(`"x":"word%d common"`, i) }))
	files, err := filepath.Glob(filepath.Join(r.folder(), "store", "*.zap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("segments %v, %v", files, err)
	}
	for _, f := range files {
		mustDo(t, os.Truncate(f, 0))
	}
	refused := false
	waittest.For(t, "the damaged folder is built anew", func() bool {
		res, err := r.svc.Search(t.Context(), auth.Everyone(), "a", search.Query{Q: "common word7 "})
		if err == nil && len(res.Hits) > 0 && res.Hits[0].ID == "7" && res.EstimatedTotalHits == 300 {
			return true
		}
		if err != nil && !apierr.Is(err, indexerr.IndexNotReady) {
			t.Fatalf("search of a damaged folder: %v, %v", res, err)
		}
		if e := apierr.From(err); err != nil && (e.Code.Status() != http.StatusServiceUnavailable || e.RetryAfter <= 0 || !strings.Contains(e.Message, "Index `a` was found damaged")) {
			t.Fatalf("the search that met the damage: %d %v, retry after %v", e.Code.Status(), e, e.RetryAfter)
		}
		refused = refused || err != nil
		return false
	})
	if !refused {
		t.Error("no search was told that the folder is damaged")
	}
}

// TestFolderBehindOneTask puts a folder back as it was before the last task, as
// after a crash between the documents and the words: the outbox has what is
// missing, nothing is built anew.
func TestFolderBehindOneTask(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	r.close()
	copied := filepath.Join(t.TempDir(), "copy")
	dir := r.folder()
	mustDo(t, os.CopyFS(copied, os.DirFS(dir)))
	r.open()
	r.ok(write.AddDocuments("books", "", true, []byte(docsJSON(1, 1500, func(int) string { return `"note":"changed"` }))))
	r.close()
	mustDo(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(copied)))
	r.open()
	if n := r.search("books", search.Query{Q: "changed"}).EstimatedTotalHits; n != 1500 {
		t.Errorf("found %d documents, want 1500", n)
	}
	if got, want := r.ids("books", search.Query{Q: "changed earthsea", MatchingStrategy: settings.All}), "2"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := r.folder(); got != dir {
		t.Errorf("folder %s, want the one from before, %s", got, dir)
	}
}
