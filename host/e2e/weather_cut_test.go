package e2e

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// A cut is how a provider's connection ends in the middle of an answer.
type cut struct {
	head  string
	coded bool // the transfer coding of chunks, one for each event
	reset bool // the connection, rather than close it
}

func cuts() []cut {
	const typ = "Content-Type: text/event-stream\r\n"
	return []cut{
		{head: house.Stream}, // for HTTP the close is the body's end
		{head: house.Head + typ + "Content-Length: 99999\r\n\r\n"},
		{head: house.Chunks, coded: true},
		{head: house.Chunks, coded: true, reset: true},
	}
}

// TestWeatherCut has providers end an answer at a random byte before its last
// word is over: the client is told, in an error frame or, where nothing came
// before, with a status; it never gets what looks like an end. GET /metrics
// counts each as failed.
func TestWeatherCut(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 8, nil, bench.Sources()...)
	for _, source := range s.sources {
		counted := map[string]float64{}
		rises(s.House, source, func() { s.cutOff(source, counted) }, counted)
		s.checkCalm()
	}
}

// cutOff has answers of a source cut off, and says by how much series rise.
func (s *station) cutOff(source string, counted map[string]float64) {
	const words = 6
	var failed, refused, whole, most int
	for round := range s.rounds {
		c, place := cuts()[round%len(cuts())], s.rng.Float64()
		model := fmt.Sprint("cut-", source, round)
		at := 0
		s.wire.On(model, func(x *house.Exchange) {
			all := c.answer(x, words)
			at = 1 + int(place*float64(len(all)-1)) // the same where the host asks again
			x.Say(all[:at])
			if c.reset {
				_ = x.Conn.(*net.TCPConn).SetLinger(0) // else it is closed, which is as good
			}
		})
		r, got := s.Ask(source, model)
		came := s.checkFailed(fmt.Sprintf("%s: %+v, cut behind byte %d", source, c, at), r, got, http.StatusBadGateway, "llm_provider_error")
		if most = max(most, came); r.Status == http.StatusOK {
			failed++
		} else {
			refused++
		}
		if round%10 == 0 {
			whole++
			s.checkWhole(source)
		}
	}
	s.T.Logf("%s: %d cuts, %d of them before the first event; up to %d of %d words came", source, s.rounds, refused, most, words)
	labels := fmt.Sprintf("source=%q,workspace=%[1]q}", source)
	counted[`parley_chat_answers_total{outcome="failed",`+labels] = float64(failed)
	counted[`parley_chat_answers_total{outcome="answered",`+labels] = float64(whole)
	counted[`parley_chat_answers_total{outcome="left",`+labels] = 0
	counted[`parley_chat_refused_total{code="llm_provider_error"}`] = float64(refused)
}

// answer is an answer up to its last word, of which a byte is missing.
func (c cut) answer(x *house.Exchange, words int) string {
	all := c.head
	for i := range words {
		event := x.Word(i)
		if i == 0 {
			event = x.Form.Begin + event
		}
		if c.coded {
			event = house.Chunk(event)
		}
		all += event
	}
	return all
}
