package task

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// piece bounds the tasks that one transaction changes.
const piece = 500

// A selection is what tasks that cancel or delete others have as payload: the
// others, as they were when it was accepted.
type selection struct{ Tasks UIDs }

// Cancel accepts the task that cancels those that f chooses, its page aside, as
// far as they are not finished when its turn comes, which is before all others.
// wrote is the filter in the client's words. A filter that chooses by nothing
// is [apierr.MissingTaskFilters].
func (q *Queue) Cancel(ctx context.Context, f Filter, wrote string, as Replica) (Summary, error) {
	return q.choose(ctx, Cancelation, "canceledTasks", f, wrote, as)
}

// Delete accepts the task that deletes those that f chooses, its page aside, as
// far as they are finished when its turn comes. See [Queue.Cancel].
func (q *Queue) Delete(ctx context.Context, f Filter, wrote string, as Replica) (Summary, error) {
	return q.choose(ctx, Deletion, "deletedTasks", f, wrote, as)
}

func (q *Queue) choose(ctx context.Context, t Type, count string, f Filter, wrote string, as Replica) (Summary, error) {
	if !f.Restricted() {
		return Summary{}, apierr.Newf(apierr.MissingTaskFilters, "A filter is missing: name at least one of the query parameters uids, batchUids, indexUids, types, statuses, canceledBy, "+
			"beforeEnqueuedAt, afterEnqueuedAt, beforeStartedAt, afterStartedAt, beforeFinishedAt, afterFinishedAt.")
	}
	f.From, f.Limit = nil, Everything
	q.mu.Lock()
	defer q.mu.Unlock()
	uids, _, err := q.log.FindTasks(ctx, &f)
	if err != nil {
		return Summary{}, fmt.Errorf("find tasks: %w", err)
	}
	chosen := NewUIDs(uids)
	payload, err := json.Marshal(selection{chosen})
	if err != nil {
		return Summary{}, fmt.Errorf("encode selection: %w", err)
	}
	sum, err := q.enqueue(ctx, New{
		Type: t, Payload: payload,
		Details: encodeDetails(map[string]any{"matchedTasks": chosen.Len(), count: nil, "originalFilter": wrote}), Replica: as,
	})
	if err == nil && t == Cancelation && !as.DryRun {
		q.interrupt(chosen)
	}
	return sum, err
}

// interrupt stops what is under way where the set holds one of its tasks. Call
// it with q.mu held.
func (q *Queue) interrupt(set UIDs) {
	if q.running == nil {
		return
	}
	for i := range q.running.Works {
		if set.Has(q.running.Works[i].UID) {
			q.running.interrupt()
			return
		}
	}
}

// selected reads what t is about.
func (q *Queue) selected(ctx context.Context, t *Task) (UIDs, error) {
	b, err := q.log.Payload(ctx, t.UID)
	if err != nil {
		return nil, fmt.Errorf("read payload: %w", err)
	}
	var s selection
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("decode payload: %w", err)
	}
	return s.Tasks, nil
}

// applyCancelation ends the tasks that t chose, in pieces: after a crash it
// goes on with what is left.
func (q *Queue) applyCancelation(ctx context.Context, t Task) error {
	chosen, err := q.selected(ctx, &t)
	if err != nil {
		return err
	}
	before, n, err := q.log.FindTasks(ctx, &Filter{CanceledBy: []uint32{t.UID}, Limit: Everything})
	if err != nil {
		return fmt.Errorf("find tasks canceled before: %w", err)
	}
	batch := []Task{t}
	for _, uid := range before {
		c, ok, err := q.log.Task(ctx, uid)
		if err != nil {
			return fmt.Errorf("read task %d: %w", uid, err)
		}
		if ok {
			batch = append(batch, c)
		}
	}
	canceled := q.cancelable(chosen)
	now := q.moment(append(canceled[:len(canceled):len(canceled)], t))
	for i := range canceled {
		c := &canceled[i]
		c.Status, c.CanceledBy, c.BatchUID, c.FinishedAt = Canceled, &t.UID, t.BatchUID, now
		c.StartedAt = later(t.StartedAt, c.EnqueuedAt)
		c.Details = unapplied(c.Details)
	}
	for left := canceled; len(left) > 0; {
		part := left[:min(piece, len(left))]
		left = left[len(part):]
		if err := q.log.PutTasks(ctx, part, nil); err != nil {
			return fmt.Errorf("cancel tasks: %w", err)
		}
		q.done(part)
	}
	n += len(canceled)
	batch[0].end(Outcome{Details: setDetail(t.Details, "canceledTasks", n)}, now)
	return q.finishWith(ctx, batch[:1], append(batch, canceled...))
}

// finishWith writes down the end of tasks whose batch sums up others as well.
func (q *Queue) finishWith(ctx context.Context, ts, all []Task) error {
	if err := q.log.PutTasks(ctx, ts, q.newBatch(*ts[0].BatchUID, all)); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	q.mu.Lock()
	q.nextBatch++
	q.mu.Unlock()
	q.done(ts)
	return nil
}

// cancelable returns the pending tasks of the set that nothing is written of.
func (q *Queue) cancelable(set UIDs) []Task {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []Task
	for i := range q.pending {
		if p := &q.pending[i]; !p.begun && set.Has(p.Task.UID) {
			list = append(list, p.Task)
		}
	}
	return list
}

// applyDeletion removes the tasks that t chose, in pieces.
func (q *Queue) applyDeletion(ctx context.Context, t Task) error {
	chosen, err := q.selected(ctx, &t)
	if err != nil {
		return err
	}
	finished, err := q.finished(ctx, chosen.All())
	if err != nil {
		return err
	}
	if err := q.remove(ctx, finished); err != nil {
		return err
	}
	t.end(Outcome{Details: setDetail(t.Details, "deletedTasks", len(finished))}, q.moment([]Task{t}))
	return q.finish(ctx, []Task{t})
}

// finished returns those of the tasks that came to their end.
func (q *Queue) finished(ctx context.Context, uids []uint32) ([]uint32, error) {
	if len(uids) == 0 {
		return nil, nil
	}
	list, _, err := q.log.FindTasks(ctx, &Filter{UIDs: uids, Statuses: []Status{Succeeded, Failed, Canceled}, Reverse: true, Limit: Everything})
	if err != nil {
		return nil, fmt.Errorf("find finished tasks: %w", err)
	}
	return list, nil
}

func (q *Queue) remove(ctx context.Context, uids []uint32) error {
	for len(uids) > 0 {
		n := min(piece, len(uids))
		if err := q.log.DeleteTasks(ctx, uids[:n]); err != nil {
			return fmt.Errorf("delete tasks: %w", err)
		}
		uids = uids[n:]
	}
	return nil
}

// prune deletes the oldest finished tasks where there are too many.
func (q *Queue) prune(ctx context.Context) error {
	_, total, err := q.log.FindTasks(ctx, &Filter{Limit: -1})
	if err != nil {
		return fmt.Errorf("count tasks: %w", err)
	}
	if total <= q.opts.Keep {
		return nil
	}
	surplus := max(q.opts.Keep/10, total-q.opts.Keep)
	old, _, err := q.log.FindTasks(ctx, &Filter{Statuses: []Status{Succeeded, Failed, Canceled}, Reverse: true, Limit: surplus})
	if err != nil {
		return fmt.Errorf("find old tasks: %w", err)
	}
	return q.remove(ctx, old[:min(surplus, len(old))])
}

// setDetail gives one of the details another value.
func setDetail(details json.RawMessage, name string, v any) json.RawMessage {
	m := map[string]any{}
	_ = json.Unmarshal(details, &m) // an object of ours
	m[name] = v
	return encodeDetails(m)
}
