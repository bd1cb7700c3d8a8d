package task

import "time"

// Pending is the number of tasks that are not finished.
func (q *Queue) Pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending)
}

// A Load is how much a queue has before it.
type Load struct {
	Enqueued, Processing int
	Age                  time.Duration // since the oldest of them was accepted, by the machine's clock
}

// Load returns how much is before q now.
func (q *Queue) Load() Load {
	q.mu.Lock()
	defer q.mu.Unlock()
	var l Load
	if q.running != nil {
		l.Processing = len(q.running.Works)
	}
	l.Enqueued = len(q.pending) - l.Processing
	if len(q.pending) > 0 {
		l.Age = max(q.opts.Now().Sub(q.pending[0].Task.EnqueuedAt), 0)
	}
	return l
}
