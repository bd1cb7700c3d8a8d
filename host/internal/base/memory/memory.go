// Package memory bounds what requests hold in memory: all of them together, and
// each by its answer. It counts what grows with what clients send and ask for, bodies
// that are read whole and answers that are made whole, by what they come to with all
// their copies.
package memory

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

const (
	// copies is how much a body, or an answer, takes in all for each of its bytes: what
	// was read of it or is to be written into it, the buffer that grows, and what the
	// garbage collector has not freed yet.
	copies = 3
	// small is what a request may hold that is served where larger ones are refused:
	// for them an eighth of the account is kept.
	small, kept = 256 << 10, 8
	// spare is what must be left of the process's room beside what a request takes, half of it
	// for a small one: Go's heap grows by pieces of 64 MiB.
	spare = 96 << 20
	// step is how much more a request takes before the room is looked at again.
	step = 1 << 20
)

// An Account is the memory that all requests may hold together. Safe for concurrent use.
type Account struct {
	limit   int64
	room    func() int64
	held    atomic.Int64
	refused atomic.Uint64
}

// NewAccount returns an account of limit bytes; 0: without a bound. room says how many bytes
// the process has left; nil: any number.
func NewAccount(limit int64, room func() int64) *Account {
	return &Account{limit: limit, room: room}
}

// Figures are the bytes that requests hold and may hold, 0: without a bound, and how
// often one was refused some.
func (a *Account) Figures() (held, limit int64, refused uint64) {
	return a.held.Load(), a.limit, a.refused.Load()
}

// A Loan is what one request holds of an account. A nil one is of none. Safe for
// concurrent use.
type Loan struct {
	account *Account
	most    int64 // bytes of the answer; 0: no bound
	held    atomic.Int64
	answer  atomic.Int64
}

// Lend opens the loan of a request whose answer may have so many bytes; 0: any number.
// Close it.
func (a *Account) Lend(answer int64) *Loan { return &Loan{account: a, most: answer} }

// Take takes n bytes more, or returns an [apierr.Error] that says to come again.
func (l *Loan) Take(n int64) error {
	if l == nil {
		return nil
	}
	a := l.account
	room, left := a.limit, int64(spare/2)
	before := l.held.Load()
	if before+n > small {
		room -= room / kept
		left = spare
	}
	if a.room != nil && (before == 0 || before/step != (before+n)/step) && a.room() < n+left {
		a.refused.Add(1)
		return exhausted("The process has hardly any addresses left of those that it may have (ulimit -v): send this request again in a while, or ask for less at a time.")
	}
	for {
		held := a.held.Load()
		if a.limit > 0 && held+n > room {
			a.refused.Add(1)
			return exhausted("The requests under way hold the memory that there is for them: send this one again in a while, ask for less at a time, or raise --max-request-memory.")
		}
		if a.held.CompareAndSwap(held, held+n) {
			l.held.Add(n)
			return nil
		}
	}
}

func exhausted(message string) error {
	return &apierr.Error{Code: apierr.MemoryExhausted, RetryAfter: time.Second, Message: message}
}

// Give gives n bytes back, or what is held where that is less.
func (l *Loan) Give(n int64) {
	if l == nil {
		return
	}
	for {
		held := l.held.Load()
		if given := min(n, held); l.held.CompareAndSwap(held, held-given) {
			l.account.held.Add(-given)
			return
		}
	}
}

// Close gives back all that is held. The loan may be used for another request then.
func (l *Loan) Close() {
	if l != nil {
		l.account.held.Add(-l.held.Swap(0))
		l.answer.Store(0)
	}
}

// TakeBody takes what n more bytes of a body come to that is read whole.
func (l *Loan) TakeBody(n int) error { return l.Take(copies * int64(n)) }

// GiveBody gives back what TakeBody took.
func (l *Loan) GiveBody(n int) { l.Give(copies * int64(n)) }

// TakeAnswer takes what n more bytes of the answer come to. Call it before they are
// made. Its error is an [apierr.Error], too where the answer is over its limit.
func (l *Loan) TakeAnswer(n int) error {
	if l == nil || n == 0 {
		return nil
	}
	if size := l.answer.Add(int64(n)); l.most > 0 && size > l.most {
		return &apierr.Error{
			Code:    apierr.AnswerTooLarge,
			Message: fmt.Sprintf("The answer is over the limit of %d bytes: ask for fewer documents, queries, tasks (`limit`) or texts (`input`) at a time, for less of each (`attributesToRetrieve`, `fields`, `attributesToHighlight`, `attributesToCrop`) or with shorter marks (`highlightPreTag`), or raise --http-answer-size-limit.", l.most),
		}
	}
	return l.Take(copies * int64(n))
}

type loanKey struct{}

// With returns a context in which the work for a request is done that l is the loan of.
func With(ctx context.Context, l *Loan) context.Context { return context.WithValue(ctx, loanKey{}, l) }

// Of is the loan of the request that ctx is of; nil: of none.
func Of(ctx context.Context) *Loan {
	l, _ := ctx.Value(loanKey{}).(*Loan)
	return l
}
