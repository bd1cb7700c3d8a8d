package task_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/task"
)

// A gate is a processor that waits in its first run until it is let go, or its
// works are canceled.
type gate struct {
	recorder
	begin   bool // it says that something is written
	entered chan struct{}
	open    chan struct{}
}

func newGate(begin bool) *gate {
	return &gate{begin: begin, entered: make(chan struct{}, 10), open: make(chan struct{})}
}

func (g *gate) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	if g.begin {
		if err := r.Begin(); err != nil {
			return nil, err
		}
	}
	r.Report(task.Progress{Step: "indexing", Done: 1, Total: 4})
	g.entered <- struct{}{}
	select {
	case <-g.open:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := r.Begin(); err != nil {
		return nil, err
	}
	return g.recorder.Process(ctx, r)
}

func TestCancelStopsWhatRuns(t *testing.T) {
	g := newGate(false)
	q := open(t, openStore(t), g, task.Options{})
	for range 3 {
		enqueue(t, q, task.DocumentAddition, "a", "x")
	}
	defer run(q)()
	<-g.entered
	b, err := q.Batch(t.Context(), 0, nil)
	if err != nil || b.Progress == nil || *b.Progress != (task.Progress{Step: "indexing", Done: 1, Total: 4}) || b.Progress.Percentage() != 25 || !b.FinishedAt.IsZero() {
		t.Errorf("batch under way: %+v, %v", b, err)
	}
	sum, err := q.Cancel(t.Context(), task.Filter{UIDs: []uint32{1}}, "?uids=1", task.Replica{})
	if err != nil {
		t.Fatal(err)
	}
	if got := wait(t, q, sum.TaskUID); string(got.Details) != `{"canceledTasks":1,"matchedTasks":1,"originalFilter":"?uids=1"}` {
		t.Errorf("details of the cancelation: %s", got.Details)
	}
	close(g.open)
	for uid, want := range map[uint32]task.Status{0: task.Succeeded, 1: task.Canceled, 2: task.Succeeded} {
		if got := wait(t, q, uid); got.Status != want {
			t.Errorf("task %d: status %s, want %s", uid, got.Status, want)
		}
	}
	if got, want := g.shapes(), "0+2"; got != want {
		t.Errorf("applied %s, want %s", got, want)
	}
}

func TestCancelTooLate(t *testing.T) {
	g := newGate(true)
	q := open(t, openStore(t), g, task.Options{})
	enqueue(t, q, task.DocumentAddition, "a", "x")
	defer run(q)()
	<-g.entered
	sum, err := q.Cancel(t.Context(), task.Filter{UIDs: []uint32{0}}, "", task.Replica{})
	if err != nil {
		t.Fatal(err)
	}
	close(g.open)
	if got := wait(t, q, sum.TaskUID); !strings.Contains(string(got.Details), `"canceledTasks":0`) {
		t.Errorf("details of the cancelation: %s, want none canceled", got.Details)
	}
	if got := wait(t, q, 0); got.Status != task.Succeeded || got.CanceledBy != nil {
		t.Errorf("task 0: %+v, want succeeded", got)
	}
}

// TestCancelAfterCrash: what may be half written when the process ended is
// applied, not canceled.
func TestCancelAfterCrash(t *testing.T) {
	log := openStore(t)
	first := open(t, log, &recorder{}, task.Options{})
	enqueue(t, first, task.DocumentAddition, "a", "x")
	crash(t, log, newGate(false))
	again := open(t, log, &recorder{}, task.Options{})
	sum, err := again.Cancel(t.Context(), task.Filter{Statuses: []task.Status{task.Processing, task.Enqueued}}, "", task.Replica{})
	if err != nil {
		t.Fatal(err)
	}
	defer run(again)()
	wait(t, again, sum.TaskUID)
	if got := wait(t, again, 0); got.Status != task.Succeeded {
		t.Errorf("status %s, want succeeded", got.Status)
	}
	if b, err := again.Batch(t.Context(), 1, nil); err != nil || b.Tasks.Len() != 1 || b.FinishedAt.IsZero() {
		t.Errorf("the second batch: %+v, %v", b, err)
	}
}

func TestQueuePrunes(t *testing.T) {
	p := &recorder{}
	q := open(t, openStore(t), p, task.Options{Keep: 20})
	defer run(q)()
	for i := range 31 {
		wait(t, q, enqueue(t, q, task.IndexCreation, fmt.Sprint("i", i%3), "").TaskUID)
	}
	enqueue(t, q, task.IndexCreation, "a", "")
	wait(t, q, 31)
	list, err := q.Tasks(t.Context(), task.Filter{Limit: task.Everything})
	if err != nil {
		t.Fatal(err)
	}
	if list.Total > 21 || list.Total < 18 || list.Results[0].UID != 31 || len(list.Results) != list.Total {
		t.Errorf("%d tasks are left, the newest %d; want about 20 up to 31", list.Total, list.Results[0].UID)
	}
	batches, err := q.Batches(t.Context(), task.Filter{Limit: task.Everything})
	if err != nil || batches.Total > 21 {
		t.Errorf("%d batches are left, %v", batches.Total, err)
	}
}

func TestUIDs(t *testing.T) {
	top := ^uint32(0)
	set := task.NewUIDs([]uint32{5, 3, 4, 9, top, top - 1, 3})
	if got := fmt.Sprint(set); got != fmt.Sprint(task.UIDs{{3, 5}, {9, 9}, {top - 1, top}}) || set.Len() != 6 {
		t.Errorf("set %v of %d", got, set.Len())
	}
	for u, want := range map[uint32]bool{2: false, 3: true, 5: true, 6: false, 9: true, top: true, 0: false} {
		if set.Has(u) != want {
			t.Errorf("Has(%d) = %v", u, !want)
		}
	}
	if got := set.Without([]uint32{4, 9, 77}); fmt.Sprint(got.All()) != fmt.Sprint([]uint32{3, 5, top - 1, top}) {
		t.Errorf("Without = %v", got)
	}
}

// A lateLog does something once, while the payloads of the first batch are read.
type lateLog struct {
	task.Log
	late func()
}

func (l *lateLog) Payload(ctx context.Context, uid uint32) ([]byte, error) {
	if late := l.late; late != nil {
		l.late = nil
		late()
	}
	return l.Log.Payload(ctx, uid)
}

// What deletes a task that is under way deletes it when it has ended, however early
// it came; what cancels it stops it.
func TestUrgentWhilePayloadsAreRead(t *testing.T) {
	for name, tt := range map[string]struct {
		urge func(*task.Queue) (task.Summary, error)
		want string // details
		gone bool
	}{
		"deletion": {func(q *task.Queue) (task.Summary, error) {
			return q.Delete(t.Context(), task.Filter{UIDs: []uint32{0}}, "?uids=0", task.Replica{})
		}, `{"deletedTasks":1,"matchedTasks":1,"originalFilter":"?uids=0"}`, true},
		"cancelation": {func(q *task.Queue) (task.Summary, error) {
			return q.Cancel(t.Context(), task.Filter{UIDs: []uint32{0}}, "?uids=0", task.Replica{})
		}, `{"canceledTasks":1,"matchedTasks":1,"originalFilter":"?uids=0"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			log := &lateLog{Log: openStore(t)}
			q := open(t, log, &cautious{}, task.Options{})
			var sum task.Summary
			var err error
			urged := make(chan struct{})
			log.late = func() {
				sum, err = tt.urge(q)
				close(urged)
			}
			enqueue(t, q, task.DocumentAddition, "a", "x")
			stop := run(q)
			defer stop()
			<-urged
			urgent := wait(t, q, 1)
			if err != nil || sum.TaskUID != 1 || string(urgent.Details) != tt.want {
				t.Errorf("task %d %v: %s, want %s", sum.TaskUID, err, urgent.Details, tt.want)
			}
			if _, err := q.Task(t.Context(), 0, nil); (err != nil) != tt.gone {
				t.Errorf("the other task: %v, want it gone: %v", err, tt.gone)
			}
		})
	}
}

// A cautious processor begins before it applies.
type cautious struct{ recorder }

func (c *cautious) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	if err := r.Begin(); err != nil {
		return nil, err
	}
	return c.recorder.Process(ctx, r)
}

// What should have been under way when a deletion came is not overtaken by it, but the
// tasks behind are.
func TestDeletionWaitsForTheOldest(t *testing.T) {
	q := open(t, openStore(t), &recorder{}, task.Options{})
	enqueue(t, q, task.DocumentAddition, "a", "x")
	enqueue(t, q, task.DocumentAddition, "b", "x")
	sum, err := q.Delete(t.Context(), task.Filter{UIDs: []uint32{0, 1}}, "?uids=0,1", task.Replica{})
	if err != nil {
		t.Fatal(err)
	}
	defer run(q)()
	if got, want := string(wait(t, q, sum.TaskUID).Details), `{"deletedTasks":1,"matchedTasks":2,"originalFilter":"?uids=0,1"}`; got != want {
		t.Errorf("details of the deletion: %s, want %s", got, want)
	}
	if _, err := q.Task(t.Context(), 0, nil); err == nil {
		t.Error("task 0 is still there")
	}
	wait(t, q, 1)
}

// A deletion does not wait for a task at which the machine fails.
func TestDeletionPassesAFailingTask(t *testing.T) {
	broken := make(chan struct{})
	p := &recorder{answer: func(works []task.Work) ([]task.Outcome, error) {
		select {
		case <-broken:
			return make([]task.Outcome, len(works)), nil
		default:
			return nil, errors.New("the disk is full")
		}
	}}
	q := open(t, openStore(t), p, task.Options{Retry: time.Millisecond})
	enqueue(t, q, task.DocumentAddition, "a", "x")
	sum, err := q.Delete(t.Context(), task.Filter{UIDs: []uint32{0}}, "?uids=0", task.Replica{})
	if err != nil {
		t.Fatal(err)
	}
	defer run(q)()
	if got, want := string(wait(t, q, sum.TaskUID).Details), `{"deletedTasks":0,"matchedTasks":1,"originalFilter":"?uids=0"}`; got != want {
		t.Errorf("details of the deletion: %s, want %s", got, want)
	}
	close(broken)
	wait(t, q, 0)
}

// A task that was begun and at which the machine fails keeps no other index waiting: to
// delete one may be what makes room.
func TestOthersPassAFailingTask(t *testing.T) {
	q := open(t, openStore(t), stuck{"a"}, task.Options{Retry: time.Millisecond})
	enqueue(t, q, task.DocumentAddition, "a", "x")
	enqueue(t, q, task.IndexDeletion, "a", "")
	enqueue(t, q, task.IndexDeletion, "b", "")
	defer run(q)()
	if got := wait(t, q, 2); got.Status != task.Succeeded {
		t.Errorf("the deletion of another index: %+v", got)
	}
	if got, err := q.Task(t.Context(), 1, nil); err != nil || got.Finished() {
		t.Errorf("the deletion of the same index: %+v, %v; want it to wait for its turn", got, err)
	}
}

// stuck begins each task, and fails at those of an index.
type stuck struct{ index string }

func (p stuck) Process(_ context.Context, r *task.Run) ([]task.Outcome, error) {
	r.Begin()
	if r.Works[0].IndexUID == p.index {
		return nil, errors.New("the disk is full")
	}
	return make([]task.Outcome, len(r.Works)), nil
}
