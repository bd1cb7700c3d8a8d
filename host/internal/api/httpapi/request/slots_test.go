package request

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

func TestSlots(t *testing.T) {
	s := NewSlots(SlotBounds{Running: 3, RunningOfKey: 2, Joined: 6, JoinedOfKey: 4, Patience: time.Hour})
	join := func(key string) *Slot {
		t.Helper()
		p, err := s.Join(key)
		if err != nil {
			t.Fatalf("join of %q: %v", key, err)
		}
		return p
	}
	refused := func(key, says string) {
		t.Helper()
		_, err := s.Join(key)
		if e := apierr.From(err); err == nil || e.Code != apierr.TooManyRequests || e.RetryAfter == 0 || !strings.Contains(e.Message, says) {
			t.Errorf("join of %q: %v, want it refused with %q", key, err, says)
		}
	}
	// A greedy key sends four uploads, of which the first two go on, and gets no fifth.
	greedy := []*Slot{join("a"), join("a"), join("a"), join("a")}
	refused("a", "4 uploads of yours")
	waited := make(chan int, len(greedy))
	wait := func(i int, p *Slot) {
		t.Helper()
		if err := p.Wait(t.Context()); err != nil {
			t.Errorf("wait: %v", err)
		}
		waited <- i
	}
	wait(0, greedy[0])
	wait(1, greedy[1])
	go wait(2, greedy[2])
	// Another key's goes on at once, however many of the first wait.
	other := join("b")
	wait(3, other)
	join("c")
	refused("d", "6 uploads are under way")
	other.Leave() // its slot is not for the greedy one
	left, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if err := greedy[3].Wait(left); !errors.Is(err, gone) {
		t.Errorf("wait of one that may not go on: %v, want %v", err, gone)
	}
	greedy[3].Leave()
	if n := len(waited); n != 3 {
		t.Errorf("%d went on, want 3", n)
	}
	greedy[0].Leave()
	for range 4 {
		<-waited // the last is the one that waited
	}
	greedy[1].Leave()
	greedy[2].Leave()
	if s.running != 0 || s.joined != 1 || len(s.ofKey) != 1 {
		t.Errorf("%d run and %d of %d keys have joined, want 0 and 1 of 1", s.running, s.joined, len(s.ofKey))
	}
	impatient := NewSlots(SlotBounds{Running: 0, Joined: 1, JoinedOfKey: 1, Patience: time.Nanosecond})
	p, err := impatient.Join("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context()); !apierr.Is(err, apierr.TooManyRequests) {
		t.Errorf("wait without an end: %v, want %v", err, apierr.TooManyRequests)
	}
}
