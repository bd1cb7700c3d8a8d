package task

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// ResumeTasks sees to the tasks that were under way when the process ended that
// applied them: they are applied again, in their order and each alone, but for
// those that [Options.MaxCrashes] fails. A process that stopped in order left
// none, see [Queue.leave]. A task may be why it ended: applied again and again, it
// would end each start. Call it behind [Queue.ReadLog], before Run.
func (q *Queue) ResumeTasks(ctx context.Context) error { return q.resume(ctx, false) }

func (q *Queue) resume(ctx context.Context, panicked bool) error {
	var again, over []Task
	q.mu.Lock()
	for i := range q.pending {
		p := &q.pending[i]
		t := &p.Task
		if t.Status == Processing {
			if !q.opts.EndedOtherwise || panicked {
				t.Crashes++
			}
			// How far it was is not known. An export changes nothing here: it can be
			// canceled at any time.
			t.Begun = t.Type != Export
			if t.Crashes >= q.opts.MaxCrashes && t.BatchUID != nil {
				over = append(over, *t)
			} else {
				t.Status, t.StartedAt, t.BatchUID = Enqueued, time.Time{}, nil
				again = append(again, *t)
			}
		}
		p.begun = t.Begun
	}
	q.mu.Unlock()
	for len(again) > 0 {
		n := min(piece, len(again))
		if err := q.log.PutTasks(ctx, again[:n], nil); err != nil {
			return fmt.Errorf("mark tasks as enqueued: %w", err)
		}
		again = again[n:]
	}
	if len(over) == 0 {
		return nil
	}
	now := q.moment(over) // one task: it was applied alone
	for i := range over {
		over[i].Details = unapplied(over[i].Details)
		over[i].end(Outcome{Err: Fail(apierr.Newf(apierr.TaskEndedHost, "The host ended or failed %d times while it applied this task, so it is not applied again. "+
			"Some of it may be written. See in the host's log why; if the task is not the reason, send it again.", over[i].Crashes))}, now)
	}
	return q.finish(ctx, over)
}

// resumePanicked is ResumeTasks for a batch whose application panicked: that ended no
// process, and is counted as if it had.
func (q *Queue) resumePanicked(ctx context.Context, batch []Task) error {
	q.mu.Lock()
	for i := range batch {
		t := &q.pendingTask(batch[i].UID).Task
		t.Status, t.StartedAt, t.BatchUID = Processing, batch[i].StartedAt, batch[i].BatchUID
	}
	q.mu.Unlock()
	return q.resume(ctx, true)
}

// leave makes tasks wait for the next start, since the process stops in order:
// they are not to blame for it.
func (q *Queue) leave(ctx context.Context, batch []Task) {
	q.mu.Lock()
	for i := range batch {
		batch[i].Begun = q.pendingTask(batch[i].UID).begun
	}
	q.mu.Unlock()
	if err := q.putBack(context.WithoutCancel(ctx), batch); err != nil && q.opts.Failed != nil {
		q.opts.Failed(err)
	}
}
