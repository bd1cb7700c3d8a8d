package wasm

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A pool keeps the instances of one module: up to limit that serve calls, made
// on demand, the last used first; once it is isolated, up to parked more, so that
// each tag under way finds its own; and, once it is in use, one spare that takes
// the place of one that was done away with, so that nobody waits for its start.
type pool struct {
	limit     int // that are lent at a time
	parked    int
	idleAfter time.Duration
	start     func() (*instance, error)

	mu       sync.Mutex
	idle     []*instance // the last used is the last
	spare    *instance
	active   int // idle or lent
	lent     int
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
type waiter struct {
	tag   Tag
	ready chan grant
}

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
	if i := p.choose(tag); i != nil {
		p.fill()
		p.mu.Unlock()
		return i, nil
	}
	w := p.newWaiter(tag)
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

// choose lends an instance for tag; nil where it has to wait for one. It takes
// the one that served tag last, else one that serves no tag under way, else the
// spare, else the one that was used last: so of more tags than instances some
// keep theirs, where each would lose its own if it were the one unused longest.
func (p *pool) choose(tag Tag) *instance {
	if p.lent >= p.limit {
		return nil
	}
	at := len(p.idle) - 1
	if p.isolated {
		at = p.idleOf(tag)
	}
	var i *instance
	if at < 0 {
		if i = p.promote(); i == nil {
			if at = len(p.idle) - 1; at < 0 {
				return nil
			}
		}
	}
	if i == nil {
		i = p.idle[at]
		p.idle = slices.Delete(p.idle, at, at+1)
	}
	p.lent++
	i.lastUse = p.uses
	return i
}

// idleOf returns where the idle instance is that served tag, or else the last
// one that serves no tag under way; -1: nowhere.
func (p *pool) idleOf(tag Tag) int {
	free := -1
	for at, i := range slices.Backward(p.idle) {
		if tag != 0 && i.used && i.tag == tag {
			return at
		}
		if free < 0 && (!i.used || i.tag == 0) {
			free = at
		}
	}
	return free
}

// done says that no call of tag comes any more. Where lend is set and nobody
// else wants it, it lends the instance that served tag.
func (p *pool) done(tag Tag, lend bool) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := -1
	for at, i := range p.idle {
		if i.tag == tag {
			i.tag, last = 0, at
		}
	}
	if last < 0 || !lend || p.lent >= p.limit || p.closed {
		return nil
	}
	i := p.idle[last]
	p.idle = slices.Delete(p.idle, last, last+1)
	p.lent++
	return i
}

// isolate has p prefer instances that need no reset, and keep parked of them
// more than it lends at a time.
func (p *pool) isolate(parked int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isolated, p.parked = true, parked
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
		p.lent--
		p.serve()
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

func (p *pool) newWaiter(tag Tag) *waiter {
	if n := len(p.rested); n > 0 {
		w := p.rested[n-1]
		p.rested = p.rested[:n-1]
		w.tag = tag
		return w
	}
	return &waiter{tag, make(chan grant, 1)}
}

// release takes an instance back, or does away with it where it is spoilt, worn,
// or one to be parked that has grown.
func (p *pool) release(i *instance, spoilt bool) {
	spent := spoilt || i.worn()
	p.mu.Lock()
	p.lent--
	if !spent && !p.closed && (p.active <= p.limit || !i.grown()) {
		p.idle = append(p.idle, i)
		p.serve()
		p.mu.Unlock()
		return
	}
	p.active--
	if !p.closed {
		if p.active < p.limit {
			if s := p.promote(); s != nil {
				p.idle = append(p.idle, s)
			}
		}
		p.serve()
		p.fill()
	}
	p.leaving++
	p.mu.Unlock()
	p.dismiss(i)
}

// serve lends to those that wait, in their order.
func (p *pool) serve() {
	for len(p.waiters) > 0 {
		i := p.choose(p.waiters[0].tag)
		if i == nil {
			return
		}
		w := p.waiters[0]
		p.waiters = slices.Delete(p.waiters, 0, 1)
		w.ready <- grant{instance: i}
	}
}

// promote makes the spare an active instance; nil where there is none or no
// room for it.
func (p *pool) promote() *instance {
	if p.spare == nil || p.active >= p.limit+p.parked {
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
		p.idle = append(p.idle, i)
		p.serve()
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
