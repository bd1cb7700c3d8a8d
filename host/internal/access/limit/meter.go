package limit

import (
	"sync"
	"time"
)

// A meter holds what one subject has used.
//
// Of a budget it takes out of a lease: an amount that storage has as spent before any
// of it is used. A process that is killed loses what is left of one lease, against
// the caller; it never forgets what was spent.
type meter struct {
	subject Subject

	mu       sync.Mutex
	gone     bool // take another one: this is neither written nor found any more
	requests bucket
	tokens   bucket
	running  int64     // answers under way
	expected int64     // answers to requests whose body is being read
	touched  time.Time // by an admission

	span     Span  // of the budget; without a period: not read yet
	spent    int64 // of it, by answers that ended and by reserved
	reserved int64 // for answers under way
	leased   int64 // what storage has as spent

	counts  Counts  // that storage does not have yet
	counted Span    // that they are of
	older   []Entry // of spans before
}

// leaseShare and leastLease say how much is leased at once: few enough writes, and
// little enough to lose.
const (
	leaseShare = 100
	leastLease = 10_000
)

// drain brings m to the present.
func (m *meter) drain(l *Limits, now time.Time) {
	m.touched = now
	m.requests.drain(l.RequestsPerMinute, now)
	m.tokens.drain(l.TokensPerMinute, now)
}

// enter has m count what it spends in span.
func (m *meter) enter(storage Storage, span Span) error {
	if m.span == span || m.gone {
		return nil
	}
	spent, err := storage.Spent(m.subject, span)
	if err != nil {
		return err
	}
	m.span, m.spent, m.leased, m.reserved = span, spent, spent, 0
	return nil
}

// lease has storage hold that at least spent tokens are spent.
func (m *meter) lease(storage Storage, b Budget, spent int64) error {
	if spent <= m.leased || m.gone {
		return nil
	}
	more := max(spent, min(b.Amount, m.leased+max(b.Amount/leaseShare, leastLease)))
	if err := storage.SetSpent(m.subject, m.span, more); err != nil {
		return err
	}
	m.leased = more
	return nil
}

// giveBack has storage hold what was spent, and no more.
func (m *meter) giveBack(storage Storage) error {
	if m.leased == m.spent || m.span.Period == "" {
		return nil
	}
	if err := storage.SetSpent(m.subject, m.span, m.spent); err != nil {
		return err
	}
	m.leased = m.spent
	return nil
}

// count adds to what m has asked for as s.
func (m *meter) count(s *share, date time.Time, more Counts) {
	if s.uncounted {
		return
	}
	span := s.limits.countSpan(date)
	if m.counted != span && m.counts != (Counts{}) {
		m.older = append(m.older, Entry{m.subject, m.counted, m.counts})
		m.counts = Counts{}
	}
	m.counted = span
	m.counts.add(more)
}

// take appends what storage does not have yet to entries, and forgets it.
func (m *meter) take(entries []Entry) []Entry {
	entries = append(entries, m.older...)
	m.older = nil
	if m.counts != (Counts{}) {
		entries = append(entries, Entry{m.subject, m.counted, m.counts})
		m.counts = Counts{}
	}
	return entries
}

// countSpan is the span that what is asked for now counts in.
func (l *Limits) countSpan(now time.Time) Span {
	if l.Tokens.Period != "" {
		return l.Tokens.Period.At(now)
	}
	return Day.At(now)
}
