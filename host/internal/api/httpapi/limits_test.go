package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// limited makes an API key with limits and returns its uid and its value.
func (r *rig) limited(limits string) (uid, value string) {
	r.tb.Helper()
	a := r.do("POST", "/keys", `{"actions":["search","chatCompletions","stats.get"],"indexes":["*"],"expiresAt":null,"limits":`+limits+`}`)
	var k struct{ UID, Key string }
	if err := json.Unmarshal([]byte(a.body), &k); err != nil || a.status != http.StatusCreated {
		r.tb.Fatalf("POST /keys = %d %s", a.status, a.body)
	}
	return k.UID, "Bearer " + k.Key
}

// counting is a provider that counts the tokens of its answers.
func counting() *chattest.Upstream {
	return &chattest.Upstream{Scripts: []chattest.Script{{Batches: [][]string{{"text:Hello", "finish:stop", "usage:10,20"}}}}}
}

const (
	askMCP    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"workspace":"demo","question":"b"}}}`
	searchMCP = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"b"}}}`
)

// TestLimitsOfAllDoors refuses at each door what a key may not ask for any more, in
// its own words: too_many_requests and token_budget_spent at /chats.
func TestLimitsOfAllDoors(t *testing.T) {
	r := newRig(t, wish{upstream: counting()})
	r.do("PATCH", "/chats/demo/settings", `{"defaultModel":"m"}`)
	check := func(name string, a answer, retry, should string, contains ...string) {
		t.Helper()
		if a.status != 429 || a.header.Get("X-Should-Retry") != should || retry == "" != (a.header.Get("Retry-After") == "") || retry != "" && retry != "some" && a.header.Get("Retry-After") != retry {
			t.Errorf("%s = %d %v %s", name, a.status, a.header, a.body)
		}
		if ms := a.header.Get("Retry-After-Ms"); (ms == "") != (retry == "") {
			t.Errorf("%s: Retry-After-Ms %q", name, ms)
		}
		for _, want := range contains {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s = %s, want %s", name, a.body, want)
			}
		}
	}
	_, rate := r.limited(`{"requestsPerMinute":1}`)
	if a := r.do("POST", completions, hello, "Authorization", rate); a.status != 200 {
		t.Fatalf("first = %d %s", a.status, a.body)
	}
	a := r.do("POST", completions, hello, "Authorization", rate)
	check("/chats", a, "some", "", `"code":"too_many_requests"`, `"error":{`)
	for _, path := range []string{"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/embeddings"} {
		body := `{"model":"demo","messages":[{"role":"user","content":"a"}],"input":"a","prompt":"a"}`
		a := r.do("POST", path, body, "Authorization", rate)
		check(path, a, "some", "", `"type":"rate_limit_error"`, `"code":"rate_limit_exceeded"`)
		if strings.Contains(a.body, "too_many_requests") {
			t.Errorf("%s has words of /chats: %s", path, a.body)
		}
	}
	if got := r.do("POST", "/mcp", askMCP, "Authorization", rate); !strings.Contains(got.body, `"isError":true`) || !strings.Contains(got.body, "1 requests a minute") || got.header.Get("X-Ratelimit-Remaining-Requests") != "0" {
		t.Errorf("ask = %v %s", got.header, got.body)
	}
	_, total := r.limited(`{"tokens":{"amount":10,"period":"total"}}`)
	check("/chats, spent", r.do("POST", completions, hello, "Authorization", total), "", "false", `"code":"token_budget_spent"`)
	check("/v1, spent", r.do("POST", "/v1/chat/completions", helloV1, "Authorization", total), "", "false", `"type":"insufficient_quota"`, `"code":"insufficient_quota"`)
	_, hourly := r.limited(`{"tokens":{"amount":10,"period":"hour"}}`)
	check("/v1, spent for an hour", r.do("POST", "/v1/chat/completions", helloV1, "Authorization", hourly), "some", "false", `"code":"insufficient_quota"`)
}

// TestLimitHeaders has every answer say what is left of the tighter limits, for as
// long as one is in force.
func TestLimitHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{upstream: counting()})
	headers := func(h http.Header) string {
		var got []string
		for _, of := range []string{"Requests", "Tokens"} {
			for _, what := range []string{"Limit", "Remaining"} {
				got = append(got, h.Get("X-Ratelimit-"+what+"-"+of))
			}
			if reset := h.Get("X-Ratelimit-Reset-" + of); reset != "" {
				if d, err := time.ParseDuration(reset); err != nil || d < 0 {
					t.Errorf("reset of %s: %q", of, reset)
				}
			}
		}
		return strings.Join(got, " ")
	}
	if a := r.do("POST", completions, hello); headers(a.header) != "   " {
		t.Errorf("headers without a limit: %q", headers(a.header))
	}
	if a := r.do("PATCH", "/chats/demo/settings", `{"limits":{"tokensPerMinute":5000,"requestsPerMinute":1000}}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	_, key := r.limited(`{"requestsPerMinute":100,"tokensPerMinute":1000000}`)
	reserved := (len(hello)+3)/4 + 1000
	for _, tt := range []struct{ name, path, body, want string }{
		{"stream", completions, hello, "100 99 5000 " + strconv.Itoa(5000-reserved)},
		{"whole", "/v1/chat/completions", helloV1, "100 98 5000 4940"}, // 30 tokens each
		{"refused by a check", "/v1/chat/completions", "{}", "   "},    // before anybody pays
		{"responses", "/v1/responses", `{"model":"demo/m","input":"a"}`, "100 97 5000 4910"},
	} {
		a := r.do("POST", tt.path, tt.body, "Authorization", key)
		got, want := strings.Fields(headers(a.header)), strings.Fields(tt.want)
		// Limits drain while the test runs: 83 tokens a second here.
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
			continue
		}
		for i := range got {
			if number(got[i]) < number(want[i]) || i%2 == 0 && got[i] != want[i] || number(got[i]) > number(got[i/2*2]) {
				t.Errorf("%s: %v, want %v or some more left", tt.name, got, want)
			}
		}
	}
}

// TestLimitsAreShared has tenant tokens share the limits of their key.
func TestLimitsAreShared(t *testing.T) {
	r := newRig(t, wish{upstream: counting()})
	uid, key := r.limited(`{"requestsPerMinute":2}`)
	token := func(n int) string {
		signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"apiKeyUid": uid, "searchRules": []string{"*"}, "n": n}).SignedString([]byte(strings.TrimPrefix(key, "Bearer ")))
		check(t, err)
		return "Bearer " + signed
	}
	for n, want := range []int{200, 200, 429, 429} {
		if a := r.do("POST", completions, hello, "Authorization", token(n)); a.status != want {
			t.Errorf("token %d: %d %s, want %d", n, a.status, a.body, want)
		}
	}
	if a := r.do("POST", completions, hello); a.status != 200 {
		t.Errorf("the master key has no limits: %d %s", a.status, a.body)
	}
}

// TestLimitsOfKeys sets, changes and takes away the limits of a key.
func TestLimitsOfKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{upstream: counting()})
	uid, key := r.limited(`null`)
	play := func(patch, want string) {
		t.Helper()
		if a := r.do("PATCH", "/keys/"+uid, patch); a.status != 200 || !strings.Contains(a.body, `"limits":`+want) {
			t.Errorf("PATCH %s = %d %s, want limits %s", patch, a.status, a.body, want)
		}
		if a := r.do("GET", "/keys/"+uid, ""); !strings.Contains(a.body, `"limits":`+want) {
			t.Errorf("GET after %s = %s", patch, a.body)
		}
	}
	play(`{"name":"n"}`, `null`)
	play(`{"limits":{"parallel":2}}`, `{"requestsPerMinute":null,"tokensPerMinute":null,"parallel":2,"tokens":null}`)
	play(`{"limits":{"requestsPerMinute":1}}`, `{"requestsPerMinute":1,"tokensPerMinute":null,"parallel":2,"tokens":null}`)
	play(`{"name":null}`, `{"requestsPerMinute":1,`)
	for _, want := range []int{200, 429} {
		if a := r.do("POST", completions, hello, "Authorization", key); a.status != want {
			t.Errorf("%d %s, want %d", a.status, a.body, want)
		}
	}
	play(`{"limits":null}`, `null`)
	if a := r.do("POST", completions, hello, "Authorization", key); a.status != 200 {
		t.Errorf("without limits: %d %s", a.status, a.body)
	}
	if a := r.do("PATCH", "/keys/"+uid, `{"limits":{"parallel":"2"}}`); a.status != 400 || !strings.Contains(a.body, "invalid_api_key_limits") {
		t.Errorf("PATCH = %d %s", a.status, a.body)
	}
}

// TestEachRoundCounts has an answer search: it makes two requests of its provider.
func TestEachRoundCounts(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{
		{Batches: [][]string{{"tool:0:c1:searchInIndex", `args:0:{"q":"a"}`, "finish:tool_calls", "usage:5,5"}}},
		{Batches: [][]string{{"text:Found", "finish:stop"}}}, // its tokens are not counted
	}}
	r := newRig(t, wish{upstream: up, indexes: []chat.Index{{UID: "books"}}})
	uid, key := r.limited(`{"requestsPerMinute":60}`)
	if a := r.do("POST", completions, hello, "Authorization", key); a.status != 200 || !strings.Contains(a.body, "Found") {
		t.Fatalf("answer = %d %s", a.status, a.body)
	}
	got := r.usage(t, key, uid)
	// What the second round took is estimated: its bytes, and what it may have said.
	if got.Requests != 2 || got.PromptTokens < 20 || got.CompletionTokens < 900 || got.CompletionTokens > 1010 {
		t.Errorf("usage = %+v, want two requests", got)
	}
}

// TestBudgetHolds has answers ask for more than a budget has: by how long they may be, by
// rounds without an end, and of a provider that counts nothing.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	search := chattest.Script{Batches: [][]string{{"tool:0:c1:searchInIndex", `args:0:{"q":"a"}`, "finish:tool_calls", "usage:1000,1000"}}}
	uncounted := chattest.Script{Batches: [][]string{{"text:" + strings.Repeat("word ", 400), "finish:stop", "usage:0,0"}}}
	for _, tt := range []struct {
		name, body  string
		script      chattest.Script
		budget      int64
		asked, most int64 // requests to the provider, tokens spent
		want        string
	}{
		{"a long answer", `,"max_tokens":30000`, search, 20000, 0, 0, "status 429"},
		{"the longer of two", `,"max_completion_tokens":1,"max_tokens":30000`, search, 20000, 0, 0, "status 429"},
		{"in another form", `,"max_tokens":3e4`, search, 20000, 0, 0, "status 429"},
		{"in a string", `,"max_tokens":"30000"`, search, 20000, 0, 0, "status 429"},
		{"rounds", "", search, 10000, 5, 10000, `"code":"token_budget_spent"`},
		{"not counted", "", uncounted, 1500, 1, 1500, ""},
	} {
		r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{tt.script}}, indexes: []chat.Index{{UID: "books"}}})
		uid, key := r.limited(`{"tokens":{"amount":` + strconv.FormatInt(tt.budget, 10) + `,"period":"total"}}`)
		ask := func() string {
			a := r.do("POST", completions, strings.Replace(hello, `"m"`, `"m"`+tt.body, 1), "Authorization", key)
			return "status " + strconv.Itoa(a.status) + " " + a.body
		}
		if got := ask(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		used := r.usage(t, key, uid)
		if spent := used.PromptTokens + used.CompletionTokens; used.Requests != tt.asked || spent > tt.most {
			t.Errorf("%s: %d requests and %d tokens of a budget of %d, want %d requests and at most %d tokens", tt.name, used.Requests, spent, tt.budget, tt.asked, tt.most)
		}
		if tt.name == "not counted" && used.CompletionTokens != 500 {
			t.Errorf("%s: %d tokens of 2,000 bytes, want 500", tt.name, used.CompletionTokens)
		}
	}
}

type usedBody struct {
	Requests, PromptTokens, CompletionTokens, Refused int64
}

// usage returns what GET /usage says of the period that is now.
func (r *rig) usage(t *testing.T, key, uid string) usedBody {
	t.Helper()
	a := r.do("GET", "/usage", "", "Authorization", key)
	var b struct {
		Keys, Workspaces []struct {
			UID     string
			Current usedBody
		}
	}
	if err := json.Unmarshal([]byte(a.body), &b); err != nil || a.status != 200 {
		t.Fatalf("GET /usage = %d %s", a.status, a.body)
	}
	for _, u := range append(b.Keys, b.Workspaces...) {
		if u.UID == uid {
			return u.Current
		}
	}
	t.Fatalf("GET /usage has no %s: %s", uid, a.body)
	return usedBody{}
}

// TestUsage counts by key and by workspace, and forgets what is deleted.
func TestUsage(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{upstream: counting()})
	uid, key := r.limited(`{"requestsPerMinute":2}`)
	for range 3 {
		r.do("POST", "/v1/chat/completions", helloV1, "Authorization", key)
	}
	r.do("POST", completions, hello) // by the master key
	if got := r.usage(t, key, uid); got != (usedBody{2, 20, 40, 1}) {
		t.Errorf("usage of the key = %+v", got)
	}
	if got := r.usage(t, key, "demo"); got != (usedBody{3, 30, 60, 0}) /* the key was refused before its body said which workspace it asks */ {
		t.Errorf("usage of the workspace = %+v", got)
	}
	a := r.do("GET", "/usage", "")
	for _, want := range []string{`"period":"day"`, `"previous":{"startedAt":"`, `"uid":"orphan"`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("usage = %s, want %s", a.body, want)
		}
	}
	if a := r.do("GET", "/usage", "", "Authorization", "Bearer "+r.key([]string{"search"}, []string{"*"})); a.status != 403 {
		t.Errorf("usage for a key without stats.get: %d", a.status)
	}
	check(t, func() error { _, _, err := r.chat.Patch(t.Context(), "other", []byte(`{"source":"test"}`)); return err }())
	for _, bound := range []struct {
		draft      auth.Draft
		workspaces []string
	}{
		{auth.Draft{Indexes: []string{"films"}}, nil},
		{auth.Draft{Indexes: []string{"films"}, Workspaces: []string{"demo"}}, []string{"demo"}},
		{auth.Draft{Indexes: []string{"*"}, Workspaces: []string{"de*"}}, []string{"demo"}},
	} {
		bound.draft.Actions = []string{"stats.get"}
		k, err := r.keys.Create(t.Context(), auth.Everyone(), bound.draft)
		check(t, err)
		var got struct{ Keys, Workspaces []struct{ UID string } }
		a := r.do("GET", "/usage", "", "Authorization", "Bearer "+r.keys.Value(&k))
		check(t, json.Unmarshal([]byte(a.body), &got))
		uids := func(list []struct{ UID string }) (all []string) {
			for _, u := range list {
				all = append(all, u.UID)
			}
			return all
		}
		if keys, workspaces := uids(got.Keys), uids(got.Workspaces); !slices.Equal(keys, []string{k.UID}) || !slices.Equal(workspaces, bound.workspaces) {
			t.Errorf("usage for a key of indexes %v, workspaces %v = keys %v, workspaces %v; want itself and %v", bound.draft.Indexes, bound.draft.Workspaces, keys, workspaces, bound.workspaces)
		}
	}
	r.do("DELETE", "/chats/demo", "")
	check(t, func() error { _, _, err := r.chat.Patch(t.Context(), "demo", []byte(`{"source":"test"}`)); return err }())
	if got := r.usage(t, key, "demo"); got != (usedBody{}) {
		t.Errorf("usage of a workspace that was deleted and made again = %+v", got)
	}
	r.do("DELETE", "/keys/"+uid, "")
	if a := r.do("GET", "/usage", ""); strings.Contains(a.body, uid) {
		t.Errorf("usage has a deleted key: %s", a.body)
	}
}

// A tenant token may have limits of its own, and a key or workspace those of each
// client.
func TestLimitsOfTenants(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{upstream: counting()})
	uid, value := r.limited(`{"requestsPerMinute":100}`)
	bearer := func(limits any) []string {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"apiKeyUid": uid, "searchRules": []string{"*"}, "limits": limits}).
			SignedString([]byte(strings.TrimPrefix(value, "Bearer ")))
		check(t, err)
		return []string{"Authorization", "Bearer " + token}
	}
	narrow := bearer(map[string]any{"requestsPerMinute": 1})
	wide := bearer(nil)
	if a := r.do("POST", completions, hello, narrow...); a.status != 200 || a.header.Get("X-Ratelimit-Limit-Requests") != "1" {
		t.Fatalf("first = %d %v %s", a.status, a.header, a.body)
	}
	if a := r.do("POST", completions, hello, narrow...); a.status != 429 || !strings.Contains(a.body, "this tenant token is 1 requests") {
		t.Errorf("second = %d %s", a.status, a.body)
	}
	if a := r.do("POST", completions, hello, wide...); a.status != 200 {
		t.Errorf("another token = %d %s", a.status, a.body)
	}
	if a := r.do("PATCH", "/chats/demo/settings", `{"limits":{"requestsPerMinute":1,"perClient":true}}`); a.status != 200 || !strings.Contains(a.body, `"perClient":true`) {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	for _, who := range [][]string{wide, bearer(map[string]any{"parallel": 5}), {"Authorization", value}} {
		if a := r.do("POST", completions, hello, who...); a.status != 200 {
			t.Errorf("first of a client = %d %s", a.status, a.body)
		}
		if a := r.do("POST", completions, hello, who...); a.status != 429 || !strings.Contains(a.body, "each client of the workspace") {
			t.Errorf("second of a client = %d %s", a.status, a.body)
		}
	}
}

// TestCountSearch has searches count as requests of keys that say so.
func TestCountSearch(t *testing.T) {
	t.Parallel()
	r := newShelves(t)
	_, counted := r.limited(`{"requestsPerMinute":3,"countSearch":true}`)
	_, free := r.limited(`{"requestsPerMinute":3}`)
	ask := func(key string, path, body string) answer {
		method := "POST"
		if body == "" {
			method = "GET"
		}
		return r.do(method, path, body, "Authorization", key)
	}
	for range 5 {
		if a := ask(free, "/indexes/movies/search", `{}`); a.status != 200 || a.header.Get("X-Ratelimit-Limit-Requests") != "" {
			t.Fatalf("search of a key that does not count = %d %v", a.status, a.header)
		}
	}
	for _, tt := range [][2]string{{"/indexes/movies/search", `{}`}, {"/indexes/movies/search?q=a", ""}, {"/multi-search", `{"queries":[{"indexUid":"movies"}]}`}} {
		if a := ask(counted, tt[0], tt[1]); a.status != 200 || a.header.Get("X-Ratelimit-Limit-Requests") != "3" {
			t.Errorf("%s = %d %v %s", tt[0], a.status, a.header, a.body)
		}
	}
	for path, body := range map[string]string{"/indexes/movies/search": `{}`, "/multi-search": `{"queries":[{"indexUid":"movies"}]}`} {
		if a := ask(counted, path, body); a.status != 429 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "too_many_requests") {
			t.Errorf("a fourth search, %s = %d %s", path, a.status, a.body)
		}
	}
	if a := ask(counted, "/mcp", searchMCP); a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("search by MCP = %d %s", a.status, a.body)
	}
	if a := ask(free, "/mcp", searchMCP); a.status != 200 {
		t.Errorf("search by MCP of a key that does not count = %d %s", a.status, a.body)
	}
}

// TestCountSearches: a request counts as as many searches as it makes, by whatever route.
func TestCountSearches(t *testing.T) {
	t.Parallel()
	r := newShelves(t)
	tool := func(call string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + call + `}}`
	}
	indexes := len(strings.Split(strings.Trim(r.do("GET", "/indexes", "").body, "}"), `"uid"`)) - 1
	for _, tt := range []struct {
		path, body string
		counts     int
	}{
		{"/indexes/movies/search", `{}`, 1},
		{"/multi-search", `{"queries":[]}`, 1},
		{"/multi-search", `{"queries":[{"indexUid":"movies"},{"indexUid":"books"},{"indexUid":"movies"}]}`, 3},
		{"/multi-search", `{"federation":{},"queries":[{"indexUid":"movies"},{"indexUid":"books"}]}`, 2},
		{"/indexes/movies/facet-search", `{"facetName":"genre"}`, 1},
		{"/indexes/movies/similar", `{"id":1,"embedder":"none"}`, 1},
		{"/indexes/movies/similar?id=1&embedder=none", "", 1},
		{"/mcp", tool(`"name":"search","arguments":{"query":"b","index":"movies"}`), 1},
		{"/mcp", tool(`"name":"search","arguments":{"query":"b"}`), indexes},
		{"/mcp", tool(`"name":"fetch","arguments":{"id":"movies/1"}`), 1},
		{"/mcp", tool(`"name":"facet_values","arguments":{"index":"movies","attribute":"genre"}`), 1},
		{"/mcp", tool(`"name":"list_indexes"`), 0},
	} {
		_, key := r.limited(`{"requestsPerMinute":100,"countSearch":true}`)
		method := "POST"
		if tt.body == "" {
			method = "GET"
		}
		r.do(method, tt.path, tt.body, "Authorization", key)
		left := r.do("POST", "/indexes/movies/search", `{}`, "Authorization", key).header.Get("X-Ratelimit-Remaining-Requests")
		if want := strconv.Itoa(100 - tt.counts - 1); left != want {
			t.Errorf("%s %s leaves %s requests to the search behind it, want %s", tt.path, tt.body, left, want)
		}
	}
}

// number is a header's number, -1 where it is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
