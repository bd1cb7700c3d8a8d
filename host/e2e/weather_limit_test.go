package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// limited is a refusal in the words of every wire form.
const limited = `{"type":"error","message":"slow down","error":{"type":"rate_limit_error","code":429,"status":"RESOURCE_EXHAUSTED","message":"slow down"}}`

// TestWeatherLimit has providers answer 429 and say when to ask again, in
// seconds or as a date: status, header and words arrive, and nothing is asked
// twice.
func TestWeatherLimit(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 4, nil, bench.Sources()...)
	const code = "llm_provider_rate_limited"
	for _, source := range s.sources {
		rises(s.House, source, func() {
			for round := range s.rounds {
				wait := 1000 + s.rng.IntN(80_000)
				value, least := strconv.Itoa(wait), wait
				if round%2 == 1 {
					value, least = time.Now().Add(time.Duration(wait)*time.Second).UTC().Format(http.TimeFormat), wait-900
				}
				model := fmt.Sprint("limit-", source, round)
				s.wire.On(model, says(house.Answered(429, "Content-Type: application/json\r\nRetry-After: "+value+"\r\n", limited)))
				r, got := s.Ask(source, model)
				what := fmt.Sprintf("%s, Retry-After: %s", source, value)
				s.checkFailed(what, r, got, http.StatusTooManyRequests, code)
				retryAfter(least, wait)(t, r, got)
				if r.Status != http.StatusTooManyRequests || !strings.Contains(r.Body, "slow down") || s.wire.Count(model) != 1 {
					t.Errorf("%s: status %d, %d requests, %.300s; want 429 of one request, with the provider's words", what, r.Status, s.wire.Count(model), r.Body)
				}
			}
			s.checkWhole(source)
		}, map[string]float64{`parley_chat_refused_total{code="` + code + `"}`: float64(s.rounds)})
	}
	s.checkCalm()
}
