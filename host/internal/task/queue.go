package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

const (
	maxJoined      = 500      // tasks in one batch
	maxJoinedBytes = 32 << 20 // of payload in one batch; one task may be larger
)

// A Log keeps tasks durably. Safe for concurrent use. See package store.
type Log interface {
	// AppendTask writes a new task and its payload, numbered by the caller,
	// and returns once both would survive a crash.
	AppendTask(ctx context.Context, t Task, payload []byte) error
	// PutTasks writes tasks again, and b where it is not nil, all or none; the
	// payload of a task that is finished goes with it.
	PutTasks(ctx context.Context, ts []Task, b *Batch) error
	// DeleteTasks removes tasks, and the batches that are empty then. A number
	// that has no task is no mistake.
	DeleteTasks(ctx context.Context, uids []uint32) error
	// Task returns a task; ok is false where there is none.
	Task(ctx context.Context, uid uint32) (t Task, ok bool, err error)
	// Batch returns a batch; ok is false where there is none.
	Batch(ctx context.Context, uid uint32) (b *Batch, ok bool, err error)
	// Payload returns the payload of a task that is not finished.
	Payload(ctx context.Context, uid uint32) ([]byte, error)
	// OpenBody opens the body of a name; DropBody removes one that no task was
	// given.
	OpenBody(name string) (io.ReadCloser, error)
	DropBody(name string) error
	// FindTasks returns the numbers of the tasks that f chooses, in its order,
	// for one page and the one behind it, and how many it chooses in all.
	FindTasks(ctx context.Context, f *Filter) (uids []uint32, total int, err error)
	// FindBatches does so for batches.
	FindBatches(ctx context.Context, f *Filter) (uids []uint32, total int, err error)
	// Unfinished returns the tasks that are not finished, oldest first.
	Unfinished(ctx context.Context) ([]Pending, error)
}

// A Pending task is one that is not finished. Its payload is read when its turn
// comes, so that a long queue costs little memory.
type Pending struct {
	Task Task
	Size int64 // bytes of payload and body, roughly

	begun bool // something of it may be written: too late to cancel it
	// behind is, of a deletion, the task that was the oldest when it was accepted: it
	// should have been under way by then. nil: none.
	behind *uint32
}

// A Processor applies tasks. See package search.
type Processor interface {
	// Process applies the works of r in order and returns an outcome for each, or
	// for the first of them once r is late: the others come again. They are one
	// task, or several document tasks of one index. An error means
	// that the machine failed, not the task: the same works come again. ctx
	// ends with the host, or because the works are canceled, see [Run.Begin].
	//
	// It may be called again with works that were applied before a crash: the
	// outcome must be the same.
	Process(ctx context.Context, r *Run) ([]Outcome, error)
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
	// BatchTime is the time after which a batch takes no further task, see
	// [Run.Late]. Default 1 s.
	BatchTime time.Duration
	// Keep is how many tasks the log holds; past it the oldest tenth of them
	// goes, as far as it is finished. Default 1 million.
	Keep int
	// MaxCrashes is how often the process may end while it applies a task. After
	// that the task is failed: it may be why. Default 2.
	MaxCrashes int
	// Mixed reports whether builds may apply the tasks that are older than this one; default: none does.
	Mixed func() bool
	// EndedOtherwise: the process before ended for a reason that no task was. It is not counted.
	EndedOtherwise bool
}

// A Queue takes tasks and applies them one after the other, those of an index in
// their order. Safe for
// concurrent use; call [Queue.Run] once for anything to be applied.
type Queue struct {
	log  Log
	proc Processor
	opts Options

	mu        sync.Mutex
	next      uint32 // number of the next task
	nextBatch uint32
	pending   []Pending
	turns     turns         // while tasks are pending
	running   *Run          // nil while nothing is applied
	failing   bool          // the machine failed at what was to be applied last
	changed   chan struct{} // closed and replaced whenever a task is added or finished

	// Of the batch under way, for its record; only the scheduler uses them.
	strategy string
	trace    []StepTime
}

// A Summary is what a client is told of accepted work.
type Summary struct {
	TaskUID    uint32
	IndexUID   string
	Status     Status
	Type       Type
	EnqueuedAt time.Time
	Metadata   string // see [New]
}

// Open returns a queue that knows the tasks of log: see [Queue.ReadLog] and
// [Queue.ResumeTasks].
func Open(ctx context.Context, log Log, p Processor, o Options) (*Queue, error) {
	q := NewQueue(log, p, o)
	if err := q.ReadLog(ctx); err != nil {
		return nil, err
	}
	return q, q.ResumeTasks(ctx)
}

// NewQueue returns a queue that reads its log and no more, until [Queue.ReadLog].
func NewQueue(log Log, p Processor, o Options) *Queue {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Retry = cmp.Or(o.Retry, time.Second)
	o.BatchTime = cmp.Or(o.BatchTime, time.Second)
	o.Keep = cmp.Or(o.Keep, 1_000_000)
	o.MaxCrashes = cmp.Or(o.MaxCrashes, 2)
	return &Queue{log: log, proc: p, opts: o, turns: turns{ofKey: map[string]int{}, ofIndex: map[string]int{}}, changed: make(chan struct{})}
}

// ReadLog reads which tasks are not finished, and the next numbers. Call it while
// Run does not run; what is being accepted waits, or is waited for.
func (q *Queue) ReadLog(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var err error
	if q.pending, err = q.log.Unfinished(ctx); err != nil {
		return fmt.Errorf("read unfinished tasks: %w", err)
	}
	uids, _, err := q.log.FindTasks(ctx, &Filter{Limit: 1})
	if err != nil {
		return fmt.Errorf("read the newest task: %w", err)
	}
	q.next = 0
	if len(uids) > 0 {
		q.next = uids[0] + 1
	}
	if q.nextBatch, err = firstBatch(ctx, q.log); err != nil {
		return fmt.Errorf("read the newest batch: %w", err)
	}
	return nil
}

// Forget empties the queue: another node applies the tasks now. Call it
// while Run does not run.
func (q *Queue) Forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = nil
	q.notify()
}

// Notify wakes all who wait for a task: the log got changes that the queue did not
// make.
func (q *Queue) Notify() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notify()
}

// firstBatch is the number of the next batch: that of the newest again, where
// it did not come to its end.
func firstBatch(ctx context.Context, log Log) (uint32, error) {
	uids, _, err := log.FindBatches(ctx, &Filter{Limit: 1})
	if err != nil || len(uids) == 0 {
		return 0, err
	}
	b, ok, err := log.Batch(ctx, uids[0])
	if err != nil || ok && b.FinishedAt.IsZero() {
		return uids[0], err
	}
	return uids[0] + 1, nil
}

// Enqueue accepts n: once it returns, the task survives a crash.
func (q *Queue) Enqueue(ctx context.Context, n New) (Summary, error) {
	// Held while writing: the log's order must be the order of the numbers.
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.enqueue(ctx, n)
}

func (q *Queue) enqueue(ctx context.Context, n New) (Summary, error) {
	if len(n.Details) == 0 {
		n.Details = json.RawMessage("{}")
	}
	if n.UID != nil && (*n.UID < q.next || *n.UID > MaxUID) {
		err := apierr.Newf(apierr.BadRequest, "Task %d cannot be accepted: the next number here is %d, and the largest %d.", *n.UID, q.next, MaxUID)
		return Summary{}, q.drop(n, err)
	}
	if n.Needs != "" && q.opts.Mixed != nil && q.opts.Mixed() {
		err := apierr.Newf(apierr.BadRequest, "%s: not before all nodes of the cluster are upgraded, since one of an older version would pass over it. Then run `parley cluster upgrade`.", n.Needs)
		return Summary{}, q.drop(n, err)
	}
	t := Task{
		UID: q.next, Key: n.Key, Origin: n.Origin, Metadata: n.Metadata, IndexUID: n.IndexUID, Indexes: n.Indexes, Type: n.Type, Status: Enqueued,
		Details: shorten(n.Details), EnqueuedAt: q.opts.Now().UTC(), Body: n.Body, BodySize: n.BodySize,
	}
	if n.UID != nil {
		t.UID = *n.UID
	}
	sum := t.Summary()
	if n.DryRun {
		return sum, q.drop(n, nil)
	}
	if err := q.log.AppendTask(ctx, t, n.Payload); err != nil {
		return Summary{}, q.drop(n, fmt.Errorf("write task %d: %w", t.UID, err))
	}
	q.next = t.UID + 1
	p := Pending{Task: t, Size: int64(len(n.Payload)) + n.BodySize}
	if t.Type == Deletion && len(q.pending) > 0 {
		p.behind = new(q.pending[0].Task.UID)
	}
	q.pending = append(q.pending, p)
	q.notify()
	return sum, nil
}

// drop removes the body of n, which is not accepted because of err.
func (q *Queue) drop(n New, err error) error {
	if n.Body == "" {
		return err
	}
	return errors.Join(err, q.log.DropBody(n.Body))
}

// notify wakes all who wait for a change. Call it with q.mu held.
func (q *Queue) notify() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// done takes tasks that are finished off the queue.
func (q *Queue) done(ts []Task) {
	uids := make(map[uint32]bool, len(ts))
	for i := range ts {
		uids[ts[i].UID] = true
	}
	q.mu.Lock()
	q.pending = slices.DeleteFunc(q.pending, func(p Pending) bool { return uids[p.Task.UID] })
	if len(q.pending) == 0 {
		clear(q.turns.ofKey)
		clear(q.turns.ofIndex)
	}
	q.notify()
	q.mu.Unlock()
	if q.opts.Finished != nil {
		q.opts.Finished(ts)
	}
}

// originAmong is how many of the newest tasks are looked at by ByOrigin: a node asks within
// seconds of the request.
const originAmong = 2000

// ByOrigin returns the task of an origin, from the log; ok is false where none of the newest
// has it.
func (q *Queue) ByOrigin(ctx context.Context, origin string) (t Task, ok bool, err error) {
	uids, _, err := q.log.FindTasks(ctx, &Filter{Limit: originAmong})
	if err != nil {
		return t, false, fmt.Errorf("find the newest tasks: %w", err)
	}
	for _, uid := range uids {
		if t, ok, err = q.log.Task(ctx, uid); err != nil || ok && t.Origin == origin {
			return t, ok, err
		}
	}
	return Task{}, false, nil
}
