package search_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// TestFoldersGone takes the directory of the folders away, as a disk that is
// read-only or gone would: what needs a new folder waits in the queue, searches
// go on, and all is done once the directory is back.
func TestFoldersGone(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1,"x":"one"}`)
	away := filepath.Join(r.dir, "away")
	if err := errors.Join(os.Rename(r.folders(), away), os.WriteFile(r.folders(), nil, 0o600)); err != nil {
		t.Fatal(err) // a file in its place: it cannot be made again
	}
	n, err := write.AddDocuments("b", "", false, []byte(`{"id":1,"x":"two"}`))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := r.queue.Enqueue(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	// Its end would wake who waits for it.
	for range 20 {
		got, err := r.queue.Task(t.Context(), sum.TaskUID, nil)
		if err != nil || got.Finished() {
			t.Fatalf("the task without a directory: %s, %v; want it to wait", got.Status, err)
		}
		time.Sleep(5 * time.Millisecond)
		if got := r.ids("a", search.Query{Q: "one"}); got != "1" {
			t.Fatalf("search without the directory found %q", got)
		}
	}
	if r.queue.Pending() != 1 {
		t.Errorf("%d tasks pending, want 1", r.queue.Pending())
	}
	if err := errors.Join(os.Remove(r.folders()), os.Rename(away, r.folders())); err != nil {
		t.Fatal(err)
	}
	if got, err := r.queue.Wait(t.Context(), sum.TaskUID); err != nil || got.Status != task.Succeeded {
		t.Errorf("the task with the directory back: %+v, %v", got, err)
	}
	if got := r.ids("b", search.Query{Q: "two"}); got != "1" {
		t.Errorf("search for it found %q", got)
	}
}

// TestBodiesGone: an upload that cannot be kept fails at once, with nothing
// accepted.
func TestBodiesGone(t *testing.T) {
	r := newRig(t)
	bodies := filepath.Join(r.dir, "bodies")
	if err := os.Rename(bodies, bodies+"-away"); err != nil {
		t.Fatal(err)
	}
	body := docsJSON(0, 2000, func(int) string { return `"x":"` + strings.Repeat("x", 200) + `"` })
	if _, err := r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, strings.NewReader(body)); err == nil || !strings.Contains(err.Error(), "body") {
		t.Errorf("an upload without a directory for it: %v", err)
	}
	r.ok(r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, strings.NewReader(`{"id":1}`))) // small ones need none
	if err := os.Rename(bodies+"-away", bodies); err != nil {
		t.Fatal(err)
	}
	r.ok(r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, strings.NewReader(body)))
}
