package limit

import (
	"fmt"
	"time"
)

// Expect makes room for an answer before the body of its request is read, which takes
// memory: what is expected counts as a request and as an answer under way for others
// that are to be expected, so that nobody sends more bodies at a time than it may have
// answered. Without room it refuses as [Limiter.Admit] does. End it by done before the
// answer is admitted; nothing is spent by it. workspace may be of nobody.
func (l *Limiter) Expect(key, workspace Party) (done func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	now, date := time.Now(), l.Now()
	var p Pass
	p.enter(l, key, workspace)
	defer p.unlock()
	var why *refusal
	var who Subject
	for i := range p.parts {
		m, limits := p.parts[i].meter, &p.parts[i].limits
		m.drain(limits, now)
		if r := m.checkExpected(limits); r != nil && (why == nil || r.after > why.after) {
			why, who = r, m.subject
		}
	}
	if why != nil {
		for i := range p.parts {
			p.parts[i].meter.count(&p.parts[i].share, date, Counts{Refused: 1})
		}
		l.Refused(workspace.Subject, false)
		return nil, why.error(who)
	}
	subjects := make([]Subject, len(p.parts))
	for i := range p.parts {
		subjects[i] = p.parts[i].meter.subject
		p.parts[i].meter.expected++
	}
	return func() {
		for _, s := range subjects {
			m := l.locked(s)
			m.expected = max(0, m.expected-1) // it may be another one by now
			m.mu.Unlock()
		}
	}, nil
}

// checkExpected says why m has no room for another answer beside those that are
// under way or expected; nil where it has.
func (m *meter) checkExpected(l *Limits) *refusal {
	if l.Parallel > 0 && m.running+m.expected >= l.Parallel {
		return &refusal{message: fmt.Sprintf("The limit of %s is %d answers at a time: ask again when one has ended.", m.holderName(), l.Parallel), after: time.Second}
	}
	if l.RequestsPerMinute == 0 {
		return nil
	}
	b := m.requests
	b.used += float64(m.expected)
	if wait := b.wait(l.RequestsPerMinute, 1); wait > 0 {
		return &refusal{message: fmt.Sprintf("The limit of %s is %d requests a minute: ask again in %v.", m.holderName(), l.RequestsPerMinute, wait), after: wait}
	}
	return nil
}
