package search_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// TestLateBatches: where each batch is late at once, it ends behind its first task, and the
// others are applied all the same, in their order.
func TestLateBatches(t *testing.T) {
	r := newRig(t)
	r.close()
	r.batchTime = time.Nanosecond
	r.open()
	bodies := []string{`[{"id":1,"n":1},{"id":2,"n":1}]`, `[{"id":1,"n":2}]`, `[{"id":3,"n":3}]`, "", `[{"id":1,"n":4}]`, `[{"id":4,"n":1}]`}
	var uids []uint32
	for _, body := range bodies {
		n, err := write.AddDocuments("a", "id", false, []byte(body))
		if body == "" {
			n, err = write.DeleteDocuments("a", []string{"2"})
		}
		if err != nil {
			t.Fatal(err)
		}
		sum, err := r.queue.Enqueue(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		uids = append(uids, sum.TaskUID)
	}
	seen := map[uint32]bool{}
	for _, uid := range uids {
		got, err := r.queue.Wait(t.Context(), uid)
		if err != nil || got.Status != task.Succeeded || seen[*got.BatchUID] {
			t.Errorf("task %d: %+v, %v; want it to succeed in a batch of its own", uid, got, err)
			continue
		}
		seen[*got.BatchUID] = true
	}
	out := ""
	for _, h := range r.search("a", search.Query{}).Hits {
		out += string(h.Document)
	}
	if want := `{"id":1,"n":4}{"id":3,"n":3}{"id":4,"n":1}`; out != want {
		t.Errorf("documents %s, want %s", out, want)
	}
	if n := r.queue.Pending(); n != 0 {
		t.Error(fmt.Sprint(n, " tasks are left, want none"))
	}
}
