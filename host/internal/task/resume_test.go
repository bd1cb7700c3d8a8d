package task_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host/internal/task"
)

// A mortalLog takes nothing any more once it is dead, as that of a process that
// was killed.
type mortalLog struct {
	task.Log
	dead atomic.Bool
}

func (l *mortalLog) PutTasks(ctx context.Context, ts []task.Task, b *task.Batch) error {
	if l.dead.Load() {
		return errors.New("killed")
	}
	return l.Log.PutTasks(ctx, ts, b)
}

// crash opens a queue on log, and kills it where g is entered.
func crash(t *testing.T, log task.Log, g *gate) *task.Queue {
	t.Helper()
	mortal := &mortalLog{Log: log}
	q := open(t, mortal, g, task.Options{})
	stop := run(q)
	<-g.entered
	mortal.dead.Store(true)
	stop()
	return q
}

// TestHostileTask has three tasks, which go together, under way as the process
// ends. They come again one by one; the one that ends the process again is failed
// at the next start, and the others are applied.
func TestHostileTask(t *testing.T) {
	log := openStore(t)
	first := open(t, log, &recorder{}, task.Options{})
	for range 3 {
		enqueue(t, first, task.DocumentAddition, "a", "x")
	}
	crash(t, log, newGate(true))
	guilty := newGate(true)
	crash(t, log, guilty)

	var told []task.Task
	p := &recorder{}
	again := open(t, log, p, task.Options{Finished: func(ts []task.Task) { told = append(told, ts...) }})
	if len(told) != 1 || told[0].UID != 0 {
		t.Errorf("told of %+v, want task 0", told)
	}
	defer run(again)()
	got := wait(t, again, 0)
	if got.Status != task.Failed || got.Error == nil || got.Error.Code != "task_ended_host" || !strings.Contains(got.Error.Message, "ended or failed 2 times") || got.FinishedAt.IsZero() {
		t.Errorf("task 0: %+v, %+v; want it failed with task_ended_host", got.Status, got.Error)
	}
	for _, uid := range []uint32{1, 2} {
		if got := wait(t, again, uid); got.Status != task.Succeeded {
			t.Errorf("task %d: status %s, want succeeded", uid, got.Status)
		}
	}
	if got, want := p.shapes(), "1 2"; got != want {
		t.Errorf("applied %s after two crashes, want %s", got, want)
	}
	if b, err := again.Batch(t.Context(), *got.BatchUID, nil); err != nil || b.Statuses[task.Failed] != 1 || b.FinishedAt.IsZero() {
		t.Errorf("the batch of task 0: %+v, %v", b, err)
	}
}

// TestStopInOrder stops the process again and again while a task is under way:
// that is not held against it, and what has begun is not canceled after.
func TestStopInOrder(t *testing.T) {
	for _, begun := range []bool{false, true} {
		log := openStore(t)
		enqueue(t, open(t, log, &recorder{}, task.Options{}), task.DocumentAddition, "a", "x")
		for range 3 {
			g := newGate(begun)
			q := open(t, log, g, task.Options{})
			stop := run(q)
			<-g.entered
			stop()
			if got, err := q.Task(t.Context(), 0, nil); err != nil || got.Status != task.Enqueued || got.Crashes != 0 || got.Begun != begun {
				t.Fatalf("after a stop: %+v, %v; want it enqueued", got, err)
			}
		}
		q := open(t, log, &recorder{}, task.Options{})
		sum, err := q.Cancel(t.Context(), task.Filter{UIDs: []uint32{0}}, "", task.Replica{})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(q)
		wait(t, q, sum.TaskUID)
		want := task.Canceled
		if begun {
			want = task.Succeeded
		}
		if got := wait(t, q, 0); got.Status != want {
			t.Errorf("begun %v: status %s after a cancelation, want %s", begun, got.Status, want)
		}
		stop()
	}
}

// TestPanickingTask has a task whose application panics: it is applied again, alone, and
// then failed, while the tasks beside it and behind it are applied.
func TestPanickingTask(t *testing.T) {
	log := openStore(t)
	p := &panicker{recorder: &recorder{}, uid: 1}
	var failed atomic.Int64
	q := open(t, log, p, task.Options{Retry: 1, Failed: func(error) { failed.Add(1) }})
	for range 3 {
		enqueue(t, q, task.DocumentAddition, "a", "x")
	}
	defer run(q)()
	if got := wait(t, q, 1); got.Status != task.Failed || got.Error == nil || got.Error.Code != "task_ended_host" {
		t.Errorf("task 1: %s, %+v; want it failed with task_ended_host", got.Status, got.Error)
	}
	enqueue(t, q, task.DocumentAddition, "b", "x")
	for _, uid := range []uint32{0, 2, 3} {
		if got := wait(t, q, uid); got.Status != task.Succeeded {
			t.Errorf("task %d: %s, %+v; want it succeeded", uid, got.Status, got.Error)
		}
	}
	if n := failed.Load(); n != 2 {
		t.Errorf("told of %d failures, want 2", n)
	}
}

// A panicker panics where it has the task of a number.
type panicker struct {
	*recorder
	uid uint32
}

func (p *panicker) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	for i := range r.Works {
		if r.Works[i].UID == p.uid {
			panic("a fault")
		}
	}
	return p.recorder.Process(ctx, r)
}
