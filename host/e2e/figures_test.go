package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// series reads GET /metrics: the value of each line by what stands before it.
func series(h *house.House) map[string]float64 {
	h.T.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(h.Must("GET", "/metrics", "").Body) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			h.T.Errorf("GET /metrics: line %q: %v", line, err)
		}
		all[line[:at]] = value
	}
	return all
}

// rises does something and wants series to have risen by as much as it says,
// once the host has counted: an answer is read before it has.
func rises(h *house.House, what string, do func(), by map[string]float64) {
	h.T.Helper()
	before := series(h)
	do()
	var after map[string]float64
	right := func() bool {
		after = series(h)
		for name, n := range by {
			if after[name]-before[name] != n {
				return false
			}
		}
		return true
	}
	if waittest.Until(right) {
		return
	}
	for name, n := range by {
		if got := after[name] - before[name]; got != n {
			h.T.Errorf("%s: %s rose by %v, want %v", what, name, got, n)
		}
	}
}

// showsSeries fails the test where a series has another value, or is not there.
func showsSeries(h *house.House, want map[string]float64) {
	h.T.Helper()
	var got map[string]float64
	right := func() bool {
		got = series(h)
		for name, n := range want {
			if v, ok := got[name]; !ok || v != n {
				return false
			}
		}
		return true
	}
	if waittest.Until(right) {
		return
	}
	for name, n := range want {
		if v, ok := got[name]; !ok || v != n {
			h.T.Errorf("%s = %v (there: %t), want %v", name, v, ok, n)
		}
	}
}

// TestFigures makes each kind of thing happen that is counted, and looks at
// what GET /metrics makes of it.
func TestFigures(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	w := house.NewWire(t)
	h := house.Open(t, map[string]string{"experimental-enable-metrics": "true", "telemetry-url": "http://127.0.0.1:9/"}, house.Shipped(t, "vllm"))
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"defaultModel":"m"}`, w.URL))

	rises(h, "a request", func() { h.Must("GET", "/version", "") }, map[string]float64{
		`parley_http_requests_total{method="GET",route="/version",status="2xx"}`:               1,
		`parley_http_request_duration_seconds_count{method="GET",route="/version"}`:            1,
		`parley_http_request_duration_seconds_bucket{method="GET",route="/version",le="+Inf"}`: 1,
	})
	rises(h, "no route", func() { h.Call("GET", "/nope/"+strings.Repeat("x", 50), "") }, map[string]float64{
		`parley_http_requests_total{method="GET",route="none",status="4xx"}`: 1,
	})
	rises(h, "documents", func() { h.AddFilms(3) }, map[string]float64{
		`parley_http_requests_total{method="POST",route="/indexes/:uid/documents",status="2xx"}`: 1,
		`parley_tasks_total{status="succeeded",type="documentAdditionOrUpdate"}`:                 1,
		`parley_indexes`: 1, `parley_documents`: 3,
	})
	rises(h, "a failed task", func() {
		h.Call("DELETE", "/indexes/nope", "")
	}, map[string]float64{`parley_tasks_total{status="failed",type="indexDeletion"}`: 1})
	rises(h, "a search", func() { h.Must("POST", "/indexes/films/search", `{"q":"sea"}`) }, map[string]float64{
		`parley_search_duration_seconds_count{outcome="ok"}`: 1,
	})
	rises(h, "a wrong search", func() { h.Call("POST", "/indexes/films/search", `{"filter":"nope = 1"}`) }, map[string]float64{
		`parley_search_duration_seconds_count{outcome="refused"}`: 1,
	})

	w.On("m", says(house.Stream+house.Delta("x")+house.Finish))
	chatted := map[string]float64{
		`parley_chat_answers_total{outcome="answered",source="vLlm",workspace="x"}`:         1,
		`parley_chat_rounds_total{source="vLlm",workspace="x"}`:                             1,
		`parley_chat_tokens_total{kind="prompt",model="m",source="vLlm",workspace="x"}`:     1,
		`parley_chat_tokens_total{kind="completion",model="m",source="vLlm",workspace="x"}`: 2,
		`parley_chat_first_event_seconds_count{source="vLlm"}`:                              1,
		`parley_chat_first_word_seconds_count{source="vLlm"}`:                               1,
		`parley_chat_duration_seconds_count{source="vLlm"}`:                                 1,
	}
	rises(h, "a chat", func() { h.Ask("x", "m") }, chatted)
	rises(h, "a chat with a model that no setting names", func() { w.On("m2", says(house.Stream+house.Delta("x")+house.Finish)); h.Ask("x", "m2") }, map[string]float64{
		`parley_chat_tokens_total{kind="prompt",model="other",source="vLlm",workspace="x"}`: 1,
	})
	rises(h, "a chat without a word", func() { w.On("mute", says(house.Stream+house.Finish)); h.Ask("x", "mute") }, map[string]float64{
		`parley_chat_first_event_seconds_count{source="vLlm"}`: 1,
		`parley_chat_first_word_seconds_count{source="vLlm"}`:  0,
	})
	rises(h, "a chat that fails", func() { w.On("cut", says(house.Stream+house.Delta("x"))); h.Ask("x", "cut") }, map[string]float64{
		`parley_chat_answers_total{outcome="failed",source="vLlm",workspace="x"}`: 1,
	})
	rises(h, "a search of the model", func() {
		w.On("asks", func(x *house.Exchange) {
			if x.Nth == 1 {
				x.Say(house.Stream + searchCall + house.Finish)
				return
			}
			x.Say(house.Stream + house.Delta("x") + house.Finish)
		})
		h.Ask("x", "asks")
	}, map[string]float64{
		`parley_chat_searches_total{outcome="ok",source="vLlm",workspace="x"}`: 1,
		`parley_chat_rounds_total{source="vLlm",workspace="x"}`:                2,
		`parley_search_duration_seconds_count{outcome="ok"}`:                   1,
	})
	rises(h, "a refused chat", func() { h.Call("POST", "/chats/x/chat/completions", `{}`) }, map[string]float64{
		`parley_chat_refused_total{code="bad_request"}`: 1,
	})
	h.Must("PATCH", "/chats/x/settings", `{"limits":{"tokens":{"amount":1,"period":"total"}}}`)
	rises(h, "a chat over a limit", func() {
		h.Call("POST", "/chats/x/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"}]}`)
	}, map[string]float64{
		`parley_chat_limited_total{reason="budget",workspace="x"}`: 1,
		`parley_chat_refused_total{code="token_budget_spent"}`:     1,
	})
	h.Must("PATCH", "/chats/x/settings", `{"limits":null}`)
	rises(h, "what is not HTTP", func() { raw(h, "hello\r\n\r\n") }, map[string]float64{
		`parley_http_requests_total{method="other",route="none",status="4xx"}`: 1,
	})
	showsSeries(h, map[string]float64{
		`parley_tasks{status="enqueued"}`: 0, `parley_tasks{status="processing"}`: 0, `parley_task_oldest_age_seconds`: 0,
		`parley_indexes_not_ready`: 0, `parley_searches`: 0, `parley_searches_waiting`: 0,
		`parley_telemetry_on`: 1, `parley_telemetry_spool_messages`: 0, `parley_telemetry_dropped_events_total`: 0, `parley_telemetry_requests_total`: 0,
	})
}

// searchCall is an event in which the model asks for a search.
const searchCall = `data: {"id":"p1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"films\",\"q\":\"waves\"}"}}]},"finish_reason":null}]}` + "\n\n" +
	`data: {"id":"p1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"

// raw sends bytes on a connection of their own and returns the answer.
func raw(h *house.House, request string) string {
	h.T.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		h.T.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		h.T.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		h.T.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		h.T.Errorf("answer to %.40q: %v after %.200q", request, err, b)
	}
	return string(b)
}

// TestDashboard holds the Grafana file to what a running host shows: each
// metric in it is there, and each of ours that is there is in it.
func TestDashboard(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: the names that it looks at do not depend on goroutines")
	}
	b, err := os.ReadFile(filepath.Join(house.Repository(t), "examples", "grafana", "host.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		UID, Title string
		Panels     []struct {
			Type    string
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	w := house.NewWire(t)
	h := house.Open(t, map[string]string{"experimental-enable-metrics": "true", "telemetry-url": "http://127.0.0.1:9/"}, house.Shipped(t, "vllm"))
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, w.URL))
	h.AddFilms(1)
	h.Must("POST", "/indexes/films/search", `{}`)
	h.Call("POST", "/chats/x/chat/completions", `{}`)
	w.On("m", says(house.Stream+house.Delta("x")+house.Finish))
	h.Ask("x", "m")
	// What counts failures, and what guards did, is there from the first of them on.
	known := []string{"parley_chat_failures_total", "parley_chat_limited_total", "parley_chat_retries_total", "parley_chat_searches_total", "parley_guard_total", "parley_guard_seconds_count", "parley_plugin_faults_total", "parley_plugin_swaps_total", "parley_telemetry_last_success_timestamp_seconds"}
	rises(h, "counting", func() { h.Ask("x", "m") }, map[string]float64{`parley_chat_duration_seconds_count{source="vLlm"}`: 1})
	for name := range series(h) {
		name, _, _ = strings.Cut(name, "{")
		known = append(known, name)
	}
	name := regexp.MustCompile(`\b(?:parley|process|go)_[a-z0-9_]+`)
	drawn := map[string]bool{}
	for _, p := range board.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q draws nothing", p.Title)
		}
		for _, target := range p.Targets {
			found := name.FindAllString(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("panel %q: expression %q has no metric of ours", p.Title, target.Expr)
			}
			for _, m := range found {
				drawn[base(m)] = true
				if !slices.Contains(known, m) {
					t.Errorf("panel %q asks for %s, which GET /metrics does not have", p.Title, m)
				}
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(house.Repository(t), "host", "docs", "how-to", "move-from-meilisearch.md"))
	if err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`\bparley_[a-z0-9_]+`).FindAllString(string(page), -1)
	if len(told) < 10 {
		t.Errorf("the page for those who move names %d metrics", len(told))
	}
	for _, m := range told {
		if !slices.ContainsFunc(known, func(k string) bool { return base(k) == base(m) }) {
			t.Errorf("the page for those who move names %s, which GET /metrics does not have", m)
		}
	}
	for _, m := range known {
		if strings.HasPrefix(m, "parley_") && !drawn[base(m)] {
			t.Errorf("no panel draws %s", m)
			drawn[base(m)] = true
		}
	}
}

// base is the name of a metric without what its parts have behind it.
func base(name string) string {
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, part)
	}
	return name
}
