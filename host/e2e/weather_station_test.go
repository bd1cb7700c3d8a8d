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
	"github.com/parley-search/parley/host/internal/testhook"
	"github.com/parley-search/parley/host/internal/upstream"
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
	*house
	wire    *wire
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
	s := &station{wire: newWire(t), rounds: short}
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
		modules = append(modules, shipped(t, strings.ToLower(source)))
	}
	all := map[string]string{"experimental-enable-metrics": "true", "log-level": "info"}
	maps.Copy(all, flags)
	s.house = openHouseWith(t, all, host.Options{Embedded: modules, Hooks: &testhook.Hooks{Reach: reach}})
	s.wire.on("whole", func(x *exchange) { x.say(stream + x.words(0, 3) + x.form.End) })
	for _, source := range sources {
		s.must("PATCH", "/chats/"+source+"/settings", bench.Settings(source, s.wire.url, "[]"))
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

// words are the events from the beginning of an answer, or from its word with
// number first on, to before the word with number end.
func (x *exchange) words(first, end int) string {
	var b strings.Builder
	if first == 0 {
		b.WriteString(x.form.Begin)
	}
	for i := first; i < end; i++ {
		b.WriteString(x.word(i))
	}
	return b.String()
}

// word is the event of one word.
func (x *exchange) word(i int) string {
	return strings.ReplaceAll(x.form.Word, "%q", strconv.Quote(bench.Word(i)))
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
	s.t.Helper()
	if r, got := s.ask(source, "whole"); r.status != http.StatusOK || got["text"] != said(3) || got["finish_reason"] != "stop" || got["error"] != nil {
		s.t.Errorf("%s: a good answer: status %d, %.300s", source, r.status, r.body)
	}
}

// checkFailed wants r to be an error with the code, or a stream that ends in
// one and does not look whole. It returns how many words came before.
func (s *station) checkFailed(what string, r reply, got map[string]any, status int, code string) (words int) {
	s.t.Helper()
	var failure struct {
		Code  string
		Error struct{ Message, Code string }
	}
	if r.status == http.StatusOK {
		e, _ := got["error"].(map[string]any)
		failure.Error.Code, failure.Error.Message = str(e["code"]), str(e["message"])
		words = strings.Count(str(got["text"]), " ")
		if got["finish_reason"] != nil || got["text"] != said(words) {
			s.t.Errorf("%s: text %.100q, finish_reason %v: a client takes the part for the whole", what, got["text"], got["finish_reason"])
		}
	} else if err := json.Unmarshal([]byte(r.body), &failure); err != nil || failure.Code != failure.Error.Code {
		s.t.Errorf("%s: error body %.300q: %v", what, r.body, err)
	}
	if r.status != http.StatusOK && r.status != status || failure.Error.Code != code || failure.Error.Message == "" {
		s.t.Errorf("%s: status %d, %.500s; want %s, as a frame or with status %d", what, r.status, r.body, code, status)
	}
	return words
}

// checkCalm wants everything that was begun to have ended: requests at the
// provider, streams on plugins, goroutines.
func (s *station) checkCalm() {
	s.t.Helper()
	if !settles(func() bool { return s.wire.under.Load() == 0 && s.streams() == 0 }) {
		s.t.Errorf("afterwards %d requests at the provider, %v streams under way", s.wire.under.Load(), s.streams())
	}
	s.hangUp()
	if !settles(func() bool { return len(atWork()) <= s.quiet }) {
		all := atWork()
		s.t.Errorf("afterwards %d goroutines, %d before:\n%s", len(all), s.quiet, strings.Join(all, "\n\n"))
	}
}

// streams are those that plugins have under way.
func (s *station) streams() (sum float64) {
	for name, n := range s.series() {
		if strings.HasPrefix(name, "parley_plugin_streams{") {
			sum += n
		}
	}
	return sum
}

// hangUp closes the connections that wait for a next request, on both sides of
// the host.
func (s *station) hangUp() {
	s.client.CloseIdleConnections()
	s.wire.hangUp()
}
