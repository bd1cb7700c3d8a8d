package index

import (
	"cmp"
	"context"
	"fmt"
)

// tell wakes all who wait for a level.
func (f *follower) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

// await is [Catalog.Await].
func (f *follower) await(ctx context.Context, ix *Index) error {
	f.mu.Lock()
	told := f.told
	f.mu.Unlock()
	return f.wait(ctx, func() bool {
		if ix != nil {
			return ix.level.Load() >= told || ix.dropped.Load() || ix.halted.Load() != nil
		}
		return f.level >= told
	})
}

// WaitFor returns once searches of an index, or where uid is empty of all, know
// the message seq of the cluster's log. Where there is no such index, nothing is
// waited for but its record. One that is halted is not waited for: the error says so
// where it is the one of uid.
func (c *Catalog) WaitFor(ctx context.Context, uid string, seq uint64) error {
	f := c.follower
	var halted error
	err := f.wait(ctx, func() bool {
		if f.level < seq {
			return false
		}
		c.mu.RLock()
		defer c.mu.RUnlock()
		for of, ix := range c.indexes {
			switch {
			case uid != "" && of != uid || ix.level.Load() >= seq:
			case ix.halted.Load() == nil:
				return false
			case of == uid:
				halted = ix.haltError()
			}
		}
		return true
	})
	return cmp.Or(err, halted)
}

// Halted returns the indexes that are halted, and why.
func (c *Catalog) Halted() (list []string) {
	for _, ix := range c.All() {
		if why := ix.halted.Load(); why != nil {
			list = append(list, fmt.Sprintf("index %q is halted: %s", ix.UID(), *why))
		}
	}
	return list
}

// Level is the message up to which the searches of all indexes know the log, but of those
// that are halted.
func (c *Catalog) Level() uint64 {
	f := c.follower
	f.mu.Lock()
	level := f.level
	f.mu.Unlock()
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, ix := range c.indexes {
		if ix.halted.Load() == nil {
			level = min(level, ix.level.Load())
		}
	}
	return level
}

// wait blocks until done, which is called with mu held.
func (f *follower) wait(ctx context.Context, done func() bool) error {
	for {
		f.mu.Lock()
		ok, changed := done(), f.changed
		f.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-f.catalog.ctx.Done():
			return context.Cause(f.catalog.ctx)
		}
	}
}
