package wasm

import (
	"context"
	"sync/atomic"
)

// A Tag names what calls belong together: an instance that has served one tag is
// brought back to its beginning before it serves another, once its module is
// frozen. Of calls without a tag, the zero value, none belongs to another.
type Tag uint64

// Rehearsal is the tag of the calls that are made before [Module.Freeze]. They
// are no use of a module that would have it keep a spare instance.
const Rehearsal Tag = 1

var tags atomic.Uint64

// NewTag returns a tag that nothing else has.
func NewTag() Tag { return Rehearsal + Tag(tags.Add(1)) }

// frozen is what a module keeps of [Module.Freeze].
type frozen struct {
	snapshot *snapshot // nil: instances are closed in place of being reset
	why      string    // there is none
}

// snapshot returns what instances begin as; nil where they start by themselves.
func (m *Module) snapshot() *snapshot {
	if f := m.frozen.Load(); f != nil {
		return f.snapshot
	}
	return nil
}

// inputRoom is the input region that a frozen instance has asked for already.
const inputRoom = 64 << 10

// Freeze has instances begin, from now on, as the one is that has served the
// [Rehearsal], and go back to it before they serve another tag. Call it once,
// when m has done what all later calls may find done, and before it is given what
// not all of them may see. Where m cannot be brought back, its instances are
// closed instead.
func (m *Module) Freeze(ctx context.Context) error {
	i, err := m.pool.acquire(ctx, Rehearsal)
	if err != nil {
		return err
	}
	if m.state.Other == "" && i.makeRoom() != nil {
		// Which tells nothing about calls: it may never want so large a region.
		m.pool.release(i, true)
		if i, err = m.pool.acquire(ctx, Rehearsal); err != nil {
			return err
		}
	}
	f := &frozen{}
	if f.snapshot, err = i.freeze(); err != nil {
		f.why = clip(err.Error(), 256)
	} else {
		i.used = false
	}
	m.frozen.Store(f)
	parked := 0
	if f.snapshot != nil {
		parked = min(m.limits.Parked, maxParkedMemory/max(len(f.snapshot.memory), 1))
	}
	m.pool.isolate(parked)
	m.pool.release(i, false)
	return nil
}

// makeRoom gives i an input region of inputRoom. Without it each answer would ask for it
// anew. After an error i is of no more use.
func (i *instance) makeRoom() error {
	size := uint32(min(inputRoom, i.module.limits.Input))
	if i.capacity >= size {
		return nil
	}
	ctx := i.begin()
	defer i.finish()
	return i.widen(ctx, size)
}

// Done says that no call of tag comes any more. The instance that served it is
// reset for another right away: the next answer need not wait for that.
func (m *Module) Done(tag Tag) {
	i := m.pool.done(tag, m.snapshot() != nil)
	if i == nil {
		return
	}
	ok := m.reset(i)
	if !ok {
		m.renewals.Add(1)
	}
	i.used = !ok
	m.pool.release(i, !ok)
}

// reset brings i back to its beginning, and reports whether it could.
func (m *Module) reset(i *instance) bool {
	pages, ok := i.reset()
	if ok {
		m.resets.Add(1)
		m.resetPages.Add(int64(pages))
	}
	return ok
}

// lend returns an instance for a call of tag. An error is a [*Fault],
// [ErrClosed] or ctx's own.
func (m *Module) lend(ctx context.Context, tag Tag) (*instance, error) {
	i, err := m.pool.acquire(ctx, tag)
	if err != nil {
		return nil, err
	}
	if i.used && (tag == 0 || i.tag != tag) && m.frozen.Load() != nil {
		if !m.reset(i) {
			m.renewals.Add(1)
			if i, err = m.pool.renew(i); err != nil {
				return nil, err
			}
		}
	}
	i.tag, i.used = tag, true
	return i, nil
}
