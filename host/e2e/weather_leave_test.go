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
)

// TestWeatherLeave hangs up at random places of each stage of an answer: the
// provider's request ends soon, whether or not it says another word, and nothing
// is left over. GET /metrics counts those as left whose answer had begun.
func TestWeatherLeave(t *testing.T) {
	s := newStation(t, 1, nil, bench.Sources()...)
	for i, tt := range leavings() {
		sources := s.sources
		if !s.long { // a form for each stage
			sources = sources[i%len(sources):][:1]
		}
		var took []time.Duration
		begun := map[string]float64{}
		s.rises(tt.name, func() {
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
	answer func(x *exchange, words int)
}

func leavings() []leaving {
	return []leaving{
		{"before the answer", false, func(x *exchange, _ int) { x.wait() }},
		{"before the first event", false, func(x *exchange, _ int) { x.say(stream); x.wait() }},
		{"in silence", true, func(x *exchange, n int) { x.say(stream + x.words(0, n)); x.wait() }},
		{"while words flow", true, func(x *exchange, n int) { x.flow(n, time.Millisecond) }},
		{"in a flood of words", true, func(x *exchange, n int) { x.flow(n, 0) }},
	}
}

// flow says n words, and more of them, a pause apart, until the host hangs up.
func (x *exchange) flow(n int, pause time.Duration) {
	x.say(stream + x.words(0, n))
	for i := n; ; i++ {
		select {
		case <-x.closed:
			return
		case <-time.After(pause):
			x.say(x.word(i))
		}
	}
}

// leaveOften has clients leave, some at a time, and returns how long the
// provider's requests outlasted that.
func (s *station) leaveOften(tt leaving, source string) []time.Duration {
	s.t.Helper()
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
	s.wire.on(model, func(x *exchange) {
		close(begun)
		tt.answer(x, words)
		close(ended)
	})
	leave := s.begin(source, model, after, begun)
	began := time.Now()
	leave()
	within(s.t, ended, "the provider sees the end")
	return time.Since(began)
}

// TestWeatherLeaveSearch hangs up in the second round, and while a hundred
// searches of one round run: were they all done before that is noticed, the next
// round's request would be cancelled instead.
func TestWeatherLeaveSearch(t *testing.T) {
	s := newStation(t, 1, nil, "vLlm")
	s.addFilms(200)
	s.rest()
	s.must("PATCH", "/chats/w/settings", bench.Settings("vLlm", s.wire.url, `["films"]`))
	for round := range s.rounds {
		second := fmt.Sprint("second-round", round)
		begun, ended := make(chan struct{}), make(chan struct{})
		s.wire.on(second, func(x *exchange) {
			if x.nth == 1 {
				x.say(stream + searches(1) + called)
				return
			}
			close(begun)
			x.wait()
			close(ended)
		})
		leave := s.begin("w", second, "searchSources", nil)
		within(t, begun, "the second request")
		leave()
		within(t, ended, "the provider sees the end")
		s.checkLeft(second)

		search := fmt.Sprint("search", round)
		s.wire.on(search, func(x *exchange) {
			if x.nth == 1 {
				x.say(stream + searches(100) + called)
				return
			}
			within(t, x.closed, "the provider's second request ends")
		})
		s.begin("w", search, "searchProgress", nil)()
		s.checkLeft(search)
	}
	s.checkCalm()
	s.checkFilms(200)
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
func (h *house) begin(workspace, model, after string, begun <-chan struct{}) (leave func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}],"tools":[`+
		`{"type":"function","function":{"name":"searchProgress"}},{"type":"function","function":{"name":"searchSources"}}]}`, model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/chats/"+workspace+"/chat/completions", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("x-request-id", model)
	done := make(chan struct{})
	seen := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := h.client.Do(req)
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
				h.t.Errorf("the answer ended before %q was in it: %v: %.500s", after, err, got.String())
				return
			}
		}
	}()
	if after == "" {
		within(h.t, begun, "the provider is asked")
	} else {
		within(h.t, seen, "the client reads "+after)
	}
	return func() {
		cancel()
		<-done
	}
}

// checkLeft wants the access line of the request to come, and to say that its
// client left where an answer was under way.
func (h *house) checkLeft(model string) {
	h.t.Helper()
	line := ""
	id := fmt.Sprintf(`"request_id":%q`, model)
	if !settles(func() bool {
		for l := range strings.Lines(h.log.String()) {
			if strings.Contains(l, id) && strings.Contains(l, `"message":"request"`) {
				line = l
			}
		}
		return line != ""
	}) {
		h.t.Fatalf("no log line of the request:\n%s", h.log.String())
	}
	if strings.Contains(line, `"status":200`) && !strings.Contains(line, `"cancelled":true`) {
		h.t.Errorf("the log does not say that the client left: %s", line)
	}
	if strings.Contains(h.log.String(), "panicked") {
		h.t.Errorf("something panicked:\n%s", h.log.String())
	}
}
