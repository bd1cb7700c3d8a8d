// Package limittest holds what [limit.Storage] promises as a test, and an
// implementation in memory.
package limittest

import (
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/limit"
)

// Memory is a [limit.Storage]. Its zero value is ready.
type Memory struct {
	// Err, where not nil, is what every write returns.
	Err error

	mu     sync.Mutex
	spent  map[at]int64
	counts map[at]limit.Counts
	writes int // of SetSpent
}

type at struct {
	subject limit.Subject
	span    limit.Span
}

var _ limit.Storage = (*Memory)(nil)

// Fail has every write from now on return err.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Err = err
}

// Writes returns how often SetSpent was called.
func (m *Memory) Writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// Spent implements [limit.Storage].
func (m *Memory) Spent(s limit.Subject, span limit.Span) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[at{s, span}], nil
}

// SetSpent implements [limit.Storage].
func (m *Memory) SetSpent(s limit.Subject, span limit.Span, tokens int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Err != nil {
		return m.Err
	}
	if m.spent == nil {
		m.spent = make(map[at]int64)
	}
	m.spent[at{s, span}] = tokens
	m.writes++
	return nil
}

// AddCounts implements [limit.Storage].
func (m *Memory) AddCounts(more []limit.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Err != nil {
		return m.Err
	}
	if m.counts == nil {
		m.counts = make(map[at]limit.Counts)
	}
	for _, e := range more {
		m.counts[at{e.Subject, e.Span}] = m.counts[at{e.Subject, e.Span}].Plus(e.Counts)
	}
	return nil
}

// Counts implements [limit.Storage].
func (m *Memory) Counts(entries []limit.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, e := range entries {
		entries[i].Counts = m.counts[at{e.Subject, e.Span}]
	}
	return nil
}

// Forget implements [limit.Storage].
func (m *Memory) Forget(s limit.Subject) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Err != nil {
		return m.Err
	}
	for k := range m.spent {
		if k.subject == s {
			delete(m.spent, k)
		}
	}
	for k := range m.counts {
		if k.subject == s {
			delete(m.counts, k)
		}
	}
	return nil
}

// TestStorage checks s, which must be empty, against the contract of
// [limit.Storage].
func TestStorage(t *testing.T, s limit.Storage) {
	t.Helper()
	now := time.Now()
	day, total := limit.Day.At(now), limit.Total.At(now)
	before, _ := day.Before()
	a, aa := limit.Key("a"), limit.Key("aa")
	spent := func(who limit.Subject, span limit.Span, want int64) {
		t.Helper()
		if got, err := s.Spent(who, span); got != want || err != nil {
			t.Errorf("Spent(%s, %v) = %d, %v; want %d", who, span, got, err, want)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	spent(a, day, 0)
	check(s.SetSpent(a, day, 1000))
	check(s.SetSpent(a, day, 2000))
	check(s.SetSpent(a, total, 7))
	check(s.SetSpent(aa, day, 5))
	check(s.SetSpent(limit.Workspace("a"), day, 6))
	spent(a, day, 2000)
	spent(a, before, 0)
	spent(a, total, 7)

	many := make([]limit.Entry, 0, 1000)
	for range 500 { // of two subjects, again and again
		many = append(many, limit.Entry{Subject: a, Span: day, Counts: limit.Counts{Requests: 1, Prompt: 2}},
			limit.Entry{Subject: aa, Span: day, Counts: limit.Counts{Requests: 2, Refused: 1}})
	}
	check(s.AddCounts(many))
	check(s.AddCounts([]limit.Entry{{Subject: a, Span: day, Counts: limit.Counts{Requests: -1, Completion: 4}}, {Subject: a, Span: before, Counts: limit.Counts{Requests: 9}}}))
	counts := func(who limit.Subject, span limit.Span, want limit.Counts) {
		t.Helper()
		entries := []limit.Entry{{Subject: limit.Key("nobody"), Span: day}, {Subject: who, Span: span}}
		check(s.Counts(entries))
		if entries[1].Counts != want || entries[0].Counts != (limit.Counts{}) {
			t.Errorf("Counts(%s, %v) = %+v, want %+v", who, span, entries, want)
		}
	}
	counts(a, day, limit.Counts{Requests: 499, Prompt: 1000, Completion: 4})
	counts(a, before, limit.Counts{Requests: 9})
	counts(aa, day, limit.Counts{Requests: 1000, Refused: 500})

	check(s.Forget(a))
	spent(a, day, 0)
	spent(a, total, 0)
	counts(a, day, limit.Counts{})
	counts(a, before, limit.Counts{})
	spent(aa, day, 5)
	spent(limit.Workspace("a"), day, 6)
	counts(aa, day, limit.Counts{Requests: 1000, Refused: 500})
	check(s.Forget(a))
}
