package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/task"
)

// remoteTimeout is what a remote of a rig has: long for those that answer.
const remoteTimeout = time.Minute

// newNetwork starts two hosts with books; here knows the other as "there", and
// what is down or worse by other names.
func newNetwork(t *testing.T) (here, there *rig) {
	fill := func(r *rig, docs string) {
		for _, a := range []answer{
			r.do("PATCH", "/indexes/books/settings", `{"searchableAttributes":["title"],"filterableAttributes":["genre","year"],"sortableAttributes":["year"]}`),
			r.do("POST", "/indexes/books/documents", docs),
		} {
			if got := r.task(a); got.Status != task.Succeeded {
				t.Fatalf("task = %+v", got)
			}
		}
	}
	// The other host goes first at the end, and takes its connections with it.
	remotes := map[string]any{"here": remote{URL: "http://127.0.0.1:1"}}
	here = newRig(t, wish{reaches: true})
	fill(here, `[{"id":1,"title":"Sea of words","genre":"novel","year":1999},{"id":9,"title":"Hills","genre":"verse","year":2010}]`)
	odd := func(h http.HandlerFunc) remote {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close") // none is to be left at the end
			h(w, r)
		}))
		t.Cleanup(srv.Close)
		return remote{URL: srv.URL}
	}
	said := func(status int, body string) remote {
		return odd(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, body) })
	}
	remotes["down"] = remote{URL: "http://127.0.0.1:1"}
	remotes["html"] = said(http.StatusOK, "<html>secret</html>")
	remotes["broken"] = said(http.StatusInternalServerError, `{"code":"internal","message":"secret"}`)
	remotes["odd"] = said(http.StatusOK, `{"hits":[{"id":1,"_federation":{"indexUid":"books","queriesPosition":7,"weightedRankingScore":1}}]}`)
	remotes["moved"] = odd(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	there = newRig(t, wish{})
	fill(there, `[{"id":1,"title":"Sea","genre":"novel","year":2001},{"id":2,"title":"The sea wolf","genre":"Novel","year":1904},{"id":3,"title":"Secret sea","genre":"secret","year":2020}]`)
	remotes["there"] = remote{there.url, there.key([]string{"search"}, []string{"*"})}
	remotes["denied"] = remote{there.url, "a wrong key"}
	body, err := json.Marshal(map[string]any{"self": "here", "remotes": remotes})
	check(t, err)
	here.play(t, []scenario{
		{name: "feature off", method: "POST", path: "/multi-search", body: `{"federation":{},"queries":[{"indexUid":"books","federationOptions":{"remote":"there"}}]}`, status: 400, code: "feature_not_enabled", contains: []string{"queries[0]", "network"}},
		{name: "switch on", method: "PATCH", path: "/experimental-features", body: `{"network":true}`, status: 200},
		{name: "network", method: "PATCH", path: "/network", body: string(body), status: 200},
	})
	return here, there
}

// A remote is one in the body of PATCH /network.
type remote struct {
	URL string `json:"url"`
	Key string `json:"searchApiKey,omitempty"`
}

func TestRemotes(t *testing.T) {
	t.Parallel()
	r, _ := newNetwork(t)
	both := func(federation, query string) string {
		return `{"federation":{` + federation + `},"queries":[{"indexUid":"books",` + query + `},{"indexUid":"books",` + query + `,"federationOptions":{"remote":"there"}}]}`
	}
	post := func(name, body string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 200, contains: contains, excludes: []string{`"remoteErrors":{"`, `"order"`}}
	}
	r.play(t, []scenario{
		post("by words", both("", `"q":"sea","attributesToRetrieve":["title"],"showRankingScore":true`),
			`{"hits":[{"title":"Sea","_rankingScore":`, `"_federation":{"indexUid":"books","queriesPosition":1,"weightedRankingScore":`, `,"remote":"there"}},{"title":"Sea of words",`, `,"remote":"here"}},{`, `"estimatedTotalHits":4`, `"remoteErrors":{}`),
		post("sorted", both(`"limit":3`, `"sort":["year:desc"],"attributesToRetrieve":["year"]`), `{"hits":[{"year":2020,`, `},{"year":2010,`, `},{"year":2001,`, `"limit":3,"offset":0,"estimatedTotalHits":5,"remoteErrors":{}}`),
		post("a page", both(`"limit":1,"offset":3`, `"sort":["year:desc"],"attributesToRetrieve":["year"]`), `{"hits":[{"year":1999,`),
		post("distinct", both(`"distinct":"genre"`, `"sort":["year:desc"],"attributesToRetrieve":["genre"]`), `{"hits":[{"genre":"secret",`, `},{"genre":"verse",`, `},{"genre":"novel",`),
		post("facets", both(`"limit":0,"facetsByIndex":{"books":["genre","year"]}`, `"filter":"year < 2015"`),
			`"facetsByIndex":{"books":{"distribution":{"genre":{"novel":3,"verse":1},"year":{"1904":1,"1999":1,"2001":1,"2010":1}},"stats":{"year":{"min":1904,"max":2010}}}}`),
		post("merged facets", both(`"limit":0,"mergeFacets":{"maxValuesPerFacet":1},"facetsByIndex":{"books":["genre"]}`, `"q":""`), `"facetDistribution":{"genre":{"novel":3}}`),
		post("weight and position", `{"federation":{},"queries":[{"indexUid":"books","q":"sea","federationOptions":{"remote":"there","weight":0.5,"queryPosition":4}},{"indexUid":"books","q":"sea","federationOptions":{"remote":"here"}}]}`,
			`{"hits":[{"id":1,"title":"Sea of words"`, `"remote":"here"}},{`, `"queriesPosition":4,`),
		post("this host alone, by name", `{"federation":{},"queries":[{"indexUid":"books","q":"sea","federationOptions":{"remote":"here"}}]}`, `{"hits":[{"id":1,"title":"Sea of words"`, `"remote":"here"}}]`),
		{name: "this host alone", method: "POST", path: "/multi-search", body: `{"federation":{},"queries":[{"indexUid":"books","q":"sea"}]}`, status: 200, contains: []string{`{"hits":[{"id":1,`}, excludes: []string{`"remote"`}},
		{name: "forget the name", method: "PATCH", path: "/network", body: `{"self":null}`, status: 200},
		post("without a name", both("", `"q":"sea"`), `"weightedRankingScore":`, `"remote":"there"}},`, `"title":"Sea of words"`),
		{name: "name it again", method: "PATCH", path: "/network", body: `{"self":"here"}`, status: 200},
	})
	bad := func(name, body, code string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 400, code: code, contains: contains}
	}
	r.play(t, []scenario{
		bad("unknown remote", `{"federation":{},"queries":[{"indexUid":"books"},{"indexUid":"books","federationOptions":{"remote":"nowhere"}}]}`, "invalid_multi_search_remote", "queries[1]", "nowhere"),
		bad("remote's type", `{"federation":{},"queries":[{"indexUid":"books","federationOptions":{"remote":1}}]}`, "invalid_multi_search_remote"),
		bad("filter", `{"federation":{},"queries":[{"indexUid":"books","filter":"genre =","federationOptions":{"remote":"there"}}]}`, "invalid_search_filter", "queries[0]"),
	})
}

// TestRemoteFacets wants values to be counted over all hosts, those that a host
// by itself would not show included, and then to be shown as this host's
// settings say, or else the remote's.
func TestRemoteFacets(t *testing.T) {
	t.Parallel()
	here, there := newNetwork(t)
	fill := func(r *rig, uid, sort string, most int, genres ...string) {
		var docs []string
		for i, genre := range genres {
			docs = append(docs, fmt.Sprintf(`{"id":%d,"genre":%q}`, i, genre))
		}
		for _, a := range []answer{
			r.do("PATCH", "/indexes/"+uid+"/settings", `{"filterableAttributes":["genre"],"faceting":{"maxValuesPerFacet":`+strconv.Itoa(most)+`,"sortFacetValuesBy":{"*":"`+sort+`"}}}`),
			r.do("POST", "/indexes/"+uid+"/documents", "["+strings.Join(docs, ",")+"]"),
		} {
			if got := r.task(a); got.Status != task.Succeeded {
				t.Fatalf("task = %+v", got)
			}
		}
	}
	fill(here, "counted", "count", 2, "d", "d", "c")
	fill(there, "counted", "alpha", 2, "a", "a", "a", "b", "b", "b", "D", "d ")
	fill(there, "afar", "count", 2, "x", "y", "y", "z", "z", "z")
	fill(here, "quiet", "count", 0, "q")
	fill(there, "silent", "count", 0, "s")
	ask := func(merge string) string {
		return `{"federation":{"limit":0,` + merge + `"facetsByIndex":{"counted":["genre"],"afar":["genre"],"quiet":["genre"],"silent":["genre"]}},"queries":[
			{"indexUid":"counted"},{"indexUid":"quiet"},{"indexUid":"counted","federationOptions":{"remote":"there"}},
			{"indexUid":"afar","federationOptions":{"remote":"there"}},{"indexUid":"silent","federationOptions":{"remote":"there"}}]}`
	}
	here.play(t, []scenario{
		{
			name: "by index", method: "POST", path: "/multi-search", body: ask(""), status: 200, excludes: []string{"order", "shown"},
			contains: []string{`"afar":{"distribution":{"genre":{"z":3,"y":2}}`, `"counted":{"distribution":{"genre":{"d":4,"b":3}}`, `"quiet":{"distribution":{"genre":{}}`, `"silent":{"distribution":{"genre":{}}`},
		},
		{
			name: "merged", method: "POST", path: "/multi-search", body: ask(`"mergeFacets":{"maxValuesPerFacet":5},`), status: 200,
			contains: []string{`"facetDistribution":{"genre":{"d":4,"z":3,"b":3,"a":3,"y":2}}`},
		},
		{
			name: "merged, none shown", method: "POST", path: "/multi-search", body: ask(`"mergeFacets":{"maxValuesPerFacet":0},`), status: 200,
			contains: []string{`"facetDistribution":{"genre":{}}`},
		},
	})
}

// A remote that fails is told of, and the others' hits are there all the same.
func TestRemotesThatFail(t *testing.T) {
	t.Parallel()
	r, _ := newNetwork(t)
	for name, want := range map[string]struct{ code, says string }{
		"denied": {"remote_invalid_api_key", "403, invalid_api_key"},
		"down":   {"remote_could_not_send_request", "was not reached; the host's log has the cause"},
		"html":   {"remote_bad_response", "not JSON"},
		"broken": {"remote_remote_error", "500, internal"},
		"odd":    {"remote_bad_response", "hit 0"},
		"moved":  {"remote_could_not_send_request", "redirect"},
	} {
		a := r.do("POST", "/multi-search", `{"federation":{},"queries":[{"indexUid":"books","q":"sea"},{"indexUid":"books","q":"sea","federationOptions":{"remote":"`+name+`"}}]}`)
		var got struct {
			Hits         []json.RawMessage
			RemoteErrors map[string]struct{ Code, Message, Type, Link string }
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		e := got.RemoteErrors[name]
		if len(got.Hits) != 1 || e.Code != want.code || !strings.Contains(e.Message, want.says) || !strings.Contains(e.Message, "`"+name+"`") || e.Link == "" {
			t.Errorf("%s: %d hits, %+v; want one and code %s with %q", name, len(got.Hits), e, want.code, want.says)
		}
		if strings.Contains(a.body, "secret") || strings.Contains(a.body, "a wrong key") {
			t.Errorf("%s: %s shows what it should not", name, a.body)
		}
	}
	a := r.do("POST", "/multi-search", `{"federation":{},"queries":[{"indexUid":"nope","federationOptions":{"remote":"there"}}]}`)
	if !strings.Contains(a.body, `"remote_bad_request"`) || !strings.Contains(a.body, "404, index_not_found") {
		t.Errorf("an index that is not there: %d %s", a.status, a.body)
	}
}

// A remote that says nothing is not waited for longer than the limit.
func TestRemoteTimeout(t *testing.T) {
	r := newRig(t, wish{reaches: true, patience: 50 * time.Millisecond})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // who has not read it all is not told that the client left
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	r.play(t, []scenario{
		{name: "switch on", method: "PATCH", path: "/experimental-features", body: `{"network":true}`, status: 200},
		{name: "network", method: "PATCH", path: "/network", body: `{"self":"here","remotes":{"silent":{"url":"` + silent.URL + `"}}}`, status: 200},
		{
			name: "search", method: "POST", path: "/multi-search", body: `{"federation":{},"queries":[{"indexUid":"books","federationOptions":{"remote":"silent"}}]}`,
			status: 200, contains: []string{`{"hits":[]`, `"remoteErrors":{"silent":{"message":"Remote `, "did not answer within 50ms", `"code":"remote_timeout","type":"system"`},
		},
	})
}

// What a caller may not see here, it may not see there.
func TestRemotesObeyRights(t *testing.T) {
	t.Parallel()
	r, _ := newNetwork(t)
	query := `{"federation":{"facetsByIndex":{"books":["genre"]}},"queries":[{"indexUid":"books","filter":["year > 0"],"federationOptions":{"remote":"there"}}]}`
	narrow := []string{"Authorization", "Bearer " + r.key([]string{"search"}, []string{"films"})}
	for _, rule := range []any{"genre != secret", []any{"year > 1000", []any{"genre = novel", "genre = verse"}}} {
		token := []string{"Authorization", "Bearer " + r.tenant(t, map[string]any{"books": map[string]any{"filter": rule}})}
		r.play(t, []scenario{
			{name: "tenant", method: "POST", path: "/multi-search", header: token, body: query, status: 200, contains: []string{"The sea wolf", `"estimatedTotalHits":2`, `"genre":{"novel":2}`}, excludes: []string{"ecret"}},
		})
	}
	r.play(t, []scenario{
		{name: "key of another index", method: "POST", path: "/multi-search", header: narrow, body: query, status: 404, code: "index_not_found", contains: []string{"queries[0]"}},
	})
}
