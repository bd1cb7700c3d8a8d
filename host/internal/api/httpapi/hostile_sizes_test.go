package httpapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/task"
)

// Bodies of chats and of MCP have a limit of their own, packed or not.
//
//parley:option http-chat-payload-size-limit
func TestHostileChatBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{features: []feature.Feature{feature.LogsRoute, feature.RenderRoute}})
	long := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 90<<20) + `"}]}`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(long))
	check(t, err)
	check(t, w.Close())
	for _, path := range []string{completions, "/v1/chat/completions", "/v1/responses", "/mcp", "/chats/demo/guards/test", "/chats/demo/test", "/keys", "/webhooks", "/export", "/swap-indexes", "/render-template", "/logs/stderr"} {
		for name, a := range map[string]answer{
			"whole":  r.do("POST", path, long[:5<<20]),
			"packed": r.do("POST", path, packed.String(), "Content-Encoding", "gzip"),
		} {
			if a.status != http.StatusRequestEntityTooLarge || !strings.Contains(a.body, "--http-chat-payload-size-limit") || !strings.Contains(a.body, "4194304") {
				t.Errorf("POST %s, %s = %d %s, want 413 that names the option", path, name, a.status, a.body)
			}
		}
	}
	raised := newRig(t, wish{limits: httpapi.Limits{Chat: 8 << 20}})
	if a := raised.do("POST", "/v1/chat/completions", long[:5<<20]); a.status == http.StatusRequestEntityTooLarge {
		t.Errorf("POST of 5 MiB where 8 are allowed = %d %s", a.status, a.body)
	}
}

// begin sends the head of a request for an answer, and a part of its body.
func (r *rig) begin(t *testing.T, path, key string) *bufio.Reader {
	t.Helper()
	c := r.connect(t)
	_, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n%s", path, key, strings.Repeat(" ", 32<<10))
	check(t, err)
	return bufio.NewReader(c)
}

// status reads an answer that comes though the body has not.
func status(t *testing.T, in *bufio.Reader) int {
	t.Helper()
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatalf("no answer before the body is whole: %v", err)
	}
	return res.StatusCode
}

// Who may not ask is told so before its body is read, and nobody has more bodies read
// at a time than it may have answered.
func TestHostileUnadmittedBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	if got := status(t, r.begin(t, "/chats/nope/chat/completions", "Bearer "+master)); got != http.StatusNotFound {
		t.Errorf("answer for a workspace that is not there = %d, want 404", got)
	}
	for _, tt := range [][2]string{{`{"parallel":1}`, completions}, {`{"requestsPerMinute":1}`, "/v1/chat/completions"}, {`{"parallel":1}`, "/mcp"}, {`{"requestsPerMinute":1}`, "/mcp"}} {
		limits, path := tt[0], tt[1]
		_, key := r.limited(limits)
		first := r.begin(t, path, key)
		waitUntil(t, "the first body is being read", func() bool {
			a := r.do("POST", path, strings.Repeat(" ", 32<<10)+"{}", "Authorization", key) // whatever it is, it is not read
			return a.status == http.StatusTooManyRequests
		})
		if got := status(t, r.begin(t, path, key)); got != http.StatusTooManyRequests {
			t.Errorf("a second body with %s = %d, want 429", limits, got)
		}
		_ = first
	}
}

func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !waittest.Until(ok) {
		t.Fatalf("it never came to this: %s", what)
	}
}

// What requests hold comes to no more than there is for them; small ones are answered
// last, and all of it is given back.
func TestHostileMemory(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	account := memory.NewAccount(limit, nil)
	held := func() int64 {
		n, _, _ := account.Figures()
		return n
	}
	r := newRig(t, wish{memory: account})
	var bodies []io.Closer
	for range 3 { // 3 MiB in all, of 3 copies each
		c := r.connect(t)
		bodies = append(bodies, c)
		_, err := fmt.Fprintf(c, "PATCH /indexes/a/settings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n%s", master, strings.Repeat(" ", 340<<10))
		check(t, err)
	}
	waitUntil(t, "bodies hold over two thirds of the account", func() bool { return held() > limit*2/3 })
	large := strings.Repeat(" ", 500<<10) + `{"stopWords":["x"]}`
	a := r.do("PATCH", "/indexes/a/settings", large)
	if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "memory_exhausted") || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "--max-request-memory") {
		t.Errorf("a large body then = %d %v %s, want 503 that names the option", a.status, a.header, a.body)
	}
	if a := r.do("GET", "/health", ""); a.status != http.StatusOK {
		t.Errorf("health then = %d %s, want 200", a.status, a.body)
	}
	if a := r.do("POST", "/indexes/a/search", `{"q":"x"}`); a.status != http.StatusNotFound {
		t.Errorf("a small search then = %d %s, want 404, since there is no index", a.status, a.body)
	}
	if held() > limit {
		t.Errorf("requests hold %d bytes, want %d at most", held(), limit)
	}
	for _, c := range bodies {
		check(t, c.Close())
	}
	waitUntil(t, "all is given back", func() bool { return held() == 0 })
	if a := r.do("PATCH", "/indexes/a/settings", large); a.status != http.StatusAccepted {
		t.Errorf("the large body afterwards = %d %s, want 202", a.status, a.body)
	}
}

// What comes in is small, what it would become is not: an answer has a limit, which
// counts while it is made.
//
//parley:option http-answer-size-limit
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	account := memory.NewAccount(256<<20, nil)
	r := newRig(t, wish{memory: account, limits: httpapi.Limits{Answer: 1 << 20}})
	documents := make([]string, 40)
	for i := range documents {
		documents[i] = fmt.Sprintf(`{"id":%d,"kind":"%d-%s","text":"%s"}`, i, i, strings.Repeat("k", 300), strings.Repeat("word ", 400))
	}
	for _, a := range []answer{
		r.do("PATCH", "/indexes/a/settings", `{"filterableAttributes":["kind"]}`),
		r.do("POST", "/indexes/a/documents", "["+strings.Join(documents, ",")+"]"),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	tag := strings.Repeat("<", 100)
	marked := `"q":"word","attributesToHighlight":["*"],"highlightPreTag":"` + tag + `","highlightPostTag":"` + tag + `"`
	many := strings.TrimSuffix(strings.Repeat(`{"indexUid":"a","q":"word"},`, 30), ",")
	tests := []scenario{
		{name: "search", method: "POST", path: "/indexes/a/search", body: `{` + marked + `,"limit":40}`},
		{name: "two texts", method: "POST", path: "/indexes/a/search", body: strings.ReplaceAll(`{`+marked+`,"limit":2}`, tag, strings.Repeat("<", 1000))},
		{name: "places", method: "POST", path: "/multi-search", body: `{"queries":[` + strings.ReplaceAll(many, `"word"`, `"word","showMatchesPosition":true,"limit":40,"attributesToRetrieve":["id"]`) + `]}`},
		{name: "search by URL", method: "GET", path: "/indexes/a/search?q=word&limit=40&attributesToHighlight=*&highlightPreTag=" + strings.Repeat("x", 150)},
		{name: "several", method: "POST", path: "/multi-search", body: `{"queries":[` + many + `]}`},
		{name: "federated", method: "POST", path: "/multi-search", body: `{"federation":{"limit":1000},"queries":[` + many + `]}`},
		{name: "facets", method: "POST", path: "/multi-search", body: `{"queries":[` + strings.ReplaceAll(strings.Repeat(many+",", 4)+many, `"word"`, `"word","limit":0,"facets":["kind"]`) + `]}`},
	}
	for i := range tests {
		tests[i].status, tests[i].code, tests[i].contains = 413, "answer_too_large", []string{"1048576", "attributesToRetrieve", "--http-answer-size-limit"}
	}
	r.play(t, tests)
	for i := range 20 { // each has an id of its own
		if got := r.task(r.do("POST", "/indexes/a/documents", strings.ReplaceAll("["+strings.Join(documents, ",")+"]", `"id":`, fmt.Sprintf(`"id":%d`, i+1)))); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	r.play(t, []scenario{
		{name: "documents", method: "GET", path: "/indexes/a/documents?limit=100000", status: 413, code: "answer_too_large"},
		{name: "documents by a body", method: "POST", path: "/indexes/a/documents/fetch", body: `{"limit":100000,"sort":["id:asc"]}`, status: 400},
		{name: "documents by a filter", method: "POST", path: "/indexes/a/documents/fetch", body: `{"limit":100000,"filter":"kind EXISTS"}`, status: 413, code: "answer_too_large"},
		{name: "values of a facet", method: "POST", path: "/indexes/a/facet-search", body: `{"facetName":"kind","facetQuery":"1"}`, status: 200},
		{name: "little of many", method: "GET", path: "/indexes/a/documents?limit=100000&fields=id", status: 200},
		{name: "what fits", method: "POST", path: "/indexes/a/search", body: `{` + marked + `,"limit":1}`, status: 200},
		{name: "several that fit", method: "POST", path: "/multi-search", body: `{"queries":[{"indexUid":"a","q":"word","limit":1},{"indexUid":"a","q":"none"}]}`, status: 200, contains: []string{`{"results":[{"indexUid":"a","hits":[{"id":`, `},{"indexUid":"a","hits":[]`}},
	})
	waitUntil(t, "all is given back", func() bool {
		r.client.CloseIdleConnections()
		n, _, _ := account.Figures()
		return n == 0
	})
}

// What a model is told by MCP, the values that a facet search finds, and what tasks were about
// are answers as well.
func TestHostileAnswersOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Answer: 20 << 10}})
	documents := make([]string, 60)
	for i := range documents {
		documents[i] = fmt.Sprintf(`{"id":%d,"kind":"%d-%s","text":"%s"}`, i, i, strings.Repeat("k", 450), strings.Repeat("word ", 400))
	}
	for _, a := range []answer{
		r.do("PATCH", "/indexes/a/settings", `{"filterableAttributes":["kind"]}`),
		r.do("POST", "/indexes/a/documents", "["+strings.Join(documents, ",")+"]"),
		r.do("POST", "/indexes/b/documents", `[{"id":1,"text":"`+strings.Repeat("word ", 5000)+`"}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	r.play(t, []scenario{
		{name: "facet search", method: "POST", path: "/indexes/a/facet-search", body: `{"facetName":"kind"}`, status: 413, code: "answer_too_large"},
		{name: "facet search that fits", method: "POST", path: "/indexes/a/facet-search", body: `{"facetName":"kind","facetQuery":"11"}`, status: 200},
		{name: "one document", method: "GET", path: "/indexes/b/documents/1", status: 413, code: "answer_too_large"},
	})
	words := `{"stopWords":["` + strings.Repeat("x", 900) + `"` + strings.Repeat(`,"`+strings.Repeat("x", 90)+`"`, 150) + `]}`
	for range 2 {
		if got := r.task(r.do("PATCH", "/indexes/c/settings", words)); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	r.play(t, []scenario{
		{name: "tasks", method: "GET", path: "/tasks", status: 413, code: "answer_too_large", contains: []string{"limit"}},
		{name: "batches", method: "GET", path: "/batches", status: 413, code: "answer_too_large"},
		{name: "one task", method: "GET", path: "/tasks?limit=1", status: 200},
		{name: "one batch", method: "GET", path: "/batches?limit=1", status: 200},
	})
	for tool, arguments := range map[string]string{"facet_values": `{"index":"a","attribute":"kind"}`, "fetch": `{"id":"b/1"}`} {
		a := r.do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
		if a.status != http.StatusOK || !strings.Contains(a.body, `"isError":true`) || !strings.Contains(a.body, "over the limit of 20480 bytes") {
			t.Errorf("%s by MCP = %d %.300s, want an error of the tool that names the limit", tool, a.status, a.body)
		}
	}
}

// A document that is read into memory whole is lent for, and what an upload becomes.
func TestHostileImportsAreLent(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	account := memory.NewAccount(limit, nil)
	r := newRig(t, wish{memory: account})
	long := strings.Repeat("x", 2<<20)
	var many strings.Builder
	for i := range 200 { // 4 MB of small ones
		fmt.Fprintf(&many, `{"id":%d,"x":%q}`+"\n", i, long[:20<<10])
	}
	lines := []string{"Content-Type", "application/x-ndjson"}
	for format, a := range map[string]answer{
		"JSON":   r.do("POST", "/indexes/a/documents", `[{"id":1,"x":"`+long+`"}]`),
		"NDJSON": r.do("POST", "/indexes/a/documents", `{"id":1,"x":"`+long+`"}`, lines...),
		"CSV":    r.do("POST", "/indexes/a/documents", "id,x\n1,"+long, "Content-Type", "text/csv"),
		"a file": r.do("POST", "/indexes/f/files", "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"+long+"\r\n--b--\r\n", "Content-Type", "multipart/form-data; boundary=b"),
	} {
		if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "memory_exhausted") {
			t.Errorf("%s with 2 MiB at once = %d %.300s, want 503", format, a.status, a.body)
		}
	}
	if a := r.do("POST", "/indexes/a/documents", many.String(), lines...); a.status != http.StatusAccepted {
		t.Errorf("4 MB of small documents = %d %.300s, want 202", a.status, a.body)
	}
	waitUntil(t, "all is given back", func() bool {
		r.client.CloseIdleConnections()
		n, _, _ := account.Figures()
		return n == 0
	})
}

// Files that take too long to be read give their slot back.
func TestHostileFilesTakeTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Files: 1}})
	a := r.do("POST", "/indexes/f/files", "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\ntext\r\n--b--\r\n", "Content-Type", "multipart/form-data; boundary=b")
	if a.status != http.StatusRequestEntityTooLarge || !strings.Contains(a.body, "send fewer at a time") {
		t.Errorf("files without time = %d %s, want 413", a.status, a.body)
	}
}

// null is no body: each route that reads JSON says so, but for the routes of one
// setting, which null resets.
func TestHostileNullBodies(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	parameter := regexp.MustCompile(`:uid`)
	rest := regexp.MustCompile(`:[a-zA-Z]+\??|\*`)
	// They read no body, or one that is not JSON.
	without := []string{
		"POST /dumps", "POST /snapshots", "POST /plugins/reload", "POST /cluster/upgrade", "POST /cluster/snapshot", "POST /cluster/resign",
		"POST /tasks/cancel", "POST /indexes/:uid/compact", "POST /chats/:uid/test", "POST /telemetry/flush",
	}
	for _, row := range httpapi.Table(r.server) {
		method, path, _ := strings.Cut(row.Name, " ")
		if method == "GET" || method == "DELETE" || slices.Contains(without, row.Name) {
			continue
		}
		setting := strings.HasPrefix(path, "/indexes/:uid/settings/")
		uid := "movies"
		if strings.HasPrefix(path, "/chats/") {
			uid = "demo"
		}
		path = rest.ReplaceAllString(parameter.ReplaceAllString(path, uid), "1")
		for _, body := range []string{"null", " null\n"} {
			a := r.do(method, path, body)
			if accepted := a.status < 300; accepted != setting {
				t.Errorf("%s with %q = %d %s, want it to be refused, but for a setting", row.Name, body, a.status, a.body)
			}
		}
	}
}

// A body of many short values becomes a hundred times its bytes once it is taken apart,
// and so does what is made of one: that is lent, too.
func TestHostileParts(t *testing.T) {
	t.Parallel()
	account := memory.NewAccount(16<<20, nil)
	r := newRig(t, wish{memory: account})
	many := strings.TrimSuffix(strings.Repeat("{},", 100_000), ",")
	text := strings.Repeat("x, ", 100_000)
	for path, body := range map[string]string{
		completions:                          `{"model":"m","messages":[%s]}`,
		"/chats/demo/ui":                     `{"messages":[%s]}`,
		"/v1/chat/completions":               `{"model":"demo/m","messages":[%s]}`,
		"/v1/completions":                    `{"model":"demo/m","prompt":[%s]}`,
		"/v1/responses":                      `{"model":"demo/m","input":[%s]}`,
		"/v1/messages":                       `{"model":"demo/m","max_tokens":9,"messages":[%s]}`,
		"/v1/embeddings":                     `{"model":"demo/m","input":[%s]}`,
		"/mcp":                               `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":[%s]}}}`,
		"/indexes/a/search":                  `{"q":[%s]}`,
		"/multi-search":                      `{"queries":[%s]}`,
		"/indexes/a/documents/delete-batch":  `[%s]`,
		"/indexes/a/documents/fetch":         `{"ids":[%s]}`,
		"/swap-indexes":                      `[%s]`,
		"/chats/demo/guards/test":            `{"stage":"question","text":[%s]}`,
		"PATCH /indexes/a/settings":          `{"stopWords":[%s]}`,
		"PUT /indexes/a/settings/synonyms":   `{"a":[%s]}`,
		"PUT /indexes/a/settings/stop-words": `[%s]`,
		"PATCH /chats/demo/settings":         `{"parameters":{"a":[%s]}}`,
	} {
		method, at, ok := strings.Cut(path, " ")
		if !ok {
			method, at = "POST", path
		}
		if a := r.do(method, at, fmt.Sprintf(body, many)); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "1" {
			t.Errorf("%s with 100,000 objects = %d %.300s, want 503", path, a.status, a.body)
		}
		if a := r.do(method, at, fmt.Sprintf(body, rawjson.AppendString(nil, text))); a.status == http.StatusServiceUnavailable {
			t.Errorf("%s with a text as long = %d %.300s", path, a.status, a.body)
		}
	}
	called := strings.TrimSuffix(strings.Repeat(`{"type":"tool-x","output":1},`, 5000), ",")
	if a := r.do("POST", "/chats/demo/ui", `{"model":"m","messages":[{"role":"assistant","parts":[`+called+`]}]}`); a.status != http.StatusServiceUnavailable {
		t.Errorf("5,000 calls of a user interface = %d %.300s, want 503: each becomes two messages", a.status, a.body)
	}
	waitUntil(t, "all is given back", func() bool {
		r.client.CloseIdleConnections()
		n, _, _ := account.Figures()
		return n == 0
	})
}

// Queries that are too many are counted before each of them becomes a kilobyte.
func TestHostileQueries(t *testing.T) { // alone: it measures
	r := newRig(t, wish{})
	many := `{"queries":[` + strings.TrimSuffix(strings.Repeat("{},", 340_000), ",") + `]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := r.do("POST", "/multi-search", many)
	runtime.ReadMemStats(&after)
	if a.status != http.StatusBadRequest || !strings.Contains(a.body, "340000 queries; at most 1000") {
		t.Errorf("340,000 queries = %d %.300s, want 400", a.status, a.body)
	}
	if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 200 {
		t.Errorf("340,000 queries had %d MiB allocated, want 200 at most", made)
	}
}
