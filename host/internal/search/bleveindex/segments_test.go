package bleveindex

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/text"
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
	waittest.For(t, "at most four segments", func() bool { return segmentsOf(t, f) <= segmentsOfSize+1 })
}

// segmentsOf is how many segments f has.
func segmentsOf(t *testing.T, f *Folder) int {
	t.Helper()
	v, err := f.View(NewColumnCache(ColumnBytes))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	return len(v.Segs)
}

// TestUnite wants one segment, in one file, of a folder of which half was written since
// the last time, deleted documents left out, and what else is written to be left to
// bleve's plan.
func TestUnite(t *testing.T) {
	f, err := Create(t.TempDir(), &Schema{Analyzer: text.AnalyzerVersion, Layout: LayoutVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Remove() }()
	from := 0
	for _, step := range []struct {
		name      string
		write     int
		segments  int // afterwards
		documents int
	}{
		{"all of it", 4 * BatchDocs, 1, 4000},
		{"a quarter", BatchDocs, 2, 5000},
		{"half", 3 * BatchDocs, 1, 8000},
		{"half, documents that are there", -4 * BatchDocs, 1, 8000},
		{"a few", 10, 2, 8010},
	} {
		w := f.Writer([]string{"n"}, NewLimits(1, 64<<20))
		if step.write < 0 { // those of before
			from += step.write
			step.write = -step.write
		}
		for range step.write {
			from++
			if err := w.Put(storage.Document{ID: fmt.Sprint(from), Seq: uint64(from), Body: fmt.Appendf(nil, `{"n":"w%d"}`, from%100)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(1); err != nil {
			t.Fatal(err)
		}
		if err := f.Unite(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := segmentsOf(t, f); got != step.segments {
			t.Errorf("%s is written: %d segments, want %d", step.name, got, step.segments)
		}
		waittest.For(t, "the files that were merged deleted", func() bool {
			files, err := filepath.Glob(filepath.Join(f.dir, "store", "*.zap"))
			return err == nil && len(files) == step.segments
		})
		if got, err := f.idx.DocCount(); err != nil || got != uint64(step.documents) {
			t.Errorf("%s is written: %d documents, %v; want %d", step.name, got, err, step.documents)
		}
	}
}

// TestUniteBeside unites segments while a writer goes on, and wants all that it wrote.
func TestUniteBeside(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(dir, &Schema{Analyzer: text.AnalyzerVersion, Layout: LayoutVersion})
	if err != nil {
		t.Fatal(err)
	}
	write := func(from, n int, next uint32) {
		w := f.Writer([]string{"n"}, NewLimits(1, 64<<20))
		for i := from; i < from+n; i++ {
			if err := w.Put(storage.Document{ID: fmt.Sprint(i), Seq: uint64(i + 1), Body: fmt.Appendf(nil, `{"n":"w%d"}`, i%100)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(next); err != nil {
			t.Fatal(err)
		}
	}
	write(0, 6*BatchDocs, 1)
	united := make(chan error, 1)
	go func() { united <- f.Unite(t.Context()) }()
	documents, next := 6*BatchDocs, uint32(1)
	for merged := false; !merged; {
		select {
		case err := <-united:
			if err != nil {
				t.Fatal(err)
			}
			merged = true
		default:
		}
		next++
		write(documents, 10, next)
		documents += 10
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(filepath.Join(dir, f.Name())); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Remove() }()
	if got, err := f.idx.DocCount(); err != nil || got != uint64(documents) || f.Next.Load() != next {
		t.Errorf("%d documents, next %d, %v; want %d, %d", got, f.Next.Load(), err, documents, next)
	}
}
