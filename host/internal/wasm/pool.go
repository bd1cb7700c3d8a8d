package wasm

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A pool keeps the instances of one module: up to limit that serve calls, made
// on demand, the last used first; and, once it is in use, one spare that takes
// the place of one that was done away with, so that nobody waits for its start.
type pool struct {
	limit     int
	idleAfter time.Duration
	start     func() (*instance, error)

	mu       sync.Mutex
	idle     []*instance // the last used is the last
	spare    *instance
	active   int // idle or lent
	waiters  []*waiter
	rested   []*waiter // to be used again
	starting bool      // a goroutine is at run
	leaving  int       // being closed
	retry    time.Time // when a start that failed may be tried again
	closed   bool
	isolated bool          // instances are reset between tags
	quiet    chan struct{} // closed once a closed pool holds nothing more

	uses, seen uint64 // acquisitions, and those at the last tick
	ticking    bool
	ticker     *time.Timer
}

// spareUses is how many calls a pool serves before it keeps a spare: each plugin
// of a deployment is asked for its ABI and tested at the start, and many of them
// then wait for a stream that never comes.
const spareUses = 64

// startPause is how long a pool that can serve leaves a start that failed.
const startPause = time.Second

// A waiter is a call in the queue; ready receives what it waited for.
type waiter struct{ ready chan grant }

type grant struct {
	instance *instance
	err      error
}

func newPool(limit int, idleAfter time.Duration, start func() (*instance, error)) *pool {
	return &pool{limit: limit, idleAfter: idleAfter, start: start, quiet: make(chan struct{})}
}

// acquire lends an instance, one that served tag if it can. It must be given back
// to release.
func (p *pool) acquire(ctx context.Context, tag Tag) (*instance, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	if tag != Rehearsal {
		p.uses++
	}
	if !p.ticking {
		p.tick()
	}
	if i := p.pick(tag); i != nil {
		if p.spare == nil && !p.starting {
			p.fill()
		}
		p.mu.Unlock()
		return i, nil
	}
	if i := p.promote(); i != nil {
		p.fill()
		p.mu.Unlock()
		return i, nil
	}
	w := p.newWaiter()
	p.waiters = append(p.waiters, w)
	p.fill()
	p.mu.Unlock()

	select {
	case g := <-w.ready:
		return p.granted(w, g)
	case <-ctx.Done():
	}
	p.mu.Lock()
	if at := slices.Index(p.waiters, w); at >= 0 {
		p.waiters = slices.Delete(p.waiters, at, at+1)
		p.rested = append(p.rested, w)
		p.mu.Unlock()
		return nil, ctx.Err()
	}
	p.mu.Unlock()
	// It was granted in the same moment: pass it on.
	if i, err := p.granted(w, <-w.ready); err == nil {
		p.release(i, false)
	}
	return nil, ctx.Err()
}

// pick takes an idle instance; nil where there is none, or a better one to be
// promoted. Of those that were lent for another tag it takes the one that has
// lain idle longest: its answer may be over.
func (p *pool) pick(tag Tag) *instance {
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	at := n - 1
	if p.isolated {
		for at >= 0 && p.idle[at].used && (tag == 0 || p.idle[at].tag != tag) {
			at--
		}
		if at < 0 {
			if p.spare != nil && p.active < p.limit {
				return nil
			}
			at = 0
		}
	}
	i := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	return i
}

// isolate has p prefer instances that need no reset.
func (p *pool) isolate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isolated = true
}

// renew closes i, which is lent, and lends another one in its place that has
// served nobody.
func (p *pool) renew(i *instance) (*instance, error) {
	p.mu.Lock()
	fresh := p.spare
	p.spare = nil
	p.fill()
	p.leaving++
	p.mu.Unlock()
	p.dismiss(i)
	if fresh != nil {
		return fresh, nil
	}
	fresh, err := p.start()
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.active--
		p.fill()
		p.settle()
		return nil, err
	}
	return fresh, nil
}

func (p *pool) granted(w *waiter, g grant) (*instance, error) {
	p.mu.Lock()
	p.rested = append(p.rested, w)
	p.mu.Unlock()
	return g.instance, g.err
}

func (p *pool) newWaiter() *waiter {
	if n := len(p.rested); n > 0 {
		w := p.rested[n-1]
		p.rested = p.rested[:n-1]
		return w
	}
	return &waiter{make(chan grant, 1)}
}

// release takes an instance back, or does away with it where it is spoilt or
// worn.
func (p *pool) release(i *instance, spoilt bool) {
	spent := spoilt || i.worn()
	p.mu.Lock()
	if !spent && !p.closed {
		p.lend(i)
		p.mu.Unlock()
		return
	}
	p.active--
	if !p.closed {
		if s := p.promote(); s != nil {
			p.lend(s)
		}
		p.fill()
	}
	p.leaving++
	p.mu.Unlock()
	p.dismiss(i)
}

// lend gives i, which is active, to the first waiter, or lays it aside.
func (p *pool) lend(i *instance) {
	if len(p.waiters) == 0 {
		p.idle = append(p.idle, i)
		return
	}
	w := p.waiters[0]
	p.waiters = slices.Delete(p.waiters, 0, 1)
	w.ready <- grant{instance: i}
}

// promote makes the spare an active instance; nil where there is none or no
// room for it.
func (p *pool) promote() *instance {
	if p.spare == nil || p.active >= p.limit {
		return nil
	}
	i := p.spare
	p.spare = nil
	p.active++
	return i
}

// fill sees to it that instances are being started while some are wanted.
func (p *pool) fill() {
	if p.starting || !p.wanting() {
		return
	}
	p.starting = true
	go p.run()
}

// wanting reports whether a start would be of use. After one that failed there
// is a rest, as long as there is an instance to serve calls.
func (p *pool) wanting() bool {
	if p.closed || p.active > 0 && !p.retry.IsZero() && time.Now().Before(p.retry) {
		return false
	}
	if p.active == 0 || len(p.waiters) > 0 && p.active < p.limit {
		return true
	}
	// Where there is room to serve more there is no spare either: it would have
	// been promoted.
	return p.spare == nil && p.uses >= spareUses
}

// run starts instances, one after the other, until none is wanted.
func (p *pool) run() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.wanting() {
		p.mu.Unlock()
		i, err := p.start()
		p.mu.Lock()
		if err != nil {
			p.retry = time.Now().Add(startPause)
			if p.active == 0 {
				p.refuse(err) // nobody is left to serve them
			}
			break
		}
		p.retry = time.Time{}
		if p.closed {
			p.mu.Unlock()
			i.close()
			p.mu.Lock()
			break
		}
		p.place(i)
	}
	p.starting = false
	p.settle()
}

// place puts a new instance where it is wanted most.
func (p *pool) place(i *instance) {
	if len(p.waiters) > 0 && p.active < p.limit || p.active == 0 {
		p.active++
		p.lend(i)
		return
	}
	p.spare = i
}

// refuse ends all waiting with err.
func (p *pool) refuse(err error) {
	for _, w := range p.waiters {
		w.ready <- grant{err: err}
	}
	p.waiters = nil
}
