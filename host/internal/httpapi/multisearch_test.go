package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/task"
)

// newShelves starts a server with movies and two books, of which one shares
// its id with a movie.
func newShelves(t *testing.T) *rig {
	r := newMovies(t)
	for _, a := range []answer{
		r.do("PATCH", "/indexes/books/settings", `{"filterableAttributes":["genre"]}`),
		r.do("POST", "/indexes/books/documents", `[{"id":1,"title":"Alien worlds","genre":"science"},{"id":7,"title":"Heat and dust","genre":"novel"}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	return r
}

func TestMultiSearch(t *testing.T) {
	r := newShelves(t)
	post := func(name, body string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 200, contains: contains}
	}
	bad := func(name, body, code string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 400, code: code, contains: contains}
	}
	r.play(t, []scenario{
		post("none", `{"queries":[]}`, `{"results":[]}`),
		post("two", `{"queries":[{"indexUid":"movies","q":"alien","attributesToRetrieve":["title"]},{"indexUid":"books","filter":"genre = novel","limit":1}]}`,
			`{"results":[{"indexUid":"movies","hits":[{"title":"Alien"}],"query":"alien"`, `{"indexUid":"books","hits":[{"id":7,`, `"limit":1,"offset":0,"estimatedTotalHits":1}]}`),
		bad("unknown field", `{"queries":[{"indexUid":"movies"},{"indexUid":"books","filters":"x"}]}`, "bad_request", "queries[1].filters", "did you mean"),
		bad("type of a parameter", `{"queries":[{"indexUid":"movies","q":1}]}`, "invalid_search_q", "queries[0].q"),
		bad("value of a parameter", `{"queries":[{"indexUid":"movies"},{"indexUid":"books","filter":"genre ="}]}`, "invalid_search_filter", "queries[1]"),
		bad("no index", `{"queries":[{"q":"x"}]}`, "missing_index_uid", "queries[0].indexUid"),
		bad("bad index", `{"queries":[{"indexUid":"a b"}]}`, "invalid_index_uid", "queries[0]"),
		bad("index type", `{"queries":[{"indexUid":1}]}`, "invalid_index_uid"),
		{name: "absent index", method: "POST", path: "/multi-search", body: `{"queries":[{"indexUid":"movies"},{"indexUid":"nope"}]}`, status: 404, code: "index_not_found", contains: []string{"queries[1]", "nope"}},
		bad("options without federation", `{"queries":[{"indexUid":"movies","federationOptions":{"weight":2}}]}`, "invalid_multi_search_federation_options", "queries[0]"),
		bad("options' type", `{"federation":{},"queries":[{"indexUid":"movies","federationOptions":1}]}`, "invalid_multi_search_federation_options"),
		bad("federation's type", `{"federation":1,"queries":[]}`, "invalid_multi_search_federated"),
		bad("own page", `{"federation":{},"queries":[{"indexUid":"movies","limit":3}]}`, "invalid_multi_search_query_pagination", "queries[0]"),
		bad("own offset", `{"federation":{},"queries":[{"indexUid":"movies"},{"indexUid":"movies","offset":1}]}`, "invalid_multi_search_query_pagination", "queries[1]"),
		bad("weight below zero", `{"federation":{},"queries":[{"indexUid":"movies","federationOptions":{"weight":-1}}]}`, "invalid_multi_search_weight", "queries[0]"),
		bad("weight's type", `{"federation":{},"queries":[{"indexUid":"movies","federationOptions":{"weight":"1"}}]}`, "invalid_multi_search_weight"),
		bad("position below zero", `{"federation":{},"queries":[{"indexUid":"movies","federationOptions":{"queryPosition":-1}}]}`, "invalid_multi_search_query_position"),
		bad("federation's offset", `{"federation":{"offset":-1},"queries":[]}`, "invalid_search_offset"),
		bad("federation's limit", `{"federation":{"limit":-1},"queries":[]}`, "invalid_search_limit"),
	})
}

func TestFederatedSearch(t *testing.T) {
	r := newShelves(t)
	post := func(name, body string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 200, contains: contains}
	}
	r.play(t, []scenario{
		post("nothing", `{"federation":{},"queries":[]}`, `{"hits":[],"processingTimeMs":`, `"limit":20,"offset":0,"estimatedTotalHits":0}`),
		// An id that two indexes have is two documents.
		post("two indexes", `{"federation":{},"queries":[{"indexUid":"books","q":"alein","attributesToRetrieve":["id"]},{"indexUid":"movies","q":"alien","attributesToRetrieve":["id"]}]}`,
			`{"hits":[{"id":1,"_federation":{"indexUid":"movies","queriesPosition":1,"weightedRankingScore":`, `,{"id":1,"_federation":{"indexUid":"books","queriesPosition":0,`, `"estimatedTotalHits":2}`),
		post("weights", `{"federation":{},"queries":[{"indexUid":"books","q":"alien","attributesToRetrieve":["id"],"federationOptions":{"weight":2}},{"indexUid":"movies","q":"alien","showRankingScore":true}]}`,
			`{"hits":[{"id":1,"_federation":{"indexUid":"books"`, `"year":1979,"_rankingScore":0.`, `,"_federation":{"indexUid":"movies","queriesPosition":1,"weightedRankingScore":0.`),
		post("one document by two queries", `{"federation":{},"queries":[{"indexUid":"movies","q":"alein"},{"indexUid":"movies","q":"alien","federationOptions":{"queryPosition":5}}]}`,
			`{"hits":[{"id":1,`, `"_federation":{"indexUid":"movies","queriesPosition":5,"weightedRankingScore":0.`, `}}],"processingTimeMs"`),
		post("page", `{"federation":{"offset":1,"limit":1},"queries":[{"indexUid":"books","q":"alein"},{"indexUid":"movies","q":"alien"}]}`,
			`{"hits":[{"id":1,"title":"Alien worlds"`, `"limit":1,"offset":1`),
		post("null is no federation", `{"federation":null,"queries":[]}`, `{"results":[]}`),
	})
}

// Each query is under the caller's rights in its own index.
func TestMultiSearchRights(t *testing.T) {
	r := newShelves(t)
	narrow := []string{"Authorization", "Bearer " + r.key([]string{"search"}, []string{"mov*"})}
	other := []string{"Authorization", "Bearer " + r.key([]string{"documents.get"}, []string{"*"})}
	both := `{"federation":{},"queries":[{"indexUid":"movies"},{"indexUid":"books"}]}`
	tenant := []string{"Authorization", "Bearer " + r.tenant(t, map[string]any{"movies": map[string]any{"filter": "genre != horror"}, "books": map[string]any{"filter": "genre = novel"}})}
	r.play(t, []scenario{
		{name: "own index", method: "POST", path: "/multi-search", header: narrow, body: `{"queries":[{"indexUid":"movies","q":"heat"}]}`, status: 200, contains: []string{"Heat"}},
		{name: "other index", method: "POST", path: "/multi-search", header: narrow, body: both, status: 404, code: "index_not_found", contains: []string{"queries[1]"}},
		{name: "no search", method: "POST", path: "/multi-search", header: other, body: both, status: http.StatusForbidden, code: "invalid_api_key"},
		{name: "tenant", method: "POST", path: "/multi-search", header: tenant, body: both, status: 200, contains: []string{"Arrival", "Heat", "Heat and dust", `"estimatedTotalHits":3`}, excludes: []string{"Alien"}},
		{name: "tenant, list of results", method: "POST", path: "/multi-search", header: tenant, body: `{"queries":[{"indexUid":"books","q":"alien"},{"indexUid":"movies","q":"alien"}]}`, status: 200, contains: []string{`"hits":[]`, `"estimatedTotalHits":0`}, excludes: []string{"Alien"}},
	})
}

// tenant returns a tenant token of a key that may search everything.
func (r *rig) tenant(t *testing.T, rules map[string]any) string {
	t.Helper()
	k, err := r.keys.Create(t.Context(), auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	check(t, err)
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": rules}).SignedString([]byte(r.keys.Value(&k)))
	check(t, err)
	return token
}
