package task

import (
	"cmp"
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

// head returns the tasks to apply next, together: what is urgent, else the task whose
// turn it is, and where it writes documents those behind it that write documents of
// the same index. A batch of one costs as much as one of a hundred. A task that was
// under way when the process ended goes alone: if it is the reason, no other is taken
// for it. strategy says why there are no more, in the words of a client.
func (q *Queue) head() (batch []Task, strategy string) {
	at := q.urgent()
	if at < 0 {
		at = q.turn()
	}
	if at < 0 {
		return nil, ""
	}
	first := q.pending[at].Task
	if !writesDocuments(first.Type) {
		return []Task{first}, aloneStrategy(&first)
	}
	batch, size := []Task{first}, q.pending[at].Size
	for i := range q.pending[at+1:] {
		e := &q.pending[at+1+i]
		if about := e.Task.Concerns(); len(about) > 0 && !slices.Contains(about, first.IndexUID) {
			continue // another index, which has turns of its own
		}
		if strategy = q.stop(batch, e, size); strategy != "" {
			return batch, strategy
		}
		size += e.Size
		batch = append(batch, e.Task)
	}
	return batch, "batched all enqueued tasks"
}

// turn returns the place of the pending task to apply next where none is urgent, -1
// where there is none. The tasks of an index are applied in their order, and keys take
// turns, and with each key its indexes, so that many tasks of one delay no other: what
// had its last turn longest ago is next, and of equals the oldest. A task that concerns
// no index, such as a dump, is applied behind all that are older and before all that
// are younger. What was begun before goes on first.
func (q *Queue) turn() int {
	busy := map[string]bool{} // indexes with an older task
	next := -1
	for i := range q.pending {
		p := &q.pending[i]
		about := p.Task.Concerns()
		if i == 0 || len(about) > 0 && !slices.ContainsFunc(about, func(uid string) bool { return busy[uid] }) {
			if !q.failing && (p.begun || p.Task.Crashes > 0) {
				return i
			}
			if next < 0 || q.compareTurns(&p.Task, &q.pending[next].Task) < 0 {
				next = i
			}
		}
		if len(about) == 0 {
			break
		}
		for _, uid := range about {
			busy[uid] = true
		}
	}
	return next
}

// turns are when keys and indexes had their last one, counted from 1.
type turns struct {
	n              int
	ofKey, ofIndex map[string]int
}

// compareTurns orders tasks by whose turn it is.
func (q *Queue) compareTurns(a, b *Task) int {
	t := &q.turns
	return cmp.Or(cmp.Compare(t.ofKey[a.Key], t.ofKey[b.Key]), cmp.Compare(t.ofIndex[a.index()], t.ofIndex[b.index()]))
}

// take notes that it is the turn of a task.
func (t *turns) take(of *Task) {
	t.n++
	t.ofKey[of.Key], t.ofIndex[of.index()] = t.n, t.n
}

// index is the first index that t concerns; "": it concerns none.
func (t *Task) index() string {
	if about := t.Concerns(); len(about) > 0 {
		return about[0]
	}
	return ""
}

// stop says why e does not join batch, whose tasks write documents and have size
// bytes; "" where it does.
func (q *Queue) stop(batch []Task, e *Pending, size int64) string {
	first, next := &batch[0], &e.Task
	switch {
	case first.Crashes > 0:
		return fmt.Sprintf("task with id %d is applied alone since the process ended while it was applied before", first.UID)
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
