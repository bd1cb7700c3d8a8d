package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestWeatherLeave hangs up at random places of each stage of an answer: the
// provider's request ends soon, whether or not it says another word, and nothing
// is left over. GET /metrics counts those as left whose answer had begun.
func TestWeatherLeave(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 1, nil, bench.Sources()...)
	for i, tt := range leavings() {
		sources := s.sources
		if !s.long { // a form for each stage
			sources = sources[i%len(sources):][:1]
		}
		var took []time.Duration
		begun := map[string]float64{}
		rises(s.House, tt.name, func() {
			for _, source := range sources {
				took = append(took, s.leaveOften(tt, source)...)
				if tt.words {
					begun[fmt.Sprintf(`parley_chat_answers_total{outcome="left",source=%q,workspace=%[1]q}`, source)] = float64(s.rounds)
				}
				begun[fmt.Sprintf(`parley_chat_answers_total{outcome="failed",source=%q,workspace=%[1]q}`, source)] = 0
			}
		}, begun)
		s.checkCalm()
		if s.long {
			slices.Sort(took)
			t.Logf("a client leaves %s: the provider's request had ended after %v (median), %v at most of %d", tt.name,
				took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), len(took))
		}
	}
}

// A leaving is a stage of an answer in which a client leaves.
type leaving struct {
	name   string
	words  bool // the client has read some; else it has not even a status
	answer func(x *house.Exchange, words int)
}

func leavings() []leaving {
	return []leaving{
		{"before the answer", false, func(x *house.Exchange, _ int) { x.Wait() }},
		{"before the first event", false, func(x *house.Exchange, _ int) { x.Say(house.Stream); x.Wait() }},
		{"in silence", true, func(x *house.Exchange, n int) { x.Say(house.Stream + x.Words(0, n)); x.Wait() }},
		{"while words flow", true, func(x *house.Exchange, n int) { x.Flow(n, time.Millisecond) }},
		{"in a flood of words", true, func(x *house.Exchange, n int) { x.Flow(n, 0) }},
	}
}

// leaveOften has clients leave, some at a time, and returns how long the
// provider's requests outlasted that.
func (s *station) leaveOften(tt leaving, source string) []time.Duration {
	s.T.Helper()
	took := make([]time.Duration, s.rounds)
	turns := make(chan struct{}, 10)
	var clients sync.WaitGroup
	for round := range s.rounds {
		words := 1 + s.rng.IntN(20)
		turns <- struct{}{}
		clients.Go(func() {
			defer func() { <-turns }()
			took[round] = s.leave(tt, source, words, fmt.Sprint(strings.ReplaceAll(tt.name, " ", "-"), source, round))
		})
	}
	clients.Wait()
	return took
}

// leave asks, and leaves once so many words have come, where any do.
func (s *station) leave(tt leaving, source string, words int, model string) time.Duration {
	after := ""
	if tt.words {
		after = bench.Word(words - 1)
	}
	begun, ended := make(chan struct{}), make(chan struct{})
	s.wire.On(model, func(x *house.Exchange) {
		close(begun)
		tt.answer(x, words)
		close(ended)
	})
	leave := begin(s.House, source, model, after, begun)
	began := time.Now()
	leave()
	house.Within(s.T, ended, "the provider sees the end")
	return time.Since(began)
}

// TestWeatherLeaveSearch hangs up in the second round, and while a hundred
// searches of one round run: were they all done before that is noticed, the next
// round's request would be cancelled instead.
func TestWeatherLeaveSearch(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 1, nil, "vLlm")
	s.AddFilms(200)
	s.rest()
	s.Must("PATCH", "/chats/w/settings", bench.Settings("vLlm", s.wire.URL, `["films"]`))
	for round := range s.rounds {
		second := fmt.Sprint("second-round", round)
		begun, ended := make(chan struct{}), make(chan struct{})
		s.wire.On(second, func(x *house.Exchange) {
			if x.Nth == 1 {
				x.Say(house.Stream + searches(1) + called)
				return
			}
			close(begun)
			x.Wait()
			close(ended)
		})
		leave := begin(s.House, "w", second, "searchSources", nil)
		house.Within(t, begun, "the second request")
		leave()
		house.Within(t, ended, "the provider sees the end")
		checkLeft(s.House, second)

		search := fmt.Sprint("search", round)
		s.wire.On(search, func(x *house.Exchange) {
			if x.Nth == 1 {
				x.Say(house.Stream + searches(100) + called)
				return
			}
			house.Within(t, x.Closed, "the provider's second request ends")
		})
		begin(s.House, "w", search, "searchProgress", nil)()
		checkLeft(s.House, search)
	}
	s.checkCalm()
	s.CheckFilms(200)
}

// searches is an event of n calls of the host's own function.
func searches(n int) string {
	calls := make([]any, n)
	for i := range calls {
		calls[i] = map[string]any{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{
			"name": "searchInIndex", "arguments": fmt.Sprintf(`{"indexUid":"films","q":"film number%d about the weather and the sea","filter":""}`, i),
		}}
	}
	b, _ := json.Marshal(map[string]any{"id": "p1", "model": "m", "choices": []any{
		map[string]any{"index": 0, "delta": map[string]any{"tool_calls": calls}, "finish_reason": nil},
	}})
	return "data: " + string(b) + "\n\n"
}

// called ends a turn that calls functions.
const called = "data: {\"id\":\"p1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"

// begin asks and reads until it has seen after, or, where that is empty, waits
// for begun. It returns what hangs up and waits until the host has logged so.
func begin(h *house.House, workspace, model, after string, begun <-chan struct{}) (leave func()) {
	h.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}],"tools":[`+
		`{"type":"function","function":{"name":"searchProgress"}},{"type":"function","function":{"name":"searchSources"}}]}`, model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/chats/"+workspace+"/chat/completions", strings.NewReader(body))
	if err != nil {
		h.T.Fatal(err)
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("x-request-id", model)
	done := make(chan struct{})
	seen := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := h.Client.Do(req)
		if err != nil {
			return // left before the answer
		}
		defer resp.Body.Close()
		var got strings.Builder
		buf := make([]byte, 4<<10)
		for {
			n, err := resp.Body.Read(buf)
			got.Write(buf[:n])
			if after != "" && strings.Contains(got.String(), after) {
				close(seen)
				_, _ = io.Copy(io.Discard, resp.Body) // until it is called off
				return
			}
			if err != nil {
				h.T.Errorf("the answer ended before %q was in it: %v: %.500s", after, err, got.String())
				return
			}
		}
	}()
	if after == "" {
		house.Within(h.T, begun, "the provider is asked")
	} else {
		house.Within(h.T, seen, "the client reads "+after)
	}
	return func() {
		cancel()
		<-done
	}
}

// checkLeft wants the access line of the request to come, and to say that its
// client left where an answer was under way.
func checkLeft(h *house.House, model string) {
	h.T.Helper()
	line := ""
	id := fmt.Sprintf(`"request_id":%q`, model)
	if !waittest.Until(func() bool {
		for l := range strings.Lines(h.Log.String()) {
			if strings.Contains(l, id) && strings.Contains(l, `"message":"request"`) {
				line = l
			}
		}
		return line != ""
	}) {
		h.T.Fatalf("no log line of the request:\n%s", h.Log.String())
	}
	if strings.Contains(line, `"status":200`) && !strings.Contains(line, `"cancelled":true`) {
		h.T.Errorf("the log does not say that the client left: %s", line)
	}
	if strings.Contains(h.Log.String(), "panicked") {
		h.T.Errorf("something panicked:\n%s", h.Log.String())
	}
}
