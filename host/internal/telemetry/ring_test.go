package telemetry

import (
	"sync"
	"testing"

	"github.com/parley-search/parley/abi/event"
)

func TestRing(t *testing.T) {
	r := NewRing(3 * event.Size[event.Network]())
	for n := range 5 {
		Emit(r, &event.Network{Remotes: event.Count(n)})
	}
	if got := r.Dropped(); got != 2 {
		t.Errorf("Dropped = %d, want the 2 that had no room", got)
	}
	b, count := r.take(nil)
	if count != 3 {
		t.Fatalf("take = %d events, want 3", count)
	}
	Emit(r, &event.Network{Remotes: 9})
	for want := range 3 {
		rec, rest, ok, err := event.Next(b)
		var e event.Network
		if !ok || err != nil || !event.Read(rec, &e) || int(e.Remotes) != want {
			t.Fatalf("event %d = %v, %v, %v, want it in order and untouched by what came after", want, e, ok, err)
		}
		b = rest
	}
	again, count := r.take(b[:0])
	if count != 1 || len(again) != event.Size[event.Network]() {
		t.Errorf("take = %d events in %d bytes, want the one", count, len(again))
	}
}

func TestNoRing(t *testing.T) {
	var r *Ring
	Emit(r, &event.Chat{})
	if r.Dropped() != 0 {
		t.Error("a nil ring counts")
	}
}

// TestRingHammer emits from many goroutines while one takes: nothing is lost
// or torn.
func TestRingHammer(t *testing.T) {
	const workers, each = 8, 2000
	r := NewRing(1 << 20)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := range each {
				Emit(r, &event.Export{IndexPatterns: event.Count(w), PatternsWithFilter: event.Count(n)})
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()

	var next [workers]event.Count
	var spare []byte
	total := 0
	drain := func() {
		b, count := r.take(spare)
		spare = b
		total += count
		for {
			rec, rest, ok, err := event.Next(b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return
			}
			var e event.Export
			if !event.Read(rec, &e) || e.PatternsWithFilter != next[e.IndexPatterns] {
				t.Fatalf("event %+v, want number %d of its worker", e, next[e.IndexPatterns])
			}
			next[e.IndexPatterns]++
			b = rest
		}
	}
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		drain()
	}
	if dropped := int(r.Dropped()); total+dropped != workers*each || dropped != 0 {
		t.Errorf("%d events came and %d were dropped, want all %d", total, dropped, workers*each)
	}
}

// BenchmarkEmit is what an event costs on the way of a request.
func BenchmarkEmit(b *testing.B) {
	r := NewRing(0)
	e := event.Search{Outcome: event.Succeeded, Latency: 12, Limit: 20}
	var spare []byte
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		Emit(r, &e)
		if n++; n%1024 == 0 {
			spare, _ = r.take(spare)
		}
	}
	if r.Dropped() > 0 {
		b.Fatal("events were dropped, which would be cheap")
	}
}
