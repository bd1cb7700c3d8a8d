package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parley-search/parley/host/internal/base/contain"
)

// Run applies tasks until ctx ends, and returns nil then. What is under way at
// that moment is finished or left for the next start.
func (q *Queue) Run(ctx context.Context) error {
	pause := q.opts.Retry
	for {
		batch, strategy, err := q.wait(ctx)
		if err != nil {
			return nil
		}
		err = contain.Call(func() error { return q.apply(ctx, batch, strategy) })
		if contain.Is(err) && ctx.Err() == nil {
			err = errors.Join(err, q.resumePanicked(ctx, batch))
		}
		q.mu.Lock()
		q.failing = err != nil
		q.mu.Unlock()
		if err == nil {
			pause = q.opts.Retry
			continue
		}
		if ctx.Err() != nil {
			q.leave(ctx, batch)
			return nil
		}
		if q.opts.Failed != nil {
			q.opts.Failed(fmt.Errorf("apply task %d: %w", batch[0].UID, err))
		}
		q.rest(ctx, pause)
		pause = min(2*pause, 30*q.opts.Retry)
	}
}

// rest waits after an error of the machine, but no longer than until a client
// cancels or deletes tasks.
func (q *Queue) rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		q.mu.Lock()
		changed, known := q.changed, q.next
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-changed:
		}
		q.mu.Lock()
		first := q.urgent()
		news := first >= 0 && q.pending[first].Task.UID >= known
		q.mu.Unlock()
		if news {
			return
		}
	}
}

// wait blocks until there is something to apply and returns it as head does.
func (q *Queue) wait(ctx context.Context) (batch []Task, strategy string, err error) {
	for {
		q.mu.Lock()
		if batch, strategy = q.head(); len(batch) > 0 {
			q.turns.take(&batch[0])
		}
		changed := q.changed
		q.mu.Unlock()
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if len(batch) > 0 {
			return batch, strategy, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
	}
}

// apply runs one batch from enqueued to its end.
func (q *Queue) apply(ctx context.Context, batch []Task, strategy string) error {
	q.mu.Lock()
	uid := q.nextBatch
	q.mu.Unlock()
	now := q.moment(batch)
	for i := range batch {
		batch[i].Status, batch[i].StartedAt, batch[i].BatchUID = Processing, now, &uid
	}
	q.strategy, q.trace = strategy, nil
	defer func() { q.strategy, q.trace = "", nil }()
	if err := q.log.PutTasks(ctx, batch, q.newBatch(uid, batch)); err != nil {
		return fmt.Errorf("mark as processing: %w", err)
	}
	switch batch[0].Type {
	case Cancelation:
		return q.applyCancelation(ctx, batch[0])
	case Deletion:
		return q.applyDeletion(ctx, batch[0])
	}
	outcomes, err := q.process(ctx, batch)
	if err != nil {
		return err
	}
	if outcomes == nil {
		return q.putBack(ctx, batch)
	}
	done, rest := batch[:len(outcomes)], batch[len(outcomes):]
	now = q.moment(done)
	for i := range done {
		done[i].end(outcomes[i], now)
	}
	if len(rest) > 0 {
		q.strategy = fmt.Sprintf("stopped before task with id %d because the batch took more than %v", rest[0].UID, q.opts.BatchTime)
		if err := q.putBack(ctx, rest); err != nil {
			return err
		}
	}
	return q.finish(ctx, done)
}

// moment is the present as a date of all tasks, and no earlier than the dates
// that they have: none ends before it began, though the clock was set back.
func (q *Queue) moment(tasks []Task) time.Time {
	now := q.opts.Now().UTC()
	for i := range tasks {
		now = later(now, later(tasks[i].EnqueuedAt, tasks[i].StartedAt))
	}
	return now
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// putBack makes tasks wait again of which nothing was written: the batch was late, or
// one of them was canceled.
func (q *Queue) putBack(ctx context.Context, batch []Task) error {
	for i := range batch {
		batch[i].Status, batch[i].StartedAt, batch[i].BatchUID = Enqueued, time.Time{}, nil
	}
	if err := q.log.PutTasks(ctx, batch, nil); err != nil {
		return fmt.Errorf("mark as enqueued: %w", err)
	}
	return nil
}

// end gives t its outcome.
func (t *Task) end(o Outcome, now time.Time) {
	t.Status, t.FinishedAt = Succeeded, now
	if o.Err != nil {
		t.Status, t.Error = Failed, o.Err
	}
	if o.Details != nil {
		t.Details = shorten(o.Details)
	}
}

// newBatch sums up the tasks of the batch under way.
func (q *Queue) newBatch(uid uint32, tasks []Task) *Batch {
	b := newBatch(uid, tasks)
	b.Strategy, b.Trace = q.strategy, q.trace
	return b
}

// finish writes down the end of a batch.
func (q *Queue) finish(ctx context.Context, batch []Task) error {
	if err := q.log.PutTasks(ctx, batch, q.newBatch(*batch[0].BatchUID, batch)); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	q.mu.Lock()
	q.nextBatch++
	q.mu.Unlock()
	q.done(batch)
	return q.prune(ctx)
}

// process calls the processor. It returns nothing where the run was canceled.
func (q *Queue) process(ctx context.Context, batch []Task) ([]Outcome, error) {
	r := &Run{Works: make([]Work, len(batch)), until: time.Now().Add(q.opts.BatchTime)}
	for i := range batch {
		payload, err := q.log.Payload(ctx, batch[i].UID)
		if err != nil {
			return nil, fmt.Errorf("read payload: %w", err)
		}
		body := batch[i].Body
		r.Works[i] = Work{batch[i], payload, func() (io.ReadCloser, error) { return q.log.OpenBody(body) }}
	}
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	q.mu.Lock()
	q.running = r
	for i := range batch {
		// One that was begun before, in an attempt that failed or that a crash
		// ended, is not canceled any more.
		r.begun = r.begun || q.pendingTask(batch[i].UID).begun
	}
	if i := q.urgent(); i >= 0 && q.pending[i].Task.Type == Cancelation {
		r.interrupt() // it came while the payloads were read
	}
	q.mu.Unlock()
	var outcomes []Outcome
	err := contain.Call(func() (err error) { outcomes, err = q.proc.Process(ctx, r); return err })
	q.trace = r.spans()
	begun, canceled := r.state()
	q.mu.Lock()
	q.running = nil
	for i := range batch {
		q.pendingTask(batch[i].UID).begun = begun && (err != nil || i < len(outcomes))
	}
	q.mu.Unlock()
	if canceled {
		return nil, nil // those of them that nobody canceled come again
	}
	return outcomes, err
}

// pendingTask returns the entry of a task that is not finished. Call it with
// q.mu held.
func (q *Queue) pendingTask(uid uint32) *Pending {
	for i := range q.pending {
		if q.pending[i].Task.UID == uid {
			return &q.pending[i]
		}
	}
	panic("task is not pending") // only the scheduler takes them off
}
