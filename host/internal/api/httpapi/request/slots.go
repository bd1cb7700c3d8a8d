package request

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// SlotBounds are how many requests do at a time what takes much memory, and how many are on
// their way to it: they send what they bring, or wait.
type SlotBounds struct {
	Running, RunningOfKey int // in all, and of one key
	Joined, JoinedOfKey   int // with those on their way
	Patience              time.Duration
}

// Slots let requests with large bodies go on one after the other, so that no key, however
// slow it sends or however much, stops the others. Safe for concurrent use.
type Slots struct {
	bounds SlotBounds

	mu              sync.Mutex
	joined, running int
	ofKey           map[string]*slotShare
	waiting         []*Slot // in their order
}

// A slotShare is what requests of one key hold.
type slotShare struct{ joined, running int }

// NewSlots returns slots of which none is taken.
func NewSlots(b SlotBounds) *Slots { return &Slots{bounds: b, ofKey: map[string]*slotShare{}} }

// A Slot is a request's place among others.
type Slot struct {
	slots   *Slots
	key     string
	running bool          // guarded by slots.mu
	ready   chan struct{} // closed once it runs
}

// retryUploads is what a refused client is told to wait.
const retryUploads = 10 * time.Second

// Join lets a request of a key send what it brings, or refuses it. Call Leave when the
// request is over.
func (s *Slots) Join(key string) (*Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share := s.ofKey[key]
	switch {
	case share != nil && share.joined >= s.bounds.JoinedOfKey:
		return nil, busy("%d uploads of yours are under way, as many as one API key may have: send this one when another has ended.", share.joined)
	case s.joined >= s.bounds.Joined:
		return nil, busy("%d uploads are under way, as many as this host takes at a time: send this one in a while.", s.joined)
	case share == nil:
		share = &slotShare{}
		s.ofKey[key] = share
	}
	s.joined++
	share.joined++
	return &Slot{slots: s, key: key, ready: make(chan struct{})}, nil
}

func busy(format string, args ...any) error {
	return &apierr.Error{Code: apierr.TooManyRequests, Message: fmt.Sprintf(format, args...), RetryAfter: retryUploads}
}

// Wait waits until the request may go on, but no longer than [SlotBounds.Patience].
func (p *Slot) Wait(ctx context.Context) error {
	s := p.slots
	s.mu.Lock()
	s.waiting = append(s.waiting, p)
	s.grantNext()
	s.mu.Unlock()
	timer := time.NewTimer(s.bounds.Patience)
	defer timer.Stop()
	select {
	case <-p.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return busy("The uploads before this one have taken more than %v: send it again in a while.", s.bounds.Patience)
	}
}

// Leave gives all back that the request holds.
func (p *Slot) Leave() {
	s := p.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w *Slot) bool { return w == p })
	share := s.ofKey[p.key]
	s.joined--
	if share.joined--; share.joined == 0 {
		delete(s.ofKey, p.key)
	}
	if p.running {
		p.running = false
		s.running--
		share.running--
	}
	s.grantNext()
}

// grantNext lets those go on that may, in their order. Call it with s.mu held.
func (s *Slots) grantNext() {
	s.waiting = slices.DeleteFunc(s.waiting, func(p *Slot) bool {
		share := s.ofKey[p.key]
		if s.running >= s.bounds.Running || share.running >= s.bounds.RunningOfKey {
			return false
		}
		p.running = true
		s.running++
		share.running++
		close(p.ready)
		return true
	})
}
