package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// TestWeatherStall has answers stall at random places, many at a time, on
// connections that were in use before. While they hang and once they have
// failed, every other request is answered, over connections of the same pool.
func TestWeatherStall(t *testing.T) {
	s := newStation(t, 3, map[string]string{"provider-silence-timeout": "10s", "provider-first-byte-timeout": "10s"}, bench.Sources()...)
	const kept = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	s.wire.on("kept", func(x *exchange) {
		x.say(kept + chunk(x.words(0, 3)+x.form.End) + "0\r\n\r\n")
		x.keep = true
	})
	next := func() {
		for i := range 100 {
			if r, got := s.ask(s.sources[i%len(s.sources)], "kept"); r.status != http.StatusOK || got["text"] != said(3) || got["error"] != nil {
				t.Errorf("request %d beside stalled ones: status %d, %.300s", i, r.status, r.body)
			}
		}
	}
	before := s.wire.conns.Load()
	next()
	if n := s.wire.conns.Load() - before; n > 50 {
		t.Errorf("100 requests took %d connections: none is used again, so that nothing is shown", n)
	}
	var stalled sync.WaitGroup
	var hanging atomic.Int64
	all := int64(s.rounds * len(s.sources))
	for _, source := range s.sources {
		for round := range s.rounds {
			place := s.rng.Float64()
			model := fmt.Sprint("stall-", source, round)
			s.wire.on(model, func(x *exchange) {
				begin := kept + chunk(x.words(0, 4))
				at := int(place * float64(len(begin)))
				x.say(begin[:at])
				hanging.Add(1)
				x.wait()
				x.say(begin[at:] + chunk(x.form.End) + "0\r\n\r\n") // too late
			})
			stalled.Go(func() {
				r, got := s.ask(source, model)
				s.checkFailed(model, r, got, http.StatusGatewayTimeout, "llm_provider_timeout")
				if n := s.wire.count(model); n != 1 {
					t.Errorf("%s: %d requests, want one", model, n)
				}
			})
		}
	}
	if !settles(func() bool { return hanging.Load() == all }) {
		t.Errorf("%d of %d requests reached the provider", hanging.Load(), all)
	}
	next()
	stalled.Wait()
	next()
	t.Logf("%d answers stalled; 300 requests before, meanwhile and afterwards, over %d connections in all", all, s.wire.conns.Load()-before)
	s.checkCalm()
}
