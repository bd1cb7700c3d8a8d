package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/task"
)

func inMemory(t *testing.T) *Store {
	t.Helper()
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func documents(n int) []storage.Document {
	var out []storage.Document
	for i := range n {
		out = append(out, storage.Document{ID: fmt.Sprintf("id%03d", i), Seq: uint64(i + 1), Body: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	return out
}

func TestWriteIsReadBack(t *testing.T) {
	s := inMemory(t)
	docs := documents(5)
	must(t, s.Write(storage.Change{IndexUID: "a", Meta: []byte("m1"), Docs: "x", Task: 7, Put: docs, Outcomes: map[uint32][]byte{7: []byte("o")}}))
	must(t, s.Write(storage.Change{Docs: "xy", Put: docs[:1]})) // a neighbour whose name begins alike
	must(t, s.Write(storage.Change{IndexUID: "a", Docs: "x", Task: 8, Delete: []string{"id001", "nope"}}))

	metas, err := s.Metas()
	if err != nil || len(metas) != 1 || string(metas["a"]) != "m1" {
		t.Errorf("Metas = %q, %v", metas, err)
	}
	got, err := s.Documents("x", []string{"id004", "id001", "id000"})
	if err != nil || got[0].Seq != 5 || string(got[0].Body) != `{"n":4}` || got[1].Seq != 0 || got[2].ID != "id000" {
		t.Errorf("Documents = %+v, %v", got, err)
	}
	var seen []string
	must(t, s.Scan(t.Context(), "x", func(d storage.Document) error {
		seen = append(seen, fmt.Sprint(d.ID, d.Seq, string(d.Body)))
		return nil
	}))
	if want := `[id0001{"n":0} id0023{"n":2} id0034{"n":3} id0045{"n":4}]`; fmt.Sprint(seen) != want {
		t.Errorf("Scan gave %v, want %s", seen, want)
	}
	page, err := s.Page("x", 1, 2)
	if err != nil || len(page) != 2 || page[0].ID != "id002" || page[1].ID != "id003" {
		t.Errorf("Page = %+v, %v", page, err)
	}
	if o, err := s.Outcome(7); err != nil || string(o) != "o" {
		t.Errorf("Outcome = %q, %v", o, err)
	}
	if o, err := s.Outcome(8); err != nil || o != nil {
		t.Errorf("Outcome of a task without one = %q, %v", o, err)
	}
	stop := errors.New("enough")
	if err := s.Scan(t.Context(), "x", func(storage.Document) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Scan that is stopped: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Scan(ctx, "x", func(storage.Document) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Scan that is canceled: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOutboxIsPruned(t *testing.T) {
	s := inMemory(t)
	notes := func() string {
		var out []string
		must(t, s.Outbox("x", func(task uint32, ids []string) error {
			out = append(out, fmt.Sprint(task, ids))
			return nil
		}))
		return strings.Join(out, " ")
	}
	d := documents(4)
	must(t, s.Write(storage.Change{Docs: "x", Task: 3, Put: d[:2], Delete: []string{"gone"}}))
	must(t, s.Write(storage.Change{Docs: "x", Task: 3, Part: 1, Put: d[2:3]}))
	must(t, s.Write(storage.Change{Docs: "x", Task: 300, Put: d[3:]}))
	must(t, s.Write(storage.Change{Docs: "y", Task: 1, Put: d[3:]}))
	if got, want := notes(), "3 [id000 id001 gone] 3 [id002] 300 [id003]"; got != want {
		t.Errorf("outbox %s, want %s", got, want)
	}
	must(t, s.Write(storage.Change{Docs: "x", Task: 301, Prune: 300}))
	if got, want := notes(), "300 [id003]"; got != want {
		t.Errorf("outbox after pruning %s, want %s", got, want)
	}
}

func TestSweepKeepsWhatIsKnown(t *testing.T) {
	s := inMemory(t)
	for _, docs := range []string{"a", "ab", "b", "c"} {
		must(t, s.Write(storage.Change{Docs: docs, Task: 1, Put: documents(300)}))
	}
	known := map[string]bool{"ab": true, "c": true}
	must(t, s.Sweep(func(docs string) bool { return known[docs] }))
	left := map[string]int{}
	must(t, s.db.View(func(tx *badger.Txn) error {
		for _, prefix := range []string{prefixDocument, prefixOutbox} {
			err := eachKey(tx, []byte(prefix), func(item *badger.Item) error {
				left[strings.SplitN(string(item.Key()), "/", 3)[1]]++
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	if got := slices.Sorted(maps.Keys(left)); fmt.Sprint(got) != "[ab c]" || left["ab"] != 301 {
		t.Errorf("left are %v", left)
	}
}

func TestChangeTooBig(t *testing.T) {
	s := inMemory(t)
	big := documents(40)
	for i := range big {
		big[i].Body = make([]byte, 200_000)
	}
	if err := s.Write(storage.Change{Docs: "x", Put: big}); !errors.Is(err, storage.ErrTooBig) {
		t.Errorf("Write of 8 MB: %v, want ErrTooBig", err)
	}
	if docs, err := s.Page("x", 0, 10); err != nil || len(docs) != 0 {
		t.Errorf("after it there are %d documents, %v; want none", len(docs), err)
	}
}

// TestTasksSurvive opens a database again and wants the tasks there, and the
// payloads of those alone that are not finished; large ones too.
func TestTasksSurvive(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	must(t, err)
	large := strings.Repeat("payload", 1<<20)
	for i := range uint32(300) {
		payload := "p"
		if i == 299 {
			payload = large
		}
		must(t, s.AppendTask(t.Context(), task.Task{UID: i, Type: task.IndexCreation, Status: task.Enqueued, Details: []byte("{}")}, []byte(payload)))
	}
	finished := []task.Task{{UID: 0, Status: task.Succeeded, Details: []byte("{}")}, {UID: 1, Status: task.Failed, Details: []byte("{}"), Error: &task.Error{Code: "c"}}}
	must(t, s.Write(storage.Change{Docs: "x", Outcomes: map[uint32][]byte{1: []byte("o")}}))
	must(t, s.PutTasks(t.Context(), finished, nil))
	must(t, s.Close())
	s, err = Open(dir)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	newest, total, err := s.FindTasks(t.Context(), &task.Filter{Limit: task.Everything})
	must(t, err)
	if len(newest) != 300 || total != 300 || newest[0] != 299 || newest[299] != 0 {
		t.Errorf("FindTasks gave %d tasks: %v", len(newest), newest)
	}
	left, err := s.Unfinished(t.Context())
	must(t, err)
	if len(left) != 298 || left[0].Task.UID != 2 || left[297].Task.UID != 299 || left[297].Size < int64(len(large)) {
		t.Errorf("Unfinished gave %d tasks, first %d, size of the last %d", len(left), left[0].Task.UID, left[297].Size)
	}
	if b, err := s.Payload(t.Context(), 299); err != nil || string(b) != large {
		t.Errorf("large payload: %d bytes, %v", len(b), err)
	}
	if o, err := s.Outcome(1); err != nil || o != nil {
		t.Errorf("outcome of a finished task: %q, %v", o, err)
	}
	if tk, ok, err := s.Task(t.Context(), 1); err != nil || !ok || tk.Error == nil || tk.Error.Code != "c" {
		t.Errorf("Task(1) = %+v, %v, %v", tk, ok, err)
	}
	if _, ok, err := s.Task(t.Context(), 300); ok || err != nil {
		t.Errorf("Task(300) = %v, %v", ok, err)
	}
}
