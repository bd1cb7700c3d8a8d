package e2e

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/setup/testhook"
)

// roundsVariable says how often each thing of the weather suite is done: 100 is
// its long form, which also tells what things took. seedVariable has the random
// places of a run before.
const (
	roundsVariable = "WEATHER"
	seedVariable   = "WEATHER_SEED"
)

// A station watches the weather: a host with providers of several wire forms, a
// workspace by the name of each source, and one wire that is behind them all.
type station struct {
	*house.House
	wire    *house.Wire
	sources []string
	rounds  int
	long    bool
	rng     *rand.Rand
	quiet   int // goroutines while nothing is asked
}

// newStation goes through things as often as short says, where no variable says
// otherwise.
func newStation(t *testing.T, short int, flags map[string]string, sources ...string) *station {
	t.Helper()
	return newStationAt(t, short, flags, upstream.Options{}, sources...)
}

// newStationAt is newStation with another way to the providers.
func newStationAt(t *testing.T, short int, flags map[string]string, reach upstream.Options, sources ...string) *station {
	t.Helper()
	checkLeak(t)
	s := &station{wire: house.NewWire(t), rounds: short}
	number := func(variable string, otherwise uint64) uint64 {
		v := os.Getenv(variable)
		if v == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(v, 10, 63)
		if err != nil {
			t.Fatalf("%s is %q: want a number", variable, v)
		}
		return n
	}
	if n := number(roundsVariable, 0); n > 0 {
		s.rounds, s.long = int(n), true
	}
	seed := uint64(1) // the short form has the same places each time: whoever looks for other ones takes the long one
	if s.long {
		seed = uint64(time.Now().UnixNano())
	}
	seed = number(seedVariable, seed)
	t.Logf("%s=%d has the same random places", seedVariable, seed)
	s.rng = rand.New(rand.NewPCG(seed, 0))

	if testing.Short() && len(sources) > 3 {
		sources = []string{"vLlm", "gemini", "anthropic"} // one of each wire form
	}
	s.sources = sources
	var modules [][]byte
	for _, source := range sources {
		modules = append(modules, house.Shipped(t, strings.ToLower(source)))
	}
	all := map[string]string{"experimental-enable-metrics": "true", "log-level": "info"}
	maps.Copy(all, flags)
	s.House = house.OpenWith(t, all, host.Options{Embedded: modules, Hooks: &testhook.Hooks{Reach: reach}})
	s.wire.On("whole", func(x *house.Exchange) { x.Say(house.Stream + x.Words(0, 3) + x.Form.End) })
	for _, source := range sources {
		s.Must("PATCH", "/chats/"+source+"/settings", bench.Settings(source, s.wire.URL, "[]"))
		s.checkWhole(source)
	}
	s.rest()
	return s
}

// rest takes the goroutines that there are now for those that there may be.
func (s *station) rest() {
	s.hangUp()
	s.quiet = len(atWork())
	for range 10 { // those of what has just ended go
		time.Sleep(20 * time.Millisecond)
		s.quiet = min(s.quiet, len(atWork()))
	}
}

// said is the text of the first n words.
func said(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(bench.Word(i))
	}
	return b.String()
}

// checkWhole asks for a good answer: whatever was before has left no trace.
func (s *station) checkWhole(source string) {
	s.T.Helper()
	if r, got := s.Ask(source, "whole"); r.Status != http.StatusOK || got["text"] != said(3) || got["finish_reason"] != "stop" || got["error"] != nil {
		s.T.Errorf("%s: a good answer: status %d, %.300s", source, r.Status, r.Body)
	}
}

// checkFailed wants r to be an error with the code, or a stream that ends in
// one and does not look whole. It returns how many words came before.
func (s *station) checkFailed(what string, r house.Reply, got map[string]any, status int, code string) (words int) {
	s.T.Helper()
	var failure struct {
		Code  string
		Error struct{ Message, Code string }
	}
	if r.Status == http.StatusOK {
		e, _ := got["error"].(map[string]any)
		failure.Error.Code, failure.Error.Message = house.Text(e["code"]), house.Text(e["message"])
		words = strings.Count(house.Text(got["text"]), " ")
		if got["finish_reason"] != nil || got["text"] != said(words) {
			s.T.Errorf("%s: text %.100q, finish_reason %v: a client takes the part for the whole", what, got["text"], got["finish_reason"])
		}
	} else if err := json.Unmarshal([]byte(r.Body), &failure); err != nil || failure.Code != failure.Error.Code {
		s.T.Errorf("%s: error body %.300q: %v", what, r.Body, err)
	}
	if r.Status != http.StatusOK && r.Status != status || failure.Error.Code != code || failure.Error.Message == "" {
		s.T.Errorf("%s: status %d, %.500s; want %s, as a frame or with status %d", what, r.Status, r.Body, code, status)
	}
	return words
}

// checkCalm wants everything that was begun to have ended: requests at the
// provider, streams on plugins, goroutines.
func (s *station) checkCalm() {
	s.T.Helper()
	if !waittest.Until(func() bool { return s.wire.Under.Load() == 0 && s.streams() == 0 }) {
		s.T.Errorf("afterwards %d requests at the provider, %v streams under way", s.wire.Under.Load(), s.streams())
	}
	s.hangUp()
	if !waittest.Until(func() bool { return len(atWork()) <= s.quiet }) {
		all := atWork()
		s.T.Errorf("afterwards %d goroutines, %d before:\n%s", len(all), s.quiet, strings.Join(all, "\n\n"))
	}
}

// streams are those that plugins have under way.
func (s *station) streams() (sum float64) {
	for name, n := range series(s.House) {
		if strings.HasPrefix(name, "parley_plugin_streams{") {
			sum += n
		}
	}
	return sum
}

// hangUp closes the connections that wait for a next request, on both sides of
// the host.
func (s *station) hangUp() {
	s.Client.CloseIdleConnections()
	s.wire.HangUp()
}
