package task

import (
	"context"
	"fmt"
	"io"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/memory"
)

// Task returns the task of a number, or [apierr.TaskNotFound] where there is
// none, or none that visible lets the caller see (nil: all).
func (q *Queue) Task(ctx context.Context, uid uint32, visible func(indexUID string) bool) (Task, error) {
	t, ok, err := q.log.Task(ctx, uid)
	if err != nil {
		return Task{}, fmt.Errorf("read task %d: %w", uid, err)
	}
	if !ok || !visibleTo(visible, t.Concerns()) {
		return Task{}, apierr.Newf(apierr.TaskNotFound, "Task %d not found.", uid)
	}
	return t, nil
}

// PendingWork returns a task as [Queue.Task] does, with its payload;
// [apierr.TaskFileNotFound] where the task is finished and has none any more.
func (q *Queue) PendingWork(ctx context.Context, uid uint32, visible func(indexUID string) bool) (*Work, error) {
	payload, unread := q.log.Payload(ctx, uid) // before the task, which may be finished meanwhile
	t, err := q.Task(ctx, uid, visible)
	switch {
	case err != nil:
		return nil, err
	case t.Finished():
		return nil, apierr.Newf(apierr.TaskFileNotFound, "Task %d is finished: what it was sent with is kept until then.", uid)
	case unread != nil:
		return nil, fmt.Errorf("read payload of task %d: %w", uid, unread)
	}
	return &Work{t, payload, func() (io.ReadCloser, error) { return q.log.OpenBody(t.Body) }}, nil
}

// visibleTo reports whether who sees the indexes that visible lets through may
// see what concerns the given ones.
func visibleTo(visible func(string) bool, indexes []string) bool {
	if visible == nil {
		return true
	}
	for _, uid := range indexes {
		if !visible(uid) {
			return false
		}
	}
	return len(indexes) > 0 || visible("")
}

// Tasks lists tasks, by default the newest first.
func (q *Queue) Tasks(ctx context.Context, f Filter) (*Page[Task], error) {
	uids, total, err := q.log.FindTasks(ctx, &f)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	p := newPage[Task](uids, total, f.PageSize())
	for _, uid := range uids[:min(len(uids), p.Limit)] {
		t, ok, err := q.log.Task(ctx, uid)
		if err != nil {
			return nil, fmt.Errorf("read task %d: %w", uid, err)
		}
		if ok { // else deleted just now
			if err := memory.Of(ctx).TakeAnswer(len(t.Details)); err != nil {
				return nil, err
			}
			p.Results = append(p.Results, t)
		}
	}
	return p, nil
}

// Batch returns the batch of a number, or [apierr.BatchNotFound] where there is
// none, or none that visible lets the caller see (nil: all).
func (q *Queue) Batch(ctx context.Context, uid uint32, visible func(indexUID string) bool) (*Batch, error) {
	b, ok, err := q.log.Batch(ctx, uid)
	if err != nil {
		return nil, fmt.Errorf("read batch %d: %w", uid, err)
	}
	if ok {
		var indexes []string
		for index := range b.Indexes {
			indexes = append(indexes, index)
		}
		ok = visibleTo(visible, indexes)
	}
	if !ok {
		return nil, apierr.Newf(apierr.BatchNotFound, "Batch %d not found.", uid)
	}
	q.addProgress(b)
	return b, nil
}

// Batches lists batches, by default the newest first.
func (q *Queue) Batches(ctx context.Context, f Filter) (*Page[*Batch], error) {
	uids, total, err := q.log.FindBatches(ctx, &f)
	if err != nil {
		return nil, fmt.Errorf("list batches: %w", err)
	}
	p := newPage[*Batch](uids, total, f.PageSize())
	for _, uid := range uids[:min(len(uids), p.Limit)] {
		b, ok, err := q.log.Batch(ctx, uid)
		if err != nil {
			return nil, fmt.Errorf("read batch %d: %w", uid, err)
		}
		if ok {
			if err := memory.Of(ctx).TakeAnswer(len(b.Details)); err != nil {
				return nil, err
			}
			q.addProgress(b)
			p.Results = append(p.Results, b)
		}
	}
	return p, nil
}

// addProgress tells of the batch under way how far it is.
func (q *Queue) addProgress(b *Batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != nil && b.UID == q.nextBatch && b.FinishedAt.IsZero() {
		p := q.running.Progress()
		b.Progress = &p
	}
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
