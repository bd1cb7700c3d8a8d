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
)

// series reads GET /metrics: the value of each line by what stands before it.
func (h *house) series() map[string]float64 {
	h.t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(h.must("GET", "/metrics", "").body) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			h.t.Errorf("GET /metrics: line %q: %v", line, err)
		}
		all[line[:at]] = value
	}
	return all
}

// rises does something and wants series to have risen by as much as it says,
// once the host has counted: an answer is read before it has.
func (h *house) rises(what string, do func(), by map[string]float64) {
	h.t.Helper()
	before := h.series()
	do()
	var after map[string]float64
	right := func() bool {
		after = h.series()
		for name, n := range by {
			if after[name]-before[name] != n {
				return false
			}
		}
		return true
	}
	if settles(right) {
		return
	}
	for name, n := range by {
		if got := after[name] - before[name]; got != n {
			h.t.Errorf("%s: %s rose by %v, want %v", what, name, got, n)
		}
	}
}

// showsSeries fails the test where a series has another value, or is not there.
func (h *house) showsSeries(want map[string]float64) {
	h.t.Helper()
	var got map[string]float64
	right := func() bool {
		got = h.series()
		for name, n := range want {
			if v, ok := got[name]; !ok || v != n {
				return false
			}
		}
		return true
	}
	if settles(right) {
		return
	}
	for name, n := range want {
		if v, ok := got[name]; !ok || v != n {
			h.t.Errorf("%s = %v (there: %t), want %v", name, v, ok, n)
		}
	}
}

// TestFigures makes each kind of thing happen that is counted, and looks at
// what GET /metrics makes of it.
func TestFigures(t *testing.T) {
	checkLeak(t)
	w := newWire(t)
	h := openHouse(t, map[string]string{"experimental-enable-metrics": "true", "telemetry-url": "http://127.0.0.1:9/"}, shipped(t, "vllm"))
	h.must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"defaultModel":"m"}`, w.url))

	h.rises("a request", func() { h.must("GET", "/version", "") }, map[string]float64{
		`parley_http_requests_total{method="GET",route="/version",status="2xx"}`:               1,
		`parley_http_request_duration_seconds_count{method="GET",route="/version"}`:            1,
		`parley_http_request_duration_seconds_bucket{method="GET",route="/version",le="+Inf"}`: 1,
	})
	h.rises("no route", func() { h.call("GET", "/nope/"+strings.Repeat("x", 50), "") }, map[string]float64{
		`parley_http_requests_total{method="GET",route="none",status="4xx"}`: 1,
	})
	h.rises("documents", func() { h.addFilms(3) }, map[string]float64{
		`parley_http_requests_total{method="POST",route="/indexes/:uid/documents",status="2xx"}`: 1,
		`parley_tasks_total{status="succeeded",type="documentAdditionOrUpdate"}`:                 1,
		`parley_indexes`: 1, `parley_documents`: 3,
	})
	h.rises("a failed task", func() {
		h.call("DELETE", "/indexes/nope", "")
	}, map[string]float64{`parley_tasks_total{status="failed",type="indexDeletion"}`: 1})
	h.rises("a search", func() { h.must("POST", "/indexes/films/search", `{"q":"sea"}`) }, map[string]float64{
		`parley_search_duration_seconds_count{outcome="ok"}`: 1,
	})
	h.rises("a wrong search", func() { h.call("POST", "/indexes/films/search", `{"filter":"nope = 1"}`) }, map[string]float64{
		`parley_search_duration_seconds_count{outcome="refused"}`: 1,
	})

	w.on("m", says(stream+delta("x")+finish))
	chatted := map[string]float64{
		`parley_chat_answers_total{outcome="answered",source="vLlm",workspace="x"}`:         1,
		`parley_chat_rounds_total{source="vLlm",workspace="x"}`:                             1,
		`parley_chat_tokens_total{kind="prompt",model="m",source="vLlm",workspace="x"}`:     1,
		`parley_chat_tokens_total{kind="completion",model="m",source="vLlm",workspace="x"}`: 2,
		`parley_chat_first_event_seconds_count{source="vLlm"}`:                              1,
		`parley_chat_duration_seconds_count{source="vLlm"}`:                                 1,
	}
	h.rises("a chat", func() { h.ask("x", "m") }, chatted)
	h.rises("a chat with a model that no setting names", func() { w.on("m2", says(stream+delta("x")+finish)); h.ask("x", "m2") }, map[string]float64{
		`parley_chat_tokens_total{kind="prompt",model="other",source="vLlm",workspace="x"}`: 1,
	})
	h.rises("a chat that fails", func() { w.on("cut", says(stream+delta("x"))); h.ask("x", "cut") }, map[string]float64{
		`parley_chat_answers_total{outcome="failed",source="vLlm",workspace="x"}`: 1,
	})
	h.rises("a search of the model", func() {
		w.on("asks", func(x *exchange) {
			if x.nth == 1 {
				x.say(stream + searchCall + finish)
				return
			}
			x.say(stream + delta("x") + finish)
		})
		h.ask("x", "asks")
	}, map[string]float64{
		`parley_chat_searches_total{outcome="ok",source="vLlm",workspace="x"}`: 1,
		`parley_chat_rounds_total{source="vLlm",workspace="x"}`:                2,
		`parley_search_duration_seconds_count{outcome="ok"}`:                   1,
	})
	h.rises("a refused chat", func() { h.call("POST", "/chats/x/chat/completions", `{}`) }, map[string]float64{
		`parley_chat_refused_total{code="bad_request"}`: 1,
	})
	h.must("PATCH", "/chats/x/settings", `{"limits":{"tokens":{"amount":1,"period":"total"}}}`)
	h.rises("a chat over a limit", func() {
		h.call("POST", "/chats/x/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"}]}`)
	}, map[string]float64{
		`parley_chat_limited_total{reason="budget",workspace="x"}`: 1,
		`parley_chat_refused_total{code="token_budget_spent"}`:     1,
	})
	h.must("PATCH", "/chats/x/settings", `{"limits":null}`)
	h.rises("what is not HTTP", func() { h.raw("hello\r\n\r\n") }, map[string]float64{
		`parley_http_requests_total{method="other",route="none",status="4xx"}`: 1,
	})
	h.showsSeries(map[string]float64{
		`parley_tasks{status="enqueued"}`: 0, `parley_tasks{status="processing"}`: 0, `parley_task_oldest_age_seconds`: 0,
		`parley_indexes_not_ready`: 0, `parley_searches`: 0, `parley_searches_waiting`: 0,
		`parley_telemetry_on`: 1, `parley_telemetry_spool_messages`: 0, `parley_telemetry_dropped_events_total`: 0, `parley_telemetry_requests_total`: 0,
	})
}

// searchCall is an event in which the model asks for a search.
const searchCall = `data: {"id":"p1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"films\",\"q\":\"waves\"}"}}]},"finish_reason":null}]}` + "\n\n" +
	`data: {"id":"p1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"

// raw sends bytes on a connection of their own and returns the answer.
func (h *house) raw(request string) string {
	h.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		h.t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		h.t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		h.t.Errorf("answer to %.40q: %v after %.200q", request, err, b)
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
	b, err := os.ReadFile(filepath.Join(repository(t), "examples", "grafana", "host.json"))
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
	w := newWire(t)
	h := openHouse(t, map[string]string{"experimental-enable-metrics": "true", "telemetry-url": "http://127.0.0.1:9/"}, shipped(t, "vllm"))
	h.must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, w.url))
	h.addFilms(1)
	h.must("POST", "/indexes/films/search", `{}`)
	h.call("POST", "/chats/x/chat/completions", `{}`)
	w.on("m", says(stream+delta("x")+finish))
	h.ask("x", "m")
	// What counts failures is there from the first of them on.
	known := []string{"parley_chat_failures_total", "parley_chat_limited_total", "parley_chat_retries_total", "parley_chat_searches_total", "parley_plugin_faults_total", "parley_plugin_swaps_total", "parley_telemetry_last_success_timestamp_seconds"}
	h.rises("counting", func() { h.ask("x", "m") }, map[string]float64{`parley_chat_duration_seconds_count{source="vLlm"}`: 1})
	for name := range h.series() {
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
	page, err := os.ReadFile(filepath.Join(repository(t), "host", "docs", "how-to", "move-from-meilisearch.md"))
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
