package wasm

import (
	"slices"
	"time"
)

// tick begins to look for idleness.
func (p *pool) tick() {
	p.ticking, p.seen = true, p.uses
	if p.ticker == nil {
		p.ticker = time.AfterFunc(p.idleAfter, p.rest)
		return
	}
	p.ticker.Reset(p.idleAfter)
}

// rest shrinks a pool that nobody used since the last tick to one instance. One
// in use lets go of those that are parked and were not used.
func (p *pool) rest() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	var drop []*instance
	if p.uses != p.seen {
		p.idle = slices.DeleteFunc(p.idle, func(i *instance) bool {
			unused := p.active > p.limit && i.lastUse <= p.seen
			if unused {
				drop = append(drop, i)
				p.active--
			}
			return unused
		})
		p.leaving += len(drop)
		p.tick()
		p.mu.Unlock()
		p.dismiss(drop...)
		return
	}
	p.ticking = false
	if n := len(p.idle); n > 1 {
		drop = append(drop, p.idle[:n-1]...)
		p.idle = append([]*instance(nil), p.idle[n-1])
		p.active -= n - 1
	}
	if p.spare != nil && p.active > 0 {
		drop = append(drop, p.spare)
		p.spare = nil
	}
	p.leaving += len(drop)
	p.mu.Unlock()
	p.dismiss(drop...)
}

// close refuses all that wait, closes what is idle and waits for the rest.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.refuse(ErrClosed)
	drop := p.idle
	p.active -= len(p.idle)
	if p.spare != nil {
		drop = append(drop, p.spare)
	}
	p.idle, p.spare = nil, nil
	if p.ticker != nil {
		p.ticker.Stop()
	}
	p.leaving += len(drop)
	p.mu.Unlock()
	p.dismiss(drop...)
	<-p.quiet
}

// settle wakes close once nothing is lent or being started.
func (p *pool) settle() {
	if !p.closed || p.active > 0 || p.starting || p.leaving > 0 {
		return
	}
	select {
	case <-p.quiet:
	default:
		close(p.quiet)
	}
}

// dismiss closes instances that nobody else knows any more; the caller has
// counted them as leaving.
func (p *pool) dismiss(gone ...*instance) {
	for _, i := range gone {
		i.close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaving -= len(gone)
	p.settle()
}
