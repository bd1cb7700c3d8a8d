package task_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/clocktest"
	"github.com/parley-search/parley/host/internal/task"
)

// TestQueueClock sets the clock between and within tasks, forward by a year and
// back by two days more: their order is that of their numbers, none ends before
// it began, each is found by the dates that it has, and nothing waits.
func TestQueueClock(t *testing.T) {
	const year = 365 * 24 * time.Hour
	var c clocktest.Clock
	set := time.Duration(0) // while the next is applied
	p := &recorder{answer: func(works []task.Work) ([]task.Outcome, error) {
		c.Set(set)
		return make([]task.Outcome, len(works)), nil
	}}
	q := open(t, openStore(t), p, task.Options{Now: c.Now})
	defer run(q)()
	begun := time.Now()
	for _, set = range []time.Duration{0, year, -year - 48*time.Hour, 48 * time.Hour, -24 * time.Hour} {
		wait(t, q, enqueue(t, q, task.IndexCreation, "a", "").TaskUID)
	}
	all, err := q.Tasks(t.Context(), task.Filter{})
	if err != nil || len(all.Results) != 5 {
		t.Fatalf("%d tasks, %v, want 5", len(all.Results), err)
	}
	for i, tk := range all.Results {
		if tk.UID != uint32(4-i) {
			t.Errorf("task %d is listed as number %d of the newest", tk.UID, i)
		}
		if tk.EnqueuedAt.IsZero() || tk.StartedAt.Before(tk.EnqueuedAt) || tk.FinishedAt.Before(tk.StartedAt) {
			t.Errorf("task %d: enqueued %v, started %v, finished %v", tk.UID, tk.EnqueuedAt, tk.StartedAt, tk.FinishedAt)
		}
		for name, f := range map[string]task.Filter{
			"enqueued": {Enqueued: around(tk.EnqueuedAt)}, "started": {Started: around(tk.StartedAt)}, "finished": {Finished: around(tk.FinishedAt)},
		} {
			f.UIDs = []uint32{tk.UID}
			if p, err := q.Tasks(t.Context(), f); err != nil || p.Total != 1 {
				t.Errorf("task %d is found %d times by when it was %s, %v", tk.UID, p.Total, name, err)
			}
		}
	}
	// Dates are by the clock: 1 ended a year from now, 2 came in then.
	ahead, err := q.Tasks(t.Context(), task.Filter{Finished: task.Span{After: begun.Add(year / 2)}})
	if err != nil || fmt.Sprint(ahead.Total) != "2" {
		t.Errorf("%d tasks ended in a year, %v, want 2", ahead.Total, err)
	}
}

// around is a span about a moment.
func around(at time.Time) task.Span { return task.Span{After: at.Add(-1), Before: at.Add(1)} }

// TestLoadAge: what waits is never younger than nothing.
func TestLoadAge(t *testing.T) {
	var c clocktest.Clock
	q := open(t, openStore(t), &recorder{}, task.Options{Now: c.Now})
	if got := q.Load().Age; got != 0 {
		t.Errorf("age of nothing = %v", got)
	}
	enqueue(t, q, task.IndexCreation, "a", "")
	c.Set(-24 * time.Hour)
	if got := q.Load().Age; got != 0 {
		t.Errorf("age after the clock was set back = %v, want 0", got)
	}
	c.Set(25 * time.Hour)
	if got := q.Load().Age; got < time.Hour || got > 2*time.Hour {
		t.Errorf("age after it was set to an hour ahead = %v, want an hour", got)
	}
}
