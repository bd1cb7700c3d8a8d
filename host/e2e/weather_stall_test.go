package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestWeatherStall has answers stall at random places, many at a time, on
// connections that were in use before. While they hang and once they have
// failed, every other request is answered, over connections of the same pool.
func TestWeatherStall(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 3, map[string]string{"provider-silence-timeout": "10s", "provider-first-byte-timeout": "10s"}, bench.Sources()...)
	const kept = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	s.wire.On("kept", func(x *house.Exchange) {
		x.Say(kept + house.Chunk(x.Words(0, 3)+x.Form.End) + "0\r\n\r\n")
		x.Keep = true
	})
	next := func() {
		for i := range 100 {
			if r, got := s.Ask(s.sources[i%len(s.sources)], "kept"); r.Status != http.StatusOK || got["text"] != said(3) || got["error"] != nil {
				t.Errorf("request %d beside stalled ones: status %d, %.300s", i, r.Status, r.Body)
			}
		}
	}
	before := s.wire.Conns.Load()
	next()
	if n := s.wire.Conns.Load() - before; n > 50 {
		t.Errorf("100 requests took %d connections: none is used again, so that nothing is shown", n)
	}
	var stalled sync.WaitGroup
	var hanging atomic.Int64
	all := int64(s.rounds * len(s.sources))
	for _, source := range s.sources {
		for round := range s.rounds {
			place := s.rng.Float64()
			model := fmt.Sprint("stall-", source, round)
			s.wire.On(model, func(x *house.Exchange) {
				begin := kept + house.Chunk(x.Words(0, 4))
				at := int(place * float64(len(begin)))
				x.Say(begin[:at])
				hanging.Add(1)
				x.Wait()
				x.Say(begin[at:] + house.Chunk(x.Form.End) + "0\r\n\r\n") // too late
			})
			stalled.Go(func() {
				r, got := s.Ask(source, model)
				s.checkFailed(model, r, got, http.StatusGatewayTimeout, "llm_provider_timeout")
				if n := s.wire.Count(model); n != 1 {
					t.Errorf("%s: %d requests, want one", model, n)
				}
			})
		}
	}
	if !waittest.Until(func() bool { return hanging.Load() == all }) {
		t.Errorf("%d of %d requests reached the provider", hanging.Load(), all)
	}
	next()
	stalled.Wait()
	next()
	t.Logf("%d answers stalled; 300 requests before, meanwhile and afterwards, over %d connections in all", all, s.wire.Conns.Load()-before)
	s.checkCalm()
}
