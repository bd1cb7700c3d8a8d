package task

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrCanceled is why the context of a [Run] ends when its tasks are canceled.
var ErrCanceled = errors.New("the task was canceled")

// A Run is one call of a [Processor]: the works to apply, and the way to say
// how far they are.
type Run struct {
	Works []Work

	mu       sync.Mutex
	cancel   context.CancelCauseFunc // nil: nobody can cancel it
	until    time.Time               // see Late; zero: no end
	canceled bool
	begun    bool
	progress Progress
	since    time.Time  // when the step of progress began
	trace    []StepTime // the steps before it
}

// NewRun returns a run of works that nobody cancels.
func NewRun(works []Work) *Run { return &Run{Works: works} }

// Begin says that from here on something durable changes, and so that it is
// too late to cancel the works. It returns [ErrCanceled] where they are
// canceled already: then nothing may be left of them. It may be called more
// than once.
func (r *Run) Begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.canceled {
		return ErrCanceled
	}
	r.begun = true
	return nil
}

// interrupt ends the run's context, unless it is too late.
func (r *Run) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun || r.cancel == nil {
		return
	}
	r.canceled = true
	r.cancel(ErrCanceled)
}

// Late reports whether the run has taken so long that tasks of other indexes have
// waited enough: it is to end behind the work that is being applied.
func (r *Run) Late() bool { return !r.until.IsZero() && time.Now().After(r.until) }

func (r *Run) state() (begun, canceled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun, r.canceled
}

// A Progress is how far a run is.
type Progress struct {
	Step  string // what is being done, in the words of a client
	Done  int    // of Total
	Total int    // 0: not known
}

// Percentage is how much of the step is done, from 0 to 100.
func (p Progress) Percentage() float64 {
	if p.Total <= 0 {
		return 0
	}
	return 100 * float64(min(p.Done, p.Total)) / float64(p.Total)
}

// Report says how far the run is.
func (r *Run) Report(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Step != r.progress.Step {
		r.endStep()
	}
	r.progress = p
}

// endStep notes how long the step took that ends now. Call it with r.mu held.
func (r *Run) endStep() {
	now := time.Now()
	if r.progress.Step != "" {
		r.trace = append(r.trace, StepTime{r.progress.Step, now.Sub(r.since)})
	}
	r.since = now
}

// spans ends the last step and returns all.
func (r *Run) spans() []StepTime {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endStep()
	return r.trace
}

// Progress is what was reported last.
func (r *Run) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress
}
