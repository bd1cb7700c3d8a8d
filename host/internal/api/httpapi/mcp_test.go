package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// mcp2026 are the headers of the revision without sessions, for a call of tool.
func mcp2026(method, tool string) []string {
	return []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", tool}
}

// message is a request of the revision 2026-07-28; params are members to add.
func message(method, params string) string {
	if params != "" {
		params = "," + params
	}
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}` + params + `}}`
}

// legacy is a request of the revisions before.
func legacy(method, params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + `}}`
}

// An rpc is what came back, as far as tests look at it.
type rpc struct {
	Result struct {
		IsError           bool
		StructuredContent json.RawMessage
		Content           []struct{ Type, Text string }
		Tools             []struct {
			Name, Description         string
			InputSchema, OutputSchema json.RawMessage
			Annotations               struct{ ReadOnlyHint, OpenWorldHint *bool }
		}
		TTLMs      int
		CacheScope string
	}
	Error *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// rpc sends a message that is answered with 200.
func (r *rig) rpc(t *testing.T, body string, header ...string) (out rpc) {
	t.Helper()
	a := r.do("POST", "/mcp", body, header...)
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusOK {
		t.Fatalf("answer = %d %s, want 200 with a JSON object", a.status, a.body)
	}
	return out
}

// tool calls a tool by the newest revision, and returns what it gave.
func (r *rig) tool(t *testing.T, name, arguments string, header ...string) rpc {
	t.Helper()
	out := r.rpc(t, message("tools/call", `"name":"`+name+`","arguments":`+arguments), append(mcp2026("tools/call", name), header...)...)
	if out.Error != nil || len(out.Result.Content) != 1 {
		t.Fatalf("%s %s = %+v, want a result with one text", name, arguments, out)
	}
	if !out.Result.IsError && !sameJSON(t, out.Result.Content[0].Text, string(out.Result.StructuredContent)) {
		t.Errorf("text %s, want the same as %s", out.Result.Content[0].Text, out.Result.StructuredContent)
	}
	return out
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	check(t, json.Unmarshal([]byte(a), &x))
	check(t, json.Unmarshal([]byte(b), &y))
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// names lists the tools that a caller sees.
func (r *rig) names(t *testing.T, header ...string) string {
	t.Helper()
	var list []string
	for _, tool := range r.rpc(t, legacy("tools/list", ""), header...).Result.Tools {
		list = append(list, tool.Name)
	}
	return strings.Join(list, " ")
}

// checkGuardMCP checks what /mcp answers without a good key.
func checkGuardMCP(t *testing.T, a answer, header, nothing string) {
	t.Helper()
	want := http.StatusUnauthorized
	if header == nothing {
		want = http.StatusForbidden
	}
	if a.status != want || !strings.Contains(a.body, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,`) {
		t.Errorf("answer with %.12q = %d %s, want %d and an error of JSON-RPC", header, a.status, a.body, want)
	}
	if got := a.header.Get("WWW-Authenticate"); want == http.StatusUnauthorized && got != "Bearer" {
		t.Errorf("WWW-Authenticate = %q, want Bearer", got)
	}
}

// What is no message of the protocol is refused as the protocol says.
func TestMCPWire(t *testing.T) {
	r := newMovies(t)
	list := message("tools/list", "")
	tests := []struct {
		name   string
		method string
		body   string
		header []string
		status int
		says   []string
	}{
		{"GET", "GET", "", nil, 405, []string{"takes POST"}},
		{"DELETE", "DELETE", "", nil, 405, nil},
		{"content type", "POST", list, []string{"Content-Type", "text/plain"}, 415, []string{"application/json"}},
		{"accepts JSON alone", "POST", list, []string{"Accept", "application/json"}, 400, []string{"text/event-stream"}},
		{"not JSON", "POST", "{", nil, 400, []string{`"code":-32700`, "malformed_payload"}},
		{"several", "POST", "[" + list + "]", nil, 400, []string{`"code":-32600`, "one by one"}},
		{"no request", "POST", `{"a":1}`, nil, 400, []string{`"code":-32600`}},
		{"discover", "POST", message("server/discover", ""), mcp2026("server/discover", ""), 200, []string{
			`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`, `"capabilities":{"tools":{}}`, `"name":"parley"`, `"title":"Parley"`, `"version":"1.2.3"`, `"ttlMs":60000`, `"cacheScope":"private"`, "Search first",
		}},
		{"list", "POST", list, mcp2026("tools/list", ""), 200, []string{`"ttlMs":60000`, `"cacheScope":"private"`, `"resultType":"complete"`}},
		{"version differs", "POST", list, []string{"MCP-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/list"}, 400, []string{`"code":-32020`, `"id":7`}},
		{"no version in the header", "POST", list, nil, 400, []string{`"code":-32020`}},
		{"method differs", "POST", list, mcp2026("tools/call", ""), 400, []string{`"code":-32020`}},
		{"tool differs", "POST", message("tools/call", `"name":"search","arguments":{"query":"x"}`), mcp2026("tools/call", "fetch"), 400, []string{`"code":-32020`}},
		{"unknown version", "POST", list, []string{"MCP-Protocol-Version", "2030-01-01"}, 400, []string{`"code":-32022`, `"supported":["2026-07-28",`, `"requested":"2030-01-01"`}},
		{"older than all", "POST", legacy("tools/list", ""), []string{"MCP-Protocol-Version", "2024-01-01"}, 400, []string{`"code":-32022`}},
		{"unknown method", "POST", message("tools/nope", ""), mcp2026("tools/nope", ""), 404, []string{`"code":-32601`, `"id":7`}},
		{"what no capability promises", "POST", message("subscriptions/listen", ""), mcp2026("subscriptions/listen", ""), 404, []string{`"code":-32601`}},
		{"unknown tool", "POST", message("tools/call", `"name":"nope","arguments":{}`), mcp2026("tools/call", "nope"), 400, []string{`"code":-32602`}},

		{"initialize", "POST", legacy("initialize", `"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}`), nil, 200, []string{`"protocolVersion":"2025-06-18"`, `"capabilities":{"tools":{}}`}},
		{"initialize by an unknown version", "POST", legacy("initialize", `"protocolVersion":"2031-01-01","capabilities":{},"clientInfo":{"name":"t","version":"1"}`), nil, 200, []string{`"protocolVersion":"2025-11-25"`}},
		{"ping", "POST", legacy("ping", ""), []string{"MCP-Protocol-Version", "2025-11-25"}, 200, []string{`"result":{}`}},
		{"list without a version", "POST", legacy("tools/list", ""), nil, 200, []string{`"name":"search"`}},
		{"unknown method of old", "POST", legacy("prompts/list", ""), []string{"MCP-Protocol-Version", "2025-11-25"}, 200, []string{`"code":-32601`}},
		{"unknown tool of old", "POST", legacy("tools/call", `"name":"nope","arguments":{}`), nil, 200, []string{`"code":-32602`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := r.do(tt.method, "/mcp", tt.body, append([]string{"Accept", "application/json, text/event-stream"}, tt.header...)...)
			if a.status != tt.status {
				t.Errorf("status = %d, want %d: %s", a.status, tt.status, a.body)
			}
			for _, want := range tt.says {
				if !strings.Contains(a.body, want) {
					t.Errorf("body %s, want %q in it", a.body, want)
				}
			}
			if !strings.Contains(a.body, `"jsonrpc":"2.0"`) {
				t.Errorf("body %s, want JSON-RPC", a.body)
			}
			if tt.status == 405 && a.header.Get("Allow") != "POST" {
				t.Errorf("Allow = %q, want POST", a.header.Get("Allow"))
			}
			if got := a.header.Get("Mcp-Session-Id"); got != "" {
				t.Errorf("a session %q was made, want none", got)
			}
		})
	}
	a := r.do("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "MCP-Protocol-Version", "2025-11-25")
	if a.status != http.StatusAccepted || a.body != "" {
		t.Errorf("answer to a notification = %d %q, want 202 and nothing", a.status, a.body)
	}
	if a := r.do("GET", "/.well-known/oauth-protected-resource", "", "Authorization", ""); a.status != http.StatusNotFound {
		t.Errorf("metadata of OAuth = %d, want 404", a.status)
	}
	if a := r.do("PATCH", "/experimental-features", `{"mcp":false}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	if a := r.do("POST", "/mcp", list); a.status != http.StatusNotFound || !strings.Contains(a.body, "mcp") {
		t.Errorf("answer while it is off = %d %s, want 404 that names the switch", a.status, a.body)
	}
}

func TestMCPTools(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	if got := r.task(r.do("PATCH", "/indexes/movies/settings", `{"chat":{"description":"Films & more"},"sortableAttributes":["year"],"displayedAttributes":["id","title","genre"]}`)); got.Error != nil {
		t.Fatalf("task = %+v", got)
	}
	for _, tool := range r.rpc(t, legacy("tools/list", "")).Result.Tools {
		if a := tool.Annotations; a.ReadOnlyHint == nil || !*a.ReadOnlyHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("annotations of %s = %+v, want one that only reads, here", tool.Name, a)
		}
		for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
			if !strings.Contains(string(schema), `"type":"object"`) || strings.Contains(string(schema), `"null"`) {
				t.Errorf("schema of %s = %s, want that of an object, and nothing that may be null", tool.Name, schema)
			}
		}
		if tool.Name == "search" && !strings.Contains(tool.Description, "\n- movies: Films & more\n- secret") {
			t.Errorf("description of search = %q, want the indexes in it", tool.Description)
		}
	}
	alien := `{"id":"movies/1","text":"id: 1\ntitle: Alien\ngenre: horror\n","title":"Alien","url":"` + r.url + `/indexes/movies/documents/1"`
	tests := []struct {
		tool, arguments string
		failed          bool
		want            string // the whole result, or a part of the error
	}{
		{"search", `{"query":"alien"}`, false, `{"results":[` + strings.Replace(alien, `id: 1\ntitle: Alien\n`, "", 1) + `}]}`},
		{"search", `{"query":"Which films are of the genre horror?"}`, false, `{"results":[` + strings.Replace(alien, `id: 1\ntitle: Alien\n`, "", 1) + `}]}`},
		{"search", `{"query":"","index":"movies","filter":"year < 1990"}`, false, `{"results":[` + alien + `}]}`},
		{"search", `{"query":"","filter":"year < 1990"}`, false, `{"results":[` + alien + `}]}`},
		{"search", `{"query":"","limit":1}`, false, `{"results":[` + alien + `}]}`},
		{"search", `{"query":"nothing of this"}`, false, `{"results":[]}`},
		{"search", `{}`, true, "query"},
		{"search", `{"query":"x","limit":51}`, true, "limit"},
		{"search", `{"query":"x","nope":1}`, true, "nope"},
		{"search", `{"query":"x","index":"film"}`, true, "Index `film` not found. The indexes are: movies, secret."},
		{"search", `{"query":"x","filter":"title = x"}`, true, "filterableAttributes"},
		{"search", `{"query":"x","index":"movies","filter":"year <"}`, true, "column"},
		{"fetch", `{"id":"movies/1"}`, false, alien[:len(alien)-1] + `","metadata":{"genre":"horror","id":"1","title":"Alien"}}`},
		{"fetch", `{"id":"movies/9"}`, true, "use an id that search returned"},
		{"fetch", `{"id":"movies"}`, true, "INDEX/DOCUMENT-ID"},
		{"fetch", `{"id":"nope/1"}`, true, "The indexes are: movies, secret."},
		{"list_indexes", `{}`, false, `{"indexes":[{"uid":"movies","description":"Films & more","documents":3,"primaryKey":"id","filterableAttributes":["genre","year"],"sortableAttributes":["year"]},` +
			`{"uid":"secret","description":"","documents":0,"primaryKey":"","filterableAttributes":[],"sortableAttributes":[]}]}`},
		{"facet_values", `{"index":"movies","attribute":"genre","query":"h"}`, false, `{"values":[{"value":"horror","count":1}]}`},
		{"facet_values", `{"index":"movies","attribute":"title"}`, true, "title"},
		// What does not fit the schema is for the model, too.
		{"search", `{"limit":5}`, true, "query"},
		{"search", `{"query":"x","limit":"many"}`, true, "limit"},
	}
	for _, tt := range tests {
		got := r.tool(t, tt.tool, tt.arguments).Result
		switch {
		case got.IsError != tt.failed:
			t.Errorf("%s %s = %+v, want isError %t", tt.tool, tt.arguments, got, tt.failed)
		case tt.failed && !strings.Contains(got.Content[0].Text, tt.want):
			t.Errorf("%s %s fails with %q, want %q in it", tt.tool, tt.arguments, got.Content[0].Text, tt.want)
		case !tt.failed && !sameJSON(t, string(got.StructuredContent), tt.want):
			t.Errorf("%s %s = %s, want %s", tt.tool, tt.arguments, got.StructuredContent, tt.want)
		}
	}
}

// A message is read once: what could be read in two ways, or has a shape that the
// protocol does not know, is refused or fails the tool, and ends nothing.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	for _, arguments := range []string{"null", "[]", `"x"`, "1", "true", `[{"query":"x"}]`} {
		if got := r.tool(t, "search", arguments).Result; !got.IsError || !strings.Contains(got.Content[0].Text, "must be an object") {
			t.Errorf("search with arguments %s = %+v, want that they must be an object", arguments, got)
		}
	}
	for _, call := range [][3]string{
		{"search", `{"query":"alien","query":"x"}`, "`query` comes twice"},
		{"search", `{"query":"alien","Query":"x"}`, "Query"},
		{"search", `{"query":null}`, "`query` is missing"},
		{"search", `{"query":["alien"]}`, "`query` must be"},
		{"search", `{"query":"x","limit":1e9}`, "limit"},
		{"search", `{"query":"x","limit":-1}`, "limit"},
		{"fetch", `{"id":{}}`, "`id` must be"},
		{"facet_values", `{"index":"movies"}`, "`attribute` is missing"},
		{"list_indexes", `{"a":1}`, "`a`"},
	} {
		if got := r.tool(t, call[0], call[1]).Result; !got.IsError || !strings.Contains(got.Content[0].Text, call[2]) {
			t.Errorf("%s %s = %+v, want an error with %q", call[0], call[1], got, call[2])
		}
	}
	if got := r.rpc(t, legacy("tools/call", `"name":"list_indexes"`)); got.Error != nil || got.Result.IsError {
		t.Errorf("call without arguments = %+v, want a result", got)
	}
	const search = `"name":"search","arguments":{"query":"x"}`
	for body, says := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_indexes"},"params":{` + search + `}}`: "`params` comes twice",
		`{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"tools/call","params":{` + search + `}}`:            "`method` comes twice",
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","Params":{` + search + `}}`:                                  `unknown tool`,
		`{"jsonrpc":"2.0","id":7,"Method":"tools/call","params":{` + search + `}}`:                                  "`method` is missing",
		legacy("tools/call", `"name":"list_indexes",`+search):                                                       "`name` comes twice",
		legacy("tools/call", `"Name":"search"`):                                                                     `unknown tool`,
		legacy("tools/call", `"name":["search"]`):                                                                   "`name` must be",
		legacy("tools/call", `"_meta":[],`+search):                                                                  "`_meta` must be",
		legacy("tools/call", `"_meta":{"progressToken":{}},`+search):                                                "`progressToken` must be",
		legacy("tools/list", `"cursor":7`):                                                                          "`cursor` must be",
		legacy("initialize", `"protocolVersion":7`):                                                                 "`protocolVersion` must be",
		legacy("initialize", `"protocolVersion":"2025-06-18","clientInfo":7`):                                       "`clientInfo` must be",
		`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}`:                                                "`params` must be an object",
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`:                                                            `unknown tool`,
		`{"jsonrpc":"2.0","id":{},"method":"tools/list"}`:                                                           "`id` must be",
		`{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`:                                                          "`id` must be",
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`:                                                         "`id` must be",
		`{"jsonrpc":"2.0","method":"tools/list"}`:                                                                   "`id` is missing",
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                                                                      "`method` is missing",
		`{"id":7,"method":"tools/list"}`:                                                                            "`jsonrpc` must be",
	} {
		a := r.do("POST", "/mcp", body)
		var got rpc
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Error == nil || !strings.Contains(got.Error.Message, says) {
			t.Errorf("answer to %s = %d %s, want an error with %q", body, a.status, a.body, says)
		}
	}
	for _, body := range []string{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{},"reason":7}}`, `{"jsonrpc":"2.0","method":"notifications/progress"}`} {
		if a := r.do("POST", "/mcp", body); a.status != http.StatusAccepted {
			t.Errorf("answer to %s = %d %s, want 202", body, a.status, a.body)
		}
	}
}

// The key's actions decide which tools there are, its indexes and the filter of a
// tenant token what they see.
func TestMCPRights(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	key := func(actions, indexes []string) []string {
		return []string{"Authorization", "Bearer " + r.key(actions, indexes)}
	}
	if a := r.do("PATCH", "/chats/b/settings", `{"source":"test","apiKey":"k","defaultModel":"m"}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	const four = "facet_values fetch list_indexes search"
	searcher := key([]string{"search"}, []string{"movies"})
	if got := r.names(t, searcher...); got != four {
		t.Errorf("tools of a key that may search = %q, want %q", got, four)
	}
	if got := r.names(t, key([]string{"search", "chatCompletions"}, []string{"*"})...); got != "ask "+four {
		t.Errorf("tools of a key that may ask = %q, want ask and %q", got, four)
	}
	bound, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"*"}, Indexes: []string{"*"}, Workspaces: []string{"none"}})
	check(t, err)
	if got := r.names(t, "Authorization", "Bearer "+r.keys.Value(&bound)); got != four {
		t.Errorf("tools of a key without workspaces = %q, want %q", got, four)
	}
	ask := legacy("tools/call", `"name":"ask","arguments":{"question":"x"}`)
	if a := r.do("POST", "/mcp", ask, searcher...); a.status != http.StatusForbidden || !strings.Contains(a.body, "`chatCompletions`") {
		t.Errorf("ask by a key that may not = %d %s, want 403 that names chatCompletions", a.status, a.body)
	}
	if a := r.do("POST", "/mcp", ask, key([]string{"chatCompletions"}, []string{"*"})...); a.status != http.StatusForbidden || !strings.Contains(a.body, "`search`") {
		t.Errorf("ask by a key that may not search = %d %s, want 403 that names search", a.status, a.body)
	}
	if got := r.tool(t, "list_indexes", "{}", searcher...).Result; strings.Contains(string(got.StructuredContent), "secret") {
		t.Errorf("a key for movies sees %s", got.StructuredContent)
	}
	for _, call := range [][2]string{{"search", `{"query":"x","index":"secret"}`}, {"fetch", `{"id":"secret/1"}`}, {"facet_values", `{"index":"secret","attribute":"x"}`}} {
		if got := r.tool(t, call[0], call[1], searcher...).Result; !got.IsError || !strings.Contains(got.Content[0].Text, "not found. The indexes are: movies.") {
			t.Errorf("%s of another's index = %+v, want that it is not there", call[0], got)
		}
	}
	tenant := []string{"Authorization", "Bearer " + r.tenant(t, map[string]any{"movies": map[string]any{"filter": "genre != horror"}})}
	for call, hidden := range map[[2]string]string{
		{"search", `{"query":"alien"}`}:                            "Alien",
		{"search", `{"query":""}`}:                                 "Alien",
		{"facet_values", `{"index":"movies","attribute":"genre"}`}: "horror",
	} {
		if got := r.tool(t, call[0], call[1], tenant...).Result; got.IsError || strings.Contains(string(got.StructuredContent), hidden) {
			t.Errorf("%s of a tenant = %+v, want no %s", call, got, hidden)
		}
	}
	if got := r.tool(t, "fetch", `{"id":"movies/1"}`, tenant...).Result; !got.IsError {
		t.Errorf("a tenant fetched %s", got.StructuredContent)
	}
	if got := r.tool(t, "list_indexes", "{}", tenant...).Result; !strings.Contains(string(got.StructuredContent), `"documents":2`) {
		t.Errorf("a tenant sees %s, want two documents", got.StructuredContent)
	}
}

// Pages of others may not ask a host without a key, nor by a name that leads here.
func TestMCPSite(t *testing.T) {
	r := newRig(t, wish{open: true})
	for header, code := range map[[2]string]string{{"Origin", "https://evil.example"}: "forbidden_origin", {"Origin", "null"}: "forbidden_origin"} {
		a := r.do("POST", "/mcp", legacy("tools/list", ""), "Authorization", "", header[0], header[1])
		if a.status != http.StatusForbidden || !strings.Contains(a.body, code) || !strings.Contains(a.body, `"jsonrpc"`) {
			t.Errorf("answer with %v = %d %s, want 403 %s", header, a.status, a.body, code)
		}
	}
	if a := r.do("POST", "/mcp", legacy("tools/list", ""), "Authorization", "", "Origin", "http://localhost:6274"); a.status != 200 {
		t.Errorf("answer to a page of this machine = %d %s", a.status, a.body)
	}
}

// Nor may they ask one with a key, for the protocol wants that of a server whatever
// key a page has, but for pages that the operator names.
func TestHostilePageMCP(t *testing.T) {
	r := newRig(t, wish{})
	list := legacy("tools/list", "")
	for _, header := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://evil.example", "Host", "evil.example"}, {"Sec-Fetch-Site", "cross-site"},
	} {
		a := r.do("POST", "/mcp", list, header...)
		if a.status != http.StatusForbidden || !strings.Contains(a.body, "forbidden_origin") || !strings.Contains(a.body, "--allowed-origins") {
			t.Errorf("answer with %q = %d %s, want 403 that names the option", header, a.status, a.body)
		}
	}
	for _, header := range [][]string{nil, {"Origin", "http://localhost:6274"}, {"Origin", r.url}} {
		if a := r.do("POST", "/mcp", list, header...); a.status != http.StatusOK {
			t.Errorf("answer with %q = %d %s, want 200", header, a.status, a.body)
		}
	}
	if a := r.do("GET", "/indexes", "", "Origin", "https://any.example"); a.status != http.StatusOK || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("other routes with an Origin = %d %v, want 200 for any", a.status, a.header)
	}
	named := newRig(t, wish{site: httpapi.Site{Origins: []string{"https://app.example"}}})
	if a := named.do("POST", "/mcp", list, "Origin", "https://app.example"); a.status != http.StatusOK {
		t.Errorf("answer to a page that is named = %d %s, want 200", a.status, a.body)
	}
}

// asks is a rig whose workspace answers without being told a model.
func asks(t *testing.T, w wish) *rig {
	t.Helper()
	r := newRig(t, w)
	if a := r.do("PATCH", "/chats/demo/settings", `{"defaultModel":"m"}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	return r
}

func TestMCPAsk(t *testing.T) {
	t.Parallel()
	search := chattest.Script{Batches: [][]string{{`tool:0:c1:searchInIndex`, `args:0:{"indexUid":"movies","q":"space"}`, "usage:1,2", "finish:tool_calls"}}}
	write := chattest.Script{Batches: [][]string{{"text:Hello"}, {"text: [1][2]", "usage:3,4", "finish:stop"}}}
	documents := map[string][]chat.Hit{"movies": {
		{ID: "4", Text: "space", Document: json.RawMessage(`{"name":"Solaris"}`)},
		{ID: "5", Text: "space", Document: json.RawMessage(`{"title":"Contact","url":"https://a.example/5"}`)},
	}}
	r := asks(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{search, write, search, write}}, indexes: []chat.Index{{UID: "movies"}}, documents: documents})
	got := r.tool(t, "ask", `{"question":"Which?","workspace":"demo"}`).Result // which need not be named
	const want = `"answer":"Hello [1][2]"`
	whole := "{" + want + `,"sources":[{"id":"movies/4","title":"Solaris","url":"` + r.url + `/indexes/movies/documents/4"},{"id":"movies/5","title":"Contact","url":"https://a.example/5"}],` +
		`"usage":{"promptTokens":4,"completionTokens":6,"totalTokens":10}}`
	if got.IsError || !sameJSON(t, string(got.StructuredContent), whole) {
		t.Errorf("ask = %+v, want %s", got, whole)
	}

	if got := r.tool(t, "ask", `{"question":"Which?","workspace":"nope"}`).Result; !got.IsError || !strings.Contains(got.Content[0].Text, "nope") {
		t.Errorf("ask of an unknown workspace = %+v, want an error that names it", got)
	}

	if a := r.do("PATCH", "/chats/demo/settings", `{"limits":{"requestsPerMinute":7}}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	a := r.do("POST", "/mcp", strings.Replace(message("tools/call", `"name":"ask","arguments":{"question":"Which?"}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1), mcp2026("tools/call", "ask")...)
	if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || a.header.Get("X-Ratelimit-Limit-Requests") != "7" {
		t.Fatalf("ask with a progress token = %d %v %s, want a stream of events, and the limits", a.status, a.header, a.body)
	}
	at := -1
	for _, part := range []string{`"progressToken":"p","message":"searching movies for space","progress":1`, `"progressToken":"p","message":"writing","progress":2`, want} {
		next := strings.Index(a.body, part)
		if next <= at {
			t.Errorf("stream %s, want %s after what came before", a.body, part)
		}
		at = next
	}

	if a := r.do("PATCH", "/chats/other/settings", `{"source":"test","apiKey":"k","defaultModel":"m"}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	for _, tool := range r.rpc(t, legacy("tools/list", "")).Result.Tools {
		if tool.Name == "ask" && !strings.Contains(string(tool.InputSchema), `"enum":["demo","other"]`) {
			t.Errorf("input of ask = %s, want both workspaces", tool.InputSchema)
		}
	}
	for _, arguments := range []string{`{"question":"x"}`, `{"question":"x","workspace":"nope"}`, `{"workspace":"demo"}`} {
		if got := r.tool(t, "ask", arguments).Result; !got.IsError {
			t.Errorf("ask %s = %+v, want an error that the model reads", arguments, got)
		}
	}
	if a := r.do("PATCH", "/experimental-features", `{"chatCompletions":false}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	if got := r.names(t); strings.Contains(got, "ask") {
		t.Errorf("tools while conversations are off = %q, want no ask", got)
	}
}

// What the provider refuses is a result for the model to read.
func TestMCPAskFails(t *testing.T) {
	t.Parallel()
	r := asks(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{{Status: 429, Head: chattest.Head("x-kind", "rate_limit"), Body: "slow down"}, {Status: 429, Head: chattest.Head("x-kind", "rate_limit"), Body: "slow down"}}}})
	got := r.tool(t, "ask", `{"question":"Which?"}`).Result
	if !got.IsError || !strings.Contains(got.Content[0].Text, "slow down") {
		t.Errorf("ask = %+v, want the provider's refusal", got)
	}
}

// An answer with progress begins while the provider is silent; a whole one cannot.
func TestMCPAskOpensInSilence(t *testing.T) {
	p := newProvider()
	r := asks(t, wish{upstream: p, limits: httpapi.Limits{Opening: time.Millisecond}})
	k := r.sendTo(t, "/mcp", legacy("tools/call", `"_meta":{"progressToken":1},"name":"ask","arguments":{"question":"Which?"}`))
	res, err := http.ReadResponse(k.in, nil) // while the provider is silent
	check(t, err)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("answer = %d %q, want a stream", res.StatusCode, res.Header)
	}
	k.in = bufio.NewReader(res.Body)
	if f := k.frame(); f != ":\n" {
		t.Fatalf("first frame %q, want a comment", f)
	}
	p.events <- "text:one"
	p.events <- "finish:stop"
	close(p.events)
	if rest := k.rest(); !strings.Contains(rest, `"message":"writing"`) || !strings.Contains(rest, `"answer":"one"`) {
		t.Errorf("stream = %q, want its progress and the answer", rest)
	}
}

// A client that leaves during ask ends the provider's request, in either
// revision, with progress or without.
func TestMCPAskLeave(t *testing.T) {
	t.Parallel()
	call := `"name":"ask","arguments":{"question":"Which?"}`
	withProgress := `"_meta":{"progressToken":1},` + call
	for name, body := range map[string]string{"whole": legacy("tools/call", call), "stream": legacy("tools/call", withProgress)} {
		t.Run(name, func(t *testing.T) {
			p := newProvider()
			r := asks(t, wish{upstream: p})
			k := r.sendTo(t, "/mcp", body)
			waitFor(t, p.asked, "request")
			p.events <- "text:Hello"
			if name == "stream" {
				var err error
				k.res, err = http.ReadResponse(k.in, nil)
				check(t, err)
				k.in = bufio.NewReader(k.res.Body)
				if got := k.frame(); !strings.Contains(got, "writing") {
					t.Errorf("first event = %q, want that it writes", got)
				}
			}
			check(t, k.conn.Close())
			if err := waitFor(t, p.ended, "end of the provider's request"); err == nil {
				t.Error("the provider's request ended without a cause")
			}
		})
	}
}
