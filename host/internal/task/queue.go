package task

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
)

const (
	maxJoined      = 1000     // tasks in one batch
	maxJoinedBytes = 32 << 20 // of payload in one batch; one task may be larger
	defaultLimit   = 20       // tasks on a page
)

// A Log keeps tasks durably. Safe for concurrent use. See package store.
type Log interface {
	// AppendTask writes a new task and its payload, numbered by the caller,
	// and returns once both would survive a crash.
	AppendTask(ctx context.Context, t Task, payload []byte) error
	// PutTasks writes tasks again, all or none; the payload of one that is
	// finished goes with it.
	PutTasks(ctx context.Context, ts []Task) error
	// Task returns a task; ok is false where there is none.
	Task(ctx context.Context, uid uint32) (t Task, ok bool, err error)
	// Payload returns the payload of a task that is not finished.
	Payload(ctx context.Context, uid uint32) ([]byte, error)
	// Newest calls f for each task, newest first, until f returns false.
	Newest(ctx context.Context, f func(Task) bool) error
	// Unfinished returns the tasks that are not finished, oldest first.
	Unfinished(ctx context.Context) ([]Pending, error)
}

// A Pending task is one that is not finished. Its payload is read when its turn
// comes, so that a long queue costs little memory.
type Pending struct {
	Task Task
	Size int // bytes of the payload, roughly
}

// A Processor applies tasks. See package search.
type Processor interface {
	// Process applies works in order and returns an outcome for each. They are
	// one task, or several document tasks of one index. An error means that
	// the machine failed, not the task: the same works come again.
	//
	// It may be called again with works that were applied before a crash: the
	// outcome must be the same.
	Process(ctx context.Context, works []Work) ([]Outcome, error)
}

// Options are the wishes for a [Queue].
type Options struct {
	// Now is the clock; default [time.Now].
	Now func() time.Time
	// Failed is told of an error of the machine while applying tasks, before
	// they are tried again; default: nobody.
	Failed func(err error)
	// Finished is told of tasks that came to their end; default: nobody. It
	// runs in the scheduler: be quick.
	Finished func(ts []Task)
	// Retry is the first pause after an error of the machine; it doubles up to
	// 30 times as much. Default 1 s.
	Retry time.Duration
}

// A Queue takes tasks and applies them one after the other. Safe for
// concurrent use; call [Queue.Run] once for anything to be applied.
type Queue struct {
	log  Log
	proc Processor
	opts Options

	mu      sync.Mutex
	next    uint32 // number of the next task
	pending []Pending
	changed chan struct{} // closed and replaced whenever a task is added or finished
}

// A Summary is what a client is told of accepted work.
type Summary struct {
	TaskUID    uint32
	IndexUID   string
	Status     Status
	Type       Type
	EnqueuedAt time.Time
}

// Open reads which tasks of log are not finished. Those that were under way
// when the process ended are enqueued again, in their order.
func Open(ctx context.Context, log Log, p Processor, o Options) (*Queue, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Retry = cmp.Or(o.Retry, time.Second)
	q := &Queue{log: log, proc: p, opts: o, changed: make(chan struct{})}
	var err error
	if q.pending, err = log.Unfinished(ctx); err != nil {
		return nil, fmt.Errorf("read unfinished tasks: %w", err)
	}
	err = log.Newest(ctx, func(t Task) bool {
		q.next = t.UID + 1
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("read the newest task: %w", err)
	}
	return q, nil
}

// Enqueue accepts n: once it returns, the task survives a crash.
func (q *Queue) Enqueue(ctx context.Context, n New) (Summary, error) {
	if len(n.Details) == 0 {
		n.Details = json.RawMessage("{}")
	}
	// Held while writing: the log's order must be the order of the numbers.
	q.mu.Lock()
	defer q.mu.Unlock()
	t := Task{
		UID: q.next, IndexUID: n.IndexUID, Type: n.Type, Status: Enqueued,
		Details: n.Details, EnqueuedAt: q.opts.Now().UTC(),
	}
	if err := q.log.AppendTask(ctx, t, n.Payload); err != nil {
		return Summary{}, fmt.Errorf("write task %d: %w", t.UID, err)
	}
	q.next++
	q.pending = append(q.pending, Pending{t, len(n.Payload)})
	q.notify()
	return Summary{TaskUID: t.UID, IndexUID: t.IndexUID, Status: t.Status, Type: t.Type, EnqueuedAt: t.EnqueuedAt}, nil
}

// notify wakes all who wait for a change. Call it with q.mu held.
func (q *Queue) notify() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// Task returns the task of a number, or [apierr.TaskNotFound] where there is
// none, or none that visible lets the caller see (nil: all).
func (q *Queue) Task(ctx context.Context, uid uint32, visible func(indexUID string) bool) (Task, error) {
	t, ok, err := q.log.Task(ctx, uid)
	if err != nil {
		return Task{}, fmt.Errorf("read task %d: %w", uid, err)
	}
	if !ok || visible != nil && !visible(t.IndexUID) {
		return Task{}, apierr.Newf(apierr.TaskNotFound, "Task %d not found.", uid)
	}
	return t, nil
}

// Tasks lists tasks, newest first.
func (q *Queue) Tasks(ctx context.Context, f Filter) (Page, error) {
	f.Limit = max(cmp.Or(f.Limit, defaultLimit), 0)
	p := Page{Limit: f.Limit}
	err := q.log.Newest(ctx, func(t Task) bool {
		if !f.Match(&t) {
			return true
		}
		p.Total++
		switch {
		case f.From != nil && t.UID > *f.From:
		case len(p.Tasks) < f.Limit:
			p.Tasks = append(p.Tasks, t)
		case p.Next == nil && f.Limit > 0:
			p.Next = &t.UID
		}
		return true
	})
	if err != nil {
		return Page{}, fmt.Errorf("list tasks: %w", err)
	}
	if len(p.Tasks) > 0 {
		p.From = &p.Tasks[0].UID
	}
	return p, nil
}

// Wait blocks until the task is finished and returns it.
func (q *Queue) Wait(ctx context.Context, uid uint32) (Task, error) {
	for {
		q.mu.Lock()
		changed := q.changed
		q.mu.Unlock()
		t, err := q.Task(ctx, uid, nil)
		if err != nil || t.Finished() {
			return t, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return t, context.Cause(ctx)
		}
	}
}

// Pending is the number of tasks that are not finished.
func (q *Queue) Pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending)
}
