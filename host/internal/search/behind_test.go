package search_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/search"
)

// TestFarBehind opens an index whose folder lacks a large task, as after a
// crash in the middle of it: what the folder has is found at once, the rest
// soon, in the same folder.
func TestFarBehind(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1,"x":"first"}`)
	r.close()
	saved := filepath.Join(t.TempDir(), "saved")
	if err := os.CopyFS(saved, os.DirFS(r.folders())); err != nil {
		t.Fatal(err)
	}
	r.open()
	const n = 3000
	r.add("a", docsJSON(10, n, func(i int) string { return fmt.Sprintf(`"x":"later word%d"`, i) }))
	r.close()
	if err := errors.Join(os.RemoveAll(r.folders()), os.CopyFS(r.folders(), os.DirFS(saved))); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(r.folders())
	if err != nil || len(before) != 1 {
		t.Fatalf("folders: %v, %v", before, err)
	}
	r.open()
	if got := r.ids("a", search.Query{Q: "first"}); got != "1" {
		t.Errorf("at once the search for what the folder has found %q", got)
	}
	waittest.For(t, fmt.Sprintf("%d documents are found", n), func() bool {
		return r.search("a", search.Query{Q: "later", Limit: limit(1)}).EstimatedTotalHits == n
	})
	r.add("a", `{"id":9,"x":"last"}`)
	if got := r.ids("a", search.Query{Q: "last"}); got != "9" {
		t.Errorf("the search for what was added then found %q", got)
	}
	after, err := os.ReadDir(r.folders())
	if err != nil || len(after) != 1 || after[0].Name() != before[0].Name() {
		t.Errorf("folders after it: %v, %v; want the one before, %v", after, err, before)
	}
}
