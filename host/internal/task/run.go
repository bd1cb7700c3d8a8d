package task

import (
	"context"
	"fmt"
	"time"
)

// Run applies tasks until ctx ends, and returns nil then. What is under way at
// that moment is finished or left for the next start.
func (q *Queue) Run(ctx context.Context) error {
	pause := q.opts.Retry
	for {
		batch, err := q.wait(ctx)
		if err != nil {
			return nil
		}
		err = q.apply(ctx, batch)
		if err == nil {
			pause = q.opts.Retry
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if q.opts.Failed != nil {
			q.opts.Failed(fmt.Errorf("apply task %d: %w", batch[0].UID, err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, 30*q.opts.Retry)
	}
}

// wait blocks until there is something to apply and returns it.
func (q *Queue) wait(ctx context.Context) ([]Task, error) {
	for {
		q.mu.Lock()
		batch, changed := q.head(), q.changed
		q.mu.Unlock()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(batch) > 0 {
			return batch, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// head returns the tasks to apply next, together: the oldest, and where it
// writes documents those right behind it that write documents of the same
// index. A batch of one costs as much as one of a hundred.
func (q *Queue) head() []Task {
	var batch []Task
	size := 0
	for _, e := range q.pending {
		if len(batch) > 0 {
			a := batch[0]
			if !writesDocuments(a.Type) || !writesDocuments(e.Task.Type) || e.Task.IndexUID != a.IndexUID ||
				len(batch) == maxJoined || size+e.Size > maxJoinedBytes {
				break
			}
		}
		size += e.Size
		batch = append(batch, e.Task)
	}
	return batch
}

func writesDocuments(t Type) bool { return t == DocumentAddition || t == DocumentDeletion }

// apply runs one batch from enqueued to its end.
func (q *Queue) apply(ctx context.Context, batch []Task) error {
	now := q.opts.Now().UTC()
	works := make([]Work, len(batch))
	for i := range batch {
		batch[i].Status = Processing
		batch[i].StartedAt = now
		payload, err := q.log.Payload(ctx, batch[i].UID)
		if err != nil {
			return fmt.Errorf("read payload: %w", err)
		}
		works[i] = Work{batch[i], payload}
	}
	if err := q.log.PutTasks(ctx, batch); err != nil {
		return fmt.Errorf("mark as processing: %w", err)
	}
	outcomes, err := q.proc.Process(ctx, works)
	if err != nil {
		return err
	}
	now = q.opts.Now().UTC()
	for i := range batch {
		o := outcomes[i]
		batch[i].Status, batch[i].FinishedAt = Succeeded, now
		if o.Err != nil {
			batch[i].Status = Failed
			batch[i].Error = o.Err
		}
		if o.Details != nil {
			batch[i].Details = o.Details
		}
	}
	if err := q.log.PutTasks(ctx, batch); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	q.mu.Lock()
	q.pending = q.pending[len(batch):]
	q.notify()
	q.mu.Unlock()
	if q.opts.Finished != nil {
		q.opts.Finished(batch)
	}
	return nil
}
