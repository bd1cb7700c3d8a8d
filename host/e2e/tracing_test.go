package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// A traceCollector takes traces as a collector of OpenTelemetry does.
type traceCollector struct {
	url string

	mu    sync.Mutex
	spans []span
	raw   strings.Builder
}

// A span as it is on the wire.
type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	Events []struct{ Name string }
	Status struct {
		Code    int
		Message string
	}
}

func (s *span) attribute(name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

func newTraceCollector(t *testing.T) *traceCollector {
	t.Helper()
	c := &traceCollector{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.Method != "POST" || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %s: %v", r.Method, r.URL, r.Header, err)
		}
		var body struct {
			ResourceSpans []struct {
				Resource   json.RawMessage
				ScopeSpans []struct{ Spans []span }
			}
		}
		if err := json.Unmarshal(b, &body); err != nil {
			t.Errorf("traces: %v in %s", err, b)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw.Write(b)
		for _, r := range body.ResourceSpans {
			if !strings.Contains(string(r.Resource), `{"key":"service.name","value":{"stringValue":"parley"}}`) {
				t.Errorf("resource %s does not name the service", r.Resource)
			}
			for _, s := range r.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(srv.Close)
	c.url = srv.URL
	return c
}

// tree is the names of the spans below parent, in the order of their beginnings,
// children in parentheses.
func (c *traceCollector) tree(parent string) string {
	var below []span
	for _, s := range c.spans {
		if s.ParentSpanID == parent {
			below = append(below, s)
		}
	}
	slices.SortStableFunc(below, func(a, b span) int { return strings.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano) })
	var parts []string
	for _, s := range below {
		name := s.Name
		if inner := c.tree(s.SpanID); inner != "" {
			name += " (" + inner + ")"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

// TestTraces has a caller that traces ask for an answer of two rounds and one
// that fails, and looks at what a collector is told.
//
//parley:option otlp-endpoint
func TestTraces(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	c := newTraceCollector(t)
	var mu sync.Mutex
	var asked []http.Header
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		asked = append(asked, r.Header)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case strings.Contains(string(body), `"model":"refuses"`):
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, canary)
		case strings.Contains(string(body), `"role":"tool"`):
			_, _ = io.WriteString(w, house.Delta(canary)+house.Finish)
		default:
			_, _ = io.WriteString(w, searchCanary+house.Finish)
		}
	}))
	defer provider.Close()
	h := house.Open(t, map[string]string{"otlp-endpoint": c.url + "/"}, house.Shipped(t, "vllm"))
	h.Finish(h.Must("POST", "/indexes/films/documents", `[{"id":1,"title":"`+canary+`"}]`))
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":"sk-%s","prompts":{"system":%q}}`, provider.URL, canary, canary))
	ask := func(model, traceparent string) {
		t.Helper()
		req, err := http.NewRequest("POST", h.URL+"/chats/x/chat/completions", strings.NewReader(fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, model, canary)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", traceparent)
		req.Header.Set("X-Request-Id", "id-"+model)
		resp, err := h.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("ask %s: %v", model, err)
		}
	}
	ask("good", "00-"+callerTrace+"-"+callerSpan+"-01")
	ask("refuses", "nonsense")
	ask("not sampled", "00-"+callerTrace+"-"+callerSpan+"-00")
	h.Must("GET", "/version", "")
	h.Close()

	c.mu.Lock()
	defer c.mu.Unlock()
	const encoded = "plugin encode, provider request"
	want := "chat (provider round (" + encoded + "), search, provider round (" + encoded + "))"
	if got := c.tree(callerSpan); got != want {
		t.Errorf("steps of the answer: %s\nwant %s", got, want)
	}
	if got, want := c.tree(""), "chat (provider round ("+encoded+", plugin error))"; got != want {
		t.Errorf("steps of what was refused: %s\nwant %s", got, want)
	}
	for i := range c.spans {
		s := &c.spans[i]
		if len(s.TraceID) != 32 || len(s.SpanID) != 16 || s.StartTimeUnixNano > s.EndTimeUnixNano || len(s.EndTimeUnixNano) != 19 {
			t.Errorf("span %+v", s)
		}
		if s.Name != "chat" {
			continue
		}
		want := map[string]string{"http.response.status_code": "200", "parley.rounds": "2", "parley.searches": "1", "parley.source": "vLlm", "parley.workspace": "x", "parley.finish": "stop", "parley.request_id": "id-good"}
		if s.ParentSpanID == "" {
			want = map[string]string{"http.response.status_code": "429", "error.type": "llm_provider_rate_limited", "parley.request_id": "id-refuses"}
		} else if s.TraceID != callerTrace {
			t.Errorf("trace %s, want the caller's", s.TraceID)
		}
		if s.Kind != 2 {
			t.Errorf("kind of chat = %d, want that of a server", s.Kind)
		}
		for name, v := range want {
			if got := s.attribute(name); got != v {
				t.Errorf("attribute %s of chat = %q, want %q", name, got, v)
			}
		}
	}
	if strings.Contains(c.raw.String(), canary) || strings.Contains(c.raw.String(), "films") {
		t.Errorf("the collector was told what somebody said: %s", house.Around(c.raw.String(), canary))
	}
	if n := strings.Count(h.Log.String(), `"trace_id":"`+callerTrace+`"`); n != 1 {
		t.Errorf("%d lines of the log name the caller's trace, want that of the one request which is traced", n)
	}
	for _, header := range asked {
		if header.Get("Traceparent") != "" {
			t.Error("the provider was told of the trace")
		}
	}
}

// TestTracesWithoutCollector wants answers to be whole where the collector is
// gone or refuses, and one line about it.
func TestTracesWithoutCollector(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	refuses := httptest.NewServer(http.NotFoundHandler())
	defer refuses.Close()
	w := house.NewWire(t)
	h := house.Open(t, map[string]string{"otlp-endpoint": refuses.URL}, house.Shipped(t, "vllm"))
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, w.URL))
	if r, got := h.Ask("x", "good"); got["finish_reason"] != "stop" {
		t.Errorf("answer: %s", r.Body)
	}
	h.Close()
	if log := h.Log.String(); !strings.Contains(log, "traces are lost") || !strings.Contains(log, "HTTP 404 Not Found") {
		t.Errorf("the log does not say that traces are lost")
	}
}
