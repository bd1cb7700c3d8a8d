package folder

import (
	"fmt"
	"testing"

	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/text"
	"github.com/parley-search/parley/host/internal/waittest"
)

// TestFewSegments wants what many batches leave to be merged until few segments are
// left, since each search pays for each of them.
func TestFewSegments(t *testing.T) {
	f, err := Create(t.TempDir(), &Schema{Analyzer: text.AnalyzerVersion, Layout: LayoutVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Remove() }()
	const batches = 24
	w := f.Writer([]string{"n"}, NewLimits(1, 64<<20))
	for i := range batches * BatchDocs {
		d := storage.Document{ID: fmt.Sprint(i), Seq: uint64(i + 1), Body: fmt.Appendf(nil, `{"n":"w%d"}`, i%100)}
		if err := w.Put(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(1); err != nil {
		t.Fatal(err)
	}
	// Those of up to 2,000 documents are of a size, and those of up to 20,000.
	waittest.For(t, "at most four segments", func() bool {
		v, err := f.View(NewColumnCache(ColumnBytes))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		return len(v.Segs) <= segmentsOfSize+1
	})
}
