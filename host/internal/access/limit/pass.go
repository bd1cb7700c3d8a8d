package limit

import "time"

// A Pass is an answer that was let by, until End. Its zero value is of nobody: all
// that is done with it is nothing. Not safe for concurrent use.
type Pass struct {
	limiter   *Limiter
	workspace Subject
	parts     []part // in the order in which their meters are locked
	reserved  int64  // tokens, for the round under way
}

// A part is a share that has a subject: most answers have one or two.
type part struct {
	share
	meter *meter
	span  Span // of the budget that the tokens are reserved of
}

// enter makes p the pass of what both parties pay for. Its meters are locked.
func (p *Pass) enter(l *Limiter, key, workspace Party) {
	all, n := sharesOf(key, workspace), 0
	for i := range all {
		if all[i].subject != "" {
			n++
		}
	}
	p.limiter, p.parts = l, make([]part, 0, n)
	for i := range all {
		if all[i].subject != "" {
			p.parts = append(p.parts, part{share: all[i], meter: l.locked(all[i].subject)})
		}
	}
}

func (p *Pass) lock() {
	for i := range p.parts {
		p.parts[i].meter.mu.Lock()
	}
}

func (p *Pass) unlock() {
	for i := range p.parts {
		p.parts[i].meter.mu.Unlock()
	}
}

// admit counts an answer that begins, and returns the span that its tokens are
// reserved of.
func (m *meter) admit(s *share, tokens int64, date time.Time) Span {
	m.running++
	return m.request(s, tokens, date)
}

// request counts a request for which tokens are reserved.
func (m *meter) request(s *share, tokens int64, date time.Time) Span {
	l := &s.limits
	if l.RequestsPerMinute > 0 {
		m.requests.used++
	}
	m.count(s, date, Counts{Requests: 1})
	m.reserve(l, tokens)
	if l.Tokens.Amount == 0 {
		return Span{}
	}
	return m.span
}

func (m *meter) reserve(l *Limits, tokens int64) {
	if l.TokensPerMinute > 0 {
		m.tokens.used += float64(tokens)
	}
	if l.Tokens.Amount > 0 {
		m.spent += tokens
		m.reserved += tokens
	}
}

// Round counts a further request to the provider and reserves tokens for it, or returns
// the error of [Limiter.Admit] where a budget does not have that many left: then there
// must not be such a request. What a minute has does not end an answer under way: the
// next one waits.
func (p *Pass) Round(tokens int64) error {
	if p.limiter == nil {
		return nil
	}
	p.lock()
	defer p.unlock()
	now, date := time.Now(), p.limiter.Now()
	var why *refusal
	var who Subject
	for i := range p.parts {
		m, l := p.parts[i].meter, &p.parts[i].limits
		m.drain(l, now)
		if l.Tokens.Amount == 0 {
			continue
		}
		if err := m.enter(p.limiter.Storage, l.Tokens.Period.At(date)); err != nil {
			p.limiter.Failed(err)
		} else if r := m.checkBudget(l.Tokens, tokens, date); r != nil && (why == nil || r.spent) {
			why, who = r, m.subject
		}
	}
	for i := range p.parts {
		part := &p.parts[i]
		if why != nil {
			part.meter.count(&part.share, date, Counts{Refused: 1})
			continue
		}
		part.span = part.meter.request(&part.share, tokens, date)
		p.lease(part.meter, &part.limits)
	}
	if why != nil {
		p.limiter.Refused(p.workspace, why.spent)
		return why.error(who)
	}
	p.reserved = tokens
	return nil
}

// lease has storage hold what m spent beyond its lease. What fails is tried again
// with the next request, which is not let by without it.
func (p *Pass) lease(m *meter, l *Limits) {
	if l.Tokens.Amount == 0 {
		return
	}
	if err := m.lease(p.limiter.Storage, l.Tokens, m.spent); err != nil {
		p.limiter.Failed(err)
	}
}

// Settle puts what the round under way took in place of what was reserved for it.
func (p *Pass) Settle(prompt, completion int64) {
	if p.limiter == nil {
		return
	}
	p.lock()
	defer p.unlock()
	now, date := time.Now(), p.limiter.Now()
	for i := range p.parts {
		part := &p.parts[i]
		m, l := part.meter, &part.limits
		m.drain(l, now)
		m.count(&part.share, date, Counts{Prompt: prompt, Completion: completion})
		more := prompt + completion - p.reserved
		if l.TokensPerMinute > 0 {
			m.tokens.used = max(0, m.tokens.used+float64(more))
		}
		if l.Tokens.Amount == 0 || part.span.Period == "" {
			continue
		}
		if m.span == part.span {
			m.reserved -= p.reserved
			m.spent += more
		} else { // it was reserved of a span that is over
			m.spent += max(0, more)
		}
		p.lease(m, l)
	}
	p.reserved = 0
}

// Reserved is how many tokens are reserved for the round under way.
func (p *Pass) Reserved() int64 { return p.reserved }

// End ends the answer. What is still reserved stays spent.
func (p *Pass) End() {
	if p.limiter == nil {
		return
	}
	p.lock()
	for i := range p.parts {
		p.parts[i].meter.running--
	}
	p.unlock()
	*p = Pass{}
}

// TakeBack ends an answer that another subject pays for: its request is as if it had
// not been.
func (p *Pass) TakeBack() {
	if p.limiter == nil {
		return
	}
	p.Settle(0, 0)
	p.lock()
	date := p.limiter.Now()
	for i := range p.parts {
		part := &p.parts[i]
		if m := part.meter; part.limits.RequestsPerMinute > 0 {
			m.requests.used = max(0, m.requests.used-1)
		}
		part.meter.count(&part.share, date, Counts{Requests: -1})
	}
	p.unlock()
	p.End()
}

// State is what is left of the limits.
func (p *Pass) State() State {
	if p.limiter == nil {
		return State{}
	}
	p.lock()
	defer p.unlock()
	now := time.Now()
	for i := range p.parts {
		p.parts[i].meter.drain(&p.parts[i].limits, now)
	}
	return p.state()
}

func (p *Pass) state() (s State) {
	date := p.limiter.Now()
	for i := range p.parts {
		s = s.tighter(p.parts[i].meter.state(&p.parts[i].limits, date))
	}
	return s
}

// A State is what is left of the limits that are in force: the tightest of each kind.
type State struct{ Requests, Tokens Window }

// A Window is one limit; without a Limit none is in force.
type Window struct {
	Limit, Remaining int64
	Reset            time.Duration // until all of it is there again; 0 also where it never is
}

// InForce reports whether there is a limit at all.
func (s State) InForce() bool { return s.Requests.Limit > 0 || s.Tokens.Limit > 0 }

func (s State) tighter(o State) State {
	return State{s.Requests.tighter(o.Requests), s.Tokens.tighter(o.Tokens)}
}

func (w Window) tighter(o Window) Window {
	if w.Limit == 0 || o.Limit > 0 && (o.Remaining < w.Remaining || o.Remaining == w.Remaining && o.Reset > w.Reset) {
		return o
	}
	return w
}

func (m *meter) state(l *Limits, date time.Time) (s State) {
	if l.RequestsPerMinute > 0 {
		s.Requests = m.requests.window(l.RequestsPerMinute)
	}
	if l.TokensPerMinute > 0 {
		s.Tokens = m.tokens.window(l.TokensPerMinute)
	}
	if l.Tokens.Amount > 0 {
		w := Window{Limit: l.Tokens.Amount, Remaining: max(0, l.Tokens.Amount-m.spent)}
		if end := m.span.End(); !end.IsZero() {
			w.Reset = max(0, end.Sub(date))
		}
		s.Tokens = s.Tokens.tighter(w)
	}
	return s
}
