package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// noSpool keeps nothing.
type noSpool struct{}

func (noSpool) State(context.Context) ([]byte, error) { return nil, nil }
func (noSpool) Keep(context.Context, []byte, []telemetry.Message, time.Time) error {
	return nil
}
func (noSpool) Pending(context.Context, int) ([]telemetry.Message, error) { return nil, nil }
func (noSpool) Delete(context.Context, []string) error                    { return nil }
func (noSpool) Windows(context.Context, int) ([]telemetry.Window, error)  { return nil, nil }
func (noSpool) Note(context.Context, telemetry.Delivery) error            { return nil }
func (noSpool) Deliveries(context.Context) ([]telemetry.Delivery, error)  { return nil, nil }
func (noSpool) Quarantined(context.Context) ([]telemetry.Message, error)  { return nil, nil }
func (noSpool) Quarantine(context.Context, string, time.Time) error       { return nil }
func (noSpool) Usage(context.Context) (telemetry.Usage, error)            { return telemetry.Usage{}, nil }

// A witness is a collector that keeps the events that it is given.
type witness struct {
	mu  sync.Mutex
	got []any
}

func (w *witness) Manifest() *abi.Manifest {
	m := &abi.Manifest{Name: "witness", Metrics: []abi.Metric{
		{Path: "chats", Kind: abi.MetricInt, Meaning: "Chats.", Aggregation: abi.AggregationLast, NoData: abi.NoDataOmit, Range: []int64{0, 9}, Events: []string{"chat"}},
		{Path: "gpu", Kind: abi.MetricBool, Meaning: "No GPU.", Aggregation: abi.AggregationLast, NoData: abi.NoDataOmit, Constant: abi.RawJSON("false")},
	}}
	for k := event.Kind(1); k.String() != ""; k++ {
		if k != event.KindLaunch && k != event.KindHost { // nobody asks for those
			m.Events = append(m.Events, k.String())
		}
	}
	return m
}

func (w *witness) SHA256() string                     { return "" }
func (w *witness) Outbound() bool                     { return false }
func (w *witness) Start() (telemetry.Instance, error) { return w, nil }
func (w *witness) Flush(bool, []byte) ([]byte, error) { return nil, nil }
func (w *witness) Save([]byte) ([]byte, error)        { return nil, nil }
func (w *witness) Load([]byte) (bool, error)          { return false, nil }
func (w *witness) Worn() bool                         { return false }
func (w *witness) Close()                             {}

func (w *witness) Observe(b []byte, count int) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		r, rest, ok, err := event.Next(b)
		if err != nil || !ok {
			return count, err
		}
		e := readEvent(r)
		if e == nil {
			return 0, errors.New("an event that nobody asked for")
		}
		w.got = append(w.got, e)
		b = rest
	}
}

// readEvent returns r without its times, which are never the same.
func readEvent(r event.Record) any {
	e := event.ReadAny(r)
	if e == nil {
		return nil
	}
	v := reflect.ValueOf(e).Elem()
	for _, name := range []string{"Latency", "First", "SearchLatency"} {
		if f := v.FieldByName(name); f.IsValid() {
			f.SetUint(0)
		}
	}
	return v.Interface()
}

// take returns what came since, http_request apart from the rest.
func (w *witness) take(e *telemetry.Engine) (requests []event.HTTPRequest, rest []any) {
	e.Preview() // hands over what is in the ring
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.got {
		if r, ok := e.(event.HTTPRequest); ok {
			requests = append(requests, r)
		} else {
			rest = append(rest, e)
		}
	}
	w.got = nil
	return requests, rest
}

// observed is a rig with a witness.
func observed(t *testing.T) (*rig, *witness, *telemetry.Engine) {
	t.Helper()
	return observedWith(t, wish{})
}

// observedWith is observed with a wish of its own.
func observedWith(t *testing.T, with wish) (*rig, *witness, *telemetry.Engine) {
	t.Helper()
	e, err := telemetry.Open(t.Context(), telemetry.Options{Spool: noSpool{}})
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{}
	e.Use(t.Context(), []telemetry.Collector{w})
	with.usage = e
	return newRig(t, with), w, e
}

// TestEvents makes requests and looks at what a collector is told of them.
func TestEvents(t *testing.T) {
	t.Parallel()
	r, w, engine := observed(t)
	curl, jsonType, sku := engine.Handles().UserAgent("curl/8.0"), engine.Handles().MediaType("application/json"), engine.Handles().Attribute("sku")
	invalid, source := engine.Handles().MediaType("nonsense"), engine.Handles().Source("test")
	stop, request := event.OrdinalOf[event.ChatFinish]("stop"), event.OrdinalOf[event.ChatFailure]("request")
	tests := []struct {
		method, path, body string
		status             int
		route              string
		want               any // nil: no event but http_request
	}{
		{"POST", "/indexes/films/documents?primaryKey=sku", `[{"sku": 1}]`, 202, "documents", event.Documents{Operation: event.DocumentsReplace, PayloadType: jsonType, PrimaryKey: sku, IndexCreated: 1}},
		{"PUT", "/indexes/films/documents", `[{"sku": 1}]`, 202, "documents", event.Documents{Operation: event.DocumentsUpdate, PayloadType: jsonType}},
		{"GET", "/indexes/films/documents?limit=7&offset=2", "", 200, "documents", event.Documents{Operation: event.DocumentsList, Limit: 7, Offset: 2}},
		{"POST", "/indexes/films/documents/fetch", `{"limit": 3}`, 200, "documents", event.Documents{Operation: event.DocumentsFetch, Limit: 3}},
		{"GET", "/indexes/films/documents/1", "", 200, "documents", event.Documents{Operation: event.DocumentsGet}},
		{"DELETE", "/indexes/films/documents/9", "", 202, "documents", event.Documents{Operation: event.DocumentsDelete}},
		{"POST", "/indexes/films/documents/delete-batch", `[8]`, 202, "documents", event.Documents{Operation: event.DocumentsDeleteBatch}},
		{"POST", "/indexes/films/search", `{"q": "a b", "limit": 5}`, 200, "search", event.Search{Outcome: event.Succeeded, Terms: 2, Limit: 5, Navigation: event.Estimated, MatchingStrategy: event.MatchLast}},
		{"GET", "/indexes/films/search?q=a%20-b&page=2", "", 200, "search", event.Search{Outcome: event.Succeeded, UsedNegativeOperator: 1, Terms: 2, Limit: 20, Offset: 20, Navigation: event.Exhaustive, MatchingStrategy: event.MatchLast}},
		{"POST", "/indexes/films/search", `{"sort": ["x:asc"]}`, 400, "search", event.Search{Outcome: event.Failed, Sort: 2, Limit: 20, Navigation: event.Estimated, MatchingStrategy: event.MatchLast}},
		{"POST", "/multi-search", `{"queries": [{"indexUid": "films", "q": "a", "showRankingScore": true}, {"indexUid": "films"}]}`, 200, "multi_search", event.MultiSearch{Outcome: event.Succeeded, Queries: 2, Indexes: 1, ShowRankingScore: 1}},
		{"PATCH", "/indexes/films/settings", `{"stopWords": ["a", "b"]}`, 202, "settings", event.Settings{StopWords: 3}},
		{"PUT", "/indexes/films/settings/sortable-attributes", `["price"]`, 202, "settings", event.Settings{SortableAttributes: 2}},
		{"DELETE", "/indexes/films/settings/sortable-attributes", ``, 202, "settings", event.Settings{SortableAttributes: 1}},
		{"PATCH", "/indexes/films/settings", `{"stopWords": 7}`, 400, "settings", nil},
		{"GET", "/indexes/films/settings", ``, 200, "settings", nil},
		{"POST", "/indexes", `{"uid": "other", "primaryKey": "sku"}`, 202, "indexes", event.Index{Operation: event.IndexCreate, PrimaryKey: sku}},
		{"POST", "/swap-indexes", `[{"indexes": ["films", "other"]}]`, 202, "indexes", event.Index{Operation: event.IndexSwap, Swaps: 1}},
		{"DELETE", "/indexes/other", "", 202, "indexes", event.Index{Operation: event.IndexDelete}},
		{"GET", "/tasks?statuses=succeeded&beforeEnqueuedAt=2030-01-01", "", 200, "tasks", event.Tasks{Operation: event.TasksList, Statuses: 1, BeforeEnqueuedAt: 1}},
		{"GET", "/tasks/0", "", 200, "tasks", event.Tasks{Operation: event.TasksGet}},
		{"POST", "/tasks/cancel?uids=1", "", 200, "tasks", event.Tasks{Operation: event.TasksCancel, UIDs: 1}},
		{"GET", "/stats", "", 200, "service", event.Stats{}},
		{"GET", "/indexes/films/stats", "", 200, "indexes", event.Stats{OneIndex: 1}},
		{"PATCH", "/experimental-features", `{"network": true}`, 200, "features", event.Features{Patched: 1, Network: 1, ChatCompletions: 1}},
		{"PATCH", "/experimental-features", `{"nonsense": true}`, 400, "features", nil},
		{
			"POST", "/export", `{"url":"ftp://x","apiKey":"k","payloadSize":"2 KiB","indexes":{"*":{},"a":{"filter":"b = 1"}}}`, 400, "export",
			event.Export{APIKey: 1, IndexPatterns: 2, PatternsWithFilter: 1, PayloadSize: event.MaybeCountOf(2048)},
		},
		{"PATCH", "/network", `{"self": "a", "remotes": {"a": {"url": "https://a.example.com"}, "b": {"url": "https://b.example.com"}}}`, 200, "network", event.Network{Self: 1, Remotes: 2}},
		{"GET", "/version", "", 200, "service", nil},
		{"GET", "/nowhere", "", 404, "other", nil},
		{"POST", "/chats/demo/chat/completions", hello, 200, "completions", event.Chat{Outcome: event.ChatAnswered, Source: event.OrdinalOf[event.ChatSource]("openAi"), Streamed: 1, Rounds: 1, Messages: 1, Chunks: 1, SourceName: source, Finish: stop}},
		{"POST", "/chats/demo/chat/completions", `{"messages": [1, 2]}`, 400, "completions", event.Chat{Outcome: event.ChatRefused, Messages: 2, Failure: request}},
	}
	for _, tt := range tests {
		name := tt.method + " " + tt.path + " " + tt.body
		a := r.do(tt.method, tt.path, tt.body, "User-Agent", "curl/8.0")
		if a.status != tt.status {
			t.Errorf("%s: status %d %s, want %d", name, a.status, a.body, tt.status)
		}
		if a.status == 202 {
			r.task(a)
		}
		var requests []event.HTTPRequest
		var rest []any
		waittest.Until(func() bool {
			more, events := w.take(engine)
			requests, rest = append(requests, more...), append(rest, events...)
			return len(requests) > 0
		})
		if len(rest) == 0 && tt.want != nil && strings.Contains(tt.path, "completions") {
			_, rest = w.take(engine)
		}
		if want := (event.HTTPRequest{UserAgent: curl, Route: event.OrdinalOf[event.Route](tt.route), Status: event.Count(tt.status)}); len(requests) != 1 || requests[0] != want {
			t.Errorf("%s: http_request events %+v, want %+v", name, requests, want)
		}
		var found []any
		for _, e := range rest {
			if c, isChat := e.(event.Chat); isChat && c.Chunks > 0 {
				c.Chunks, c.Source = 1, event.OrdinalOf[event.ChatSource]("openAi") // the test's provider has no name that is shipped
				e = c
			}
			found = append(found, e)
		}
		if tt.want == nil && len(found) > 0 || tt.want != nil && (len(found) != 1 || found[0] != tt.want) {
			t.Errorf("%s: events\n%s, want\n%+v", name, fmt.Sprintf("%+v", found), tt.want)
		}
	}
	// A content type that is none is told as such.
	r.do("POST", "/indexes/films/documents", `[]`, "Content-Type", "nonsense")
	_, rest := w.take(engine)
	if want := (event.Documents{Operation: event.DocumentsReplace, PayloadType: invalid}); len(rest) != 1 || rest[0] != want {
		t.Errorf("documents of a wrong content type: %+v, want %+v", rest, want)
	}
}

// TestChatEvents looks at what is told of chats: who failed and how before the first
// word, what an answer cost, and what came of its searches.
func TestChatEvents(t *testing.T) {
	search := func(q string) []string {
		return []string{"tool:0:c1:searchInIndex", `args:0:{"index_uid":"films","q":"` + q + `"}`, "finish:tool_calls", "usage:10,3"}
	}
	refused := func(status int, kind string) chattest.Script {
		return chattest.Script{Status: status, Head: chattest.Head("X-Kind", kind), Body: "no"}
	}
	up := &chattest.Upstream{Scripts: []chattest.Script{
		{Batches: [][]string{search("sea")}},
		{Batches: [][]string{search("nothing")}},
		{Batches: [][]string{{"text:Yes.", "finish:length", "usage:20,4,5,2"}}},
		refused(401, "auth"), refused(429, "quota"),
		{Err: &outbound.Error{Kind: outbound.Timeout, Message: "nothing came"}},
		{Err: &outbound.Error{Kind: outbound.Refused, Message: "no such name"}},
		{Batches: [][]string{{"fault:"}}},
	}}
	r, w, engine := observedWith(t, wish{upstream: up, indexes: []chat.Index{{UID: "films"}}, documents: map[string][]chat.Hit{"films": {{ID: "1", Text: "sea"}}}})
	source := engine.Handles().Source("test")
	failure := event.OrdinalOf[event.ChatFailure]
	other := event.OrdinalOf[event.ChatSource]("test")
	for _, tt := range []struct {
		name string
		want event.Chat
	}{
		{"answered", event.Chat{
			Outcome: event.ChatAnswered, Source: other, SourceName: source, Rounds: 3, Searches: 2, EmptySearches: 1, Finish: event.OrdinalOf[event.ChatFinish]("length"),
			PromptTokens: event.MaybeCountOf(40), CompletionTokens: event.MaybeCountOf(10), CachedTokens: event.MaybeCountOf(5), ReasoningTokens: event.MaybeCountOf(2),
		}},
		{"wrong key", event.Chat{Outcome: event.ChatFailed, Source: other, SourceName: source, Failure: failure("auth")}},
		{"nothing left", event.Chat{Outcome: event.ChatRefused, Source: other, SourceName: source, Failure: failure("quota")}},
		{"silent", event.Chat{Outcome: event.ChatFailed, Source: other, SourceName: source, Failure: failure("timeout")}},
		{"unreachable", event.Chat{Outcome: event.ChatFailed, Source: other, SourceName: source, Failure: failure("network")}},
		{"plugin", event.Chat{Outcome: event.ChatFailed, Source: other, SourceName: source, Failure: failure("plugin")}},
	} {
		r.do("POST", "/chats/demo/chat/completions", hello)
		var got []any
		for len(got) == 0 { // it is told once the answer has ended
			runtime.Gosched()
			_, got = w.take(engine)
		}
		c, _ := got[0].(event.Chat)
		tt.want.Streamed, tt.want.Messages, tt.want.Chunks = c.Streamed, 1, c.Chunks
		if c != tt.want {
			t.Errorf("%s: told %+v\nwant %+v", tt.name, c, tt.want)
		}
	}
}

// TestTelemetryRoutes shows it on and off.
func TestTelemetryRoutes(t *testing.T) {
	t.Parallel()
	r, _, _ := observed(t)
	if a := r.do("GET", "/telemetry", ""); a.status != 200 || !strings.Contains(a.body, `"on":true`) || !strings.Contains(a.body, `"instanceUid":"the uid"`) {
		t.Errorf("GET /telemetry = %d %s", a.status, a.body)
	}
	if a := r.do("GET", "/telemetry/metrics", ""); a.status != 200 || !strings.Contains(a.body, `"path":"chats"`) || !strings.Contains(a.body, `"constant":false`) {
		t.Errorf("GET /telemetry/metrics = %d %s, want both metrics", a.status, a.body)
	}
	if a := r.do("GET", "/telemetry/messages?of=tomorrow", ""); a.status != 400 || !strings.Contains(a.body, "next, last or pending") {
		t.Errorf("GET /telemetry/messages?of=tomorrow = %d %s, want what is allowed", a.status, a.body)
	}
	for window := range 2 {
		if a, want := r.do("POST", "/telemetry/flush", ""), fmt.Sprintf(`{"window":%d,"sealed":"`, window+1); a.status != 200 || !strings.HasPrefix(a.body, want) {
			t.Errorf("POST /telemetry/flush = %d %s, want %s", a.status, a.body, want)
		}
	}
	if a, want := r.do("DELETE", "/telemetry", ""), `{"instanceUid":"the uid","contact":"privacy@example.com"}`+"\n"; a.status != 200 || a.body != want {
		t.Errorf("DELETE /telemetry = %d %s, want %s", a.status, a.body, want)
	}
	if a := r.do("GET", "/telemetry", ""); a.body != `{"on":false,"offBy":"its deletion"}`+"\n" {
		t.Errorf("GET /telemetry after that = %d %s", a.status, a.body)
	}
	if a := r.do("POST", "/telemetry/flush", ""); a.status != 400 {
		t.Errorf("POST /telemetry/flush after that = %d %s, want that there is no window", a.status, a.body)
	}
	off := newRig(t, wish{})
	for path, want := range map[string]string{"/telemetry": `"on":false`, "/telemetry/messages": `"results":[]`, "/telemetry/metrics": `"results":[]`} {
		if a := off.do("GET", path, ""); a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("GET %s while telemetry is off = %d %s, want %s", path, a.status, a.body, want)
		}
	}
}
