package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Limiter holds the meters of all subjects. Safe for concurrent use; a nil one
// lets everything by and counts nothing.
type Limiter struct {
	Options
	mu       sync.RWMutex
	meters   map[Subject]*meter
	flushing sync.Mutex // by one at a time
}

// Options of [New].
type Options struct {
	Storage Storage
	// Now is the calendar's clock; nil: the machine's. Minutes are measured by the
	// machine's all the same.
	Now func() time.Time
	// Refused, where not nil, is told of each refusal of an answer, and whether a
	// budget was spent. Be quick.
	Refused func(workspace Subject, spent bool)
	// Failed, where not nil, is told of what could not be stored, and is tried again.
	Failed func(error)
}

// New returns a Limiter that reads what was spent before from o.Storage. Call Run and
// Close.
func New(o Options) *Limiter {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refused == nil {
		o.Refused = func(Subject, bool) {}
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return &Limiter{Options: o, meters: make(map[Subject]*meter)}
}

// locked returns the meter of s, locked.
func (l *Limiter) locked(s Subject) *meter {
	for {
		l.mu.RLock()
		m := l.meters[s]
		l.mu.RUnlock()
		if m == nil {
			l.mu.Lock()
			if m = l.meters[s]; m == nil {
				m = &meter{subject: s}
				l.meters[s] = m
			}
			l.mu.Unlock()
		}
		m.mu.Lock()
		if !m.gone {
			return m
		}
		m.mu.Unlock() // it went in between
	}
}

// drop takes m, which is locked, out of the meters.
func (l *Limiter) drop(m *meter) {
	m.gone = true
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.meters, m.subject)
}

// all returns the meters there are.
func (l *Limiter) all() []*meter {
	l.mu.RLock()
	defer l.mu.RUnlock()
	meters := make([]*meter, 0, len(l.meters))
	for _, m := range l.meters {
		meters = append(meters, m)
	}
	return meters
}

const (
	flushEvery = 10 * time.Second
	// idle is how long a meter is kept that nobody uses: longer than any bucket
	// takes to drain.
	idle = 10 * time.Minute
)

// Run writes down what was counted, every ten seconds until ctx ends.
func (l *Limiter) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := l.flush(); err != nil {
			l.Failed(err)
		}
		for _, m := range l.all() {
			if err := l.retire(m); err != nil {
				l.Failed(err)
			}
		}
	}
}

// batchSize is how many entries storage adds at once.
const batchSize = 1000

// flush has storage add what was counted since the last time.
func (l *Limiter) flush() error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	var entries []Entry
	for _, m := range l.all() {
		m.mu.Lock()
		entries = m.take(entries)
		m.mu.Unlock()
	}
	for len(entries) > 0 {
		batch := entries[:min(len(entries), batchSize)]
		if err := l.Storage.AddCounts(batch); err != nil {
			for _, e := range entries {
				m := l.locked(e.Subject)
				m.older = append(m.older, e)
				m.mu.Unlock()
			}
			return fmt.Errorf("write usage: %w", err)
		}
		entries = entries[len(batch):]
	}
	return nil
}

// retire lets a meter go that has not been used for a while.
func (l *Limiter) retire(m *meter) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone || m.running > 0 || time.Since(m.touched) < idle || m.counts != (Counts{}) || len(m.older) > 0 {
		return nil
	}
	if err := m.giveBack(l.Storage); err != nil {
		return fmt.Errorf("give back a lease: %w", err)
	}
	l.drop(m)
	return nil
}

// Forget removes what is known of a subject that was deleted.
func (l *Limiter) Forget(s Subject) error {
	if l == nil {
		return nil
	}
	l.flushing.Lock()
	defer l.flushing.Unlock()
	m := l.locked(s)
	l.drop(m)
	m.mu.Unlock()
	if err := l.Storage.Forget(s); err != nil {
		return fmt.Errorf("forget usage: %w", err)
	}
	return nil
}

// Close writes down what was counted, and gives back what was leased and not spent.
// What an answer that still runs has reserved stays spent.
func (l *Limiter) Close() error {
	err := l.flush()
	for _, m := range l.all() {
		m.mu.Lock()
		if !m.gone {
			err = errors.Join(err, m.giveBack(l.Storage))
			l.drop(m)
		}
		m.mu.Unlock()
	}
	return err
}

// A Usage is what a subject asked for, in the span that is now and the one before.
type Usage struct {
	Current, Previous Entry // Previous has no Subject where there is no span before
}

// Usage returns what each of parties asked for.
func (l *Limiter) Usage(parties []Party) ([]Usage, error) {
	if err := l.flush(); err != nil {
		return nil, err
	}
	now := l.Now()
	entries := make([]Entry, 0, 2*len(parties))
	for _, p := range parties {
		current := p.Limits.countSpan(now)
		before, ok := current.Before()
		if !ok {
			before = current
		}
		entries = append(entries, Entry{Subject: p.Subject, Span: current}, Entry{Subject: p.Subject, Span: before})
	}
	if err := l.Storage.Counts(entries); err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	all := make([]Usage, len(parties))
	for i := range all {
		all[i] = Usage{entries[2*i], entries[2*i+1]}
		if all[i].Current.Span == all[i].Previous.Span {
			all[i].Previous = Entry{}
		}
	}
	return all, nil
}
