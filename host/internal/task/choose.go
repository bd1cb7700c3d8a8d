package task

import (
	"fmt"
	"slices"
)

// urgent returns the place of the pending task that goes before all others: to
// cancel tasks first, then to delete some. It is -1 where there is none.
//
// A deletion waits for the task that was the oldest when it was accepted: who adds
// documents and at once deletes that task means both, however busy the machine is.
// Not where the machine fails at that one: to delete tasks may help.
func (q *Queue) urgent() int {
	deletion := -1
	for i := range q.pending {
		switch p := &q.pending[i]; p.Task.Type {
		case Cancelation:
			return i
		case Deletion:
			if deletion < 0 && (p.behind == nil || q.failing || !q.isPending(*p.behind)) {
				deletion = i
			}
		}
	}
	return deletion
}

// isPending reports whether a task is not finished. Call it with q.mu held.
func (q *Queue) isPending(uid uint32) bool {
	return slices.ContainsFunc(q.pending, func(p Pending) bool { return p.Task.UID == uid })
}

// head returns the tasks to apply next, together: what is urgent, else the
// oldest, and where it writes documents those right behind it that write
// documents of the same index. A batch of one costs as much as one of a
// hundred. A task that was under way when the process ended goes alone: if it is
// the reason, no other is taken for it. strategy says why there are no more, in
// the words of a client.
func (q *Queue) head() (batch []Task, strategy string) {
	if i := q.urgent(); i >= 0 {
		t := q.pending[i].Task
		return []Task{t}, aloneStrategy(&t)
	}
	size := int64(0)
	for _, e := range q.pending {
		if len(batch) > 0 {
			if strategy = q.stop(batch, &e, size); strategy != "" {
				return batch, strategy
			}
		}
		size += e.Size
		batch = append(batch, e.Task)
	}
	if len(batch) == 1 && !writesDocuments(batch[0].Type) {
		return batch, aloneStrategy(&batch[0])
	}
	return batch, "batched all enqueued tasks"
}

// stop says why e does not join batch, whose tasks have size bytes; "" where it
// does.
func (q *Queue) stop(batch []Task, e *Pending, size int64) string {
	first, next := &batch[0], &e.Task
	switch {
	case first.Crashes > 0:
		return fmt.Sprintf("task with id %d is applied alone since the host ended or failed while it was applied before", first.UID)
	case !writesDocuments(first.Type):
		return aloneStrategy(first)
	case next.IndexUID != first.IndexUID:
		return fmt.Sprintf("stopped before task with id %d because it is about another index", next.UID)
	case next.Crashes > 0 || !writesDocuments(next.Type):
		return fmt.Sprintf("stopped before task with id %d of type `%s` that cannot be batched with those before", next.UID, next.Type)
	case len(batch) == maxJoined:
		return fmt.Sprintf("reached the limit of %d tasks", maxJoined)
	case size+e.Size > maxJoinedBytes:
		return fmt.Sprintf("reached the limit of %d bytes", maxJoinedBytes)
	}
	return ""
}

func aloneStrategy(t *Task) string {
	return fmt.Sprintf("created batch containing only task with id %d of type `%s` that cannot be batched with any other task.", t.UID, t.Type)
}

func writesDocuments(t Type) bool { return t == DocumentAddition || t == DocumentDeletion }
