package limit

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A Refused is why a limit let something not by: the cause of the [apierr.Error].
type Refused struct {
	Subject Subject
	Spent   bool // a budget is: to ask again is in vain until it begins anew
}

func (r *Refused) Error() string { return "a limit of " + string(r.Subject) }

// A refusal is one that may be told, unless another tells more.
type refusal struct {
	message string
	spent   bool
	after   time.Duration // 0: never
}

// Admit lets an answer begin, for which it reserves tokens, or returns an
// [apierr.Error] of [apierr.TooManyRequests] or [apierr.TokenBudgetSpent] with a
// [Refused] as its cause. Both parties must let it by. state is what is left then. p
// is the answer's pass, and left alone where there is an error.
func (l *Limiter) Admit(p *Pass, key, workspace Party, tokens int64) (state State, err error) {
	if l == nil {
		return State{}, nil
	}
	now, date := time.Now(), l.Now()
	var pass Pass
	pass.enter(l, key, workspace)
	defer pass.unlock()
	var why *refusal
	var who Subject
	for i := range pass.parts {
		m, limits := pass.parts[i].meter, &pass.parts[i].limits
		m.drain(limits, now)
		r, err := m.check(l.Storage, limits, tokens, date)
		if err != nil {
			return State{}, fmt.Errorf("lease tokens: %w", err)
		}
		if r != nil && (why == nil || !why.spent && (r.spent || r.after > why.after)) {
			why, who = r, m.subject
		}
	}
	for i := range pass.parts {
		part := &pass.parts[i]
		if why != nil {
			part.meter.count(&part.share, date, Counts{Refused: 1})
		} else {
			part.span = part.meter.admit(&part.share, tokens, date)
		}
	}
	state = pass.state()
	if why != nil {
		l.Refused(workspace.Subject, why.spent)
		return state, why.error(who)
	}
	pass.reserved, pass.workspace = tokens, workspace.Subject
	*p = pass
	return state, nil
}

func (r *refusal) error(who Subject) *apierr.Error {
	code := apierr.TooManyRequests
	if r.spent {
		code = apierr.TokenBudgetSpent
	}
	return &apierr.Error{Code: code, Message: r.message, RetryAfter: r.after, Err: &Refused{who, r.spent}}
}

// holderName is what m is of, for messages. No name of a key or workspace: a caller
// knows its own.
func (m *meter) holderName() string {
	_, rest, _ := strings.Cut(string(m.subject)[len("k/"):], "/")
	of := "the workspace"
	if m.subject[0] == 'k' {
		of = "this API key"
	}
	switch {
	case strings.HasPrefix(rest, "c/"):
		return "each client of " + of
	case strings.HasPrefix(rest, "t/"):
		return "this tenant token"
	}
	return of
}

// check says why m does not let an answer of tokens begin, nil where it does: then
// its lease covers them.
func (m *meter) check(storage Storage, l *Limits, tokens int64, date time.Time) (*refusal, error) {
	if l.Tokens.Amount > 0 {
		span := l.Tokens.Period.At(date)
		if err := m.enter(storage, span); err != nil {
			return nil, err
		}
		if r := m.checkBudget(l.Tokens, tokens, date); r != nil {
			return r, nil
		}
	}
	if l.Parallel > 0 && m.running >= l.Parallel {
		return &refusal{message: fmt.Sprintf("The limit of %s is %d answers at a time: ask again when one has ended.", m.holderName(), l.Parallel), after: time.Second}, nil
	}
	if r := m.checkMinute(l, tokens); r != nil {
		return r, nil
	}
	if l.Tokens.Amount > 0 {
		return nil, m.lease(storage, l.Tokens, m.spent+tokens)
	}
	return nil, nil
}

func (m *meter) checkBudget(b Budget, tokens int64, date time.Time) *refusal {
	switch {
	case m.spent+tokens <= b.Amount:
		return nil
	case m.spent-m.reserved+tokens <= b.Amount:
		return &refusal{message: fmt.Sprintf("Answers under way hold what is left of the %d tokens that %s has %s: ask again when one has ended.", b.Amount, m.holderName(), b.Period.each()), after: time.Second}
	}
	r := &refusal{spent: true, message: fmt.Sprintf("The budget of %s is %d tokens %s, and %d are left, while this request may take %d.", m.holderName(), b.Amount, b.Period.each(), max(0, b.Amount-m.spent), tokens)}
	if end := m.span.End(); !end.IsZero() {
		r.after = max(end.Sub(date), time.Millisecond)
		r.message += " The next begin at " + end.Format(time.RFC3339) + "."
	}
	if m.spent < b.Amount {
		r.message += " Send less, or ask for a shorter answer with `max_completion_tokens`."
	}
	return r
}

// each says how often there is a budget.
func (p Period) each() string {
	switch p {
	case Total:
		return "in all"
	case Hour:
		return "an hour"
	}
	return "a " + string(p)
}

func (m *meter) checkMinute(l *Limits, tokens int64) (r *refusal) {
	if l.RequestsPerMinute > 0 {
		if wait := m.requests.wait(l.RequestsPerMinute, 1); wait > 0 {
			r = &refusal{message: fmt.Sprintf("The limit of %s is %d requests a minute: ask again in %v.", m.holderName(), l.RequestsPerMinute, wait), after: wait}
		}
	}
	if l.TokensPerMinute > 0 {
		if wait := m.tokens.wait(l.TokensPerMinute, tokens); wait > 0 && (r == nil || wait > r.after) {
			r = &refusal{message: fmt.Sprintf("The limit of %s is %d tokens a minute, and this request may take %d: ask again in %v.", m.holderName(), l.TokensPerMinute, tokens, wait), after: wait}
		}
	}
	return r
}

// Search lets n searches begin, each of which counts as a request of key, or refuses
// them as Admit does. It is nothing where key does not count them.
func (l *Limiter) Search(key Party, n int64) (state State, err error) {
	if l == nil || !key.Limits.CountSearch || key.Subject == "" {
		return State{}, nil
	}
	now, date := time.Now(), l.Now()
	var p Pass
	p.enter(l, key, Party{})
	defer p.unlock()
	var why *refusal
	var who Subject
	for i := range p.parts {
		m, limits := p.parts[i].meter, &p.parts[i].limits
		m.drain(limits, now)
		if limits.RequestsPerMinute == 0 {
			continue
		}
		if wait := m.requests.wait(limits.RequestsPerMinute, n); wait > 0 && (why == nil || wait > why.after) {
			why, who = &refusal{message: fmt.Sprintf("The limit of %s is %d requests a minute, searches among them: ask again in %v.", m.holderName(), limits.RequestsPerMinute, wait), after: wait}, m.subject
		}
	}
	for i := range p.parts {
		part := &p.parts[i]
		counts := Counts{Refused: 1}
		if why == nil {
			if counts = (Counts{Requests: n}); part.limits.RequestsPerMinute > 0 {
				part.meter.requests.used += float64(n)
			}
		}
		part.meter.count(&part.share, date, counts)
	}
	if why != nil {
		return p.state(), why.error(who)
	}
	return p.state(), nil
}

// unsaid is what is reserved for the text of a round whose request does not say how long
// it may be: most are shorter, and what they say more is settled afterwards.
const unsaid = 1000

// Estimate is what is reserved for a request of size bytes whose answer may have most
// tokens; 0: it does not say.
func Estimate(size int, most int64) int64 {
	if most <= 0 {
		most = unsaid
	}
	return int64(size+3)/4 + min(most, maxBound)
}
