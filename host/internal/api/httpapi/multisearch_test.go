package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/task"
)

// newShelves starts a server with movies and two books, of which one shares
// its id with a movie.
func newShelves(t *testing.T) *rig {
	r := newMovies(t)
	for _, a := range []answer{
		r.do("PATCH", "/indexes/movies/settings", `{"sortableAttributes":["year"]}`),
		r.do("PATCH", "/indexes/books/settings", `{"filterableAttributes":["genre","year"],"sortableAttributes":["year"]}`),
		r.do("PATCH", "/indexes/counted/settings", `{"filterableAttributes":["genre"],"faceting":{"sortFacetValuesBy":{"*":"count"}}}`),
		r.do("POST", "/indexes/books/documents", `[{"id":1,"title":"Alien worlds","genre":"science","year":2000},{"id":7,"title":"Heat and dust","genre":"Drama","year":1975}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	return r
}

func TestMultiSearch(t *testing.T) {
	t.Parallel()
	r := newShelves(t)
	post := func(name, body string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 200, contains: contains}
	}
	bad := func(name, body, code string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 400, code: code, contains: contains}
	}
	r.play(t, []scenario{
		post("none", `{"queries":[]}`, `{"results":[]}`),
		post("two", `{"queries":[{"indexUid":"movies","q":"alien","attributesToRetrieve":["title"]},{"indexUid":"books","filter":"genre = drama","limit":1}]}`,
			`{"results":[{"indexUid":"movies","hits":[{"title":"Alien"}],"query":"alien"`, `{"indexUid":"books","hits":[{"id":7,`, `"limit":1,"offset":0,"estimatedTotalHits":1}]}`),
		post("any word", `{"queries":[{"indexUid":"movies","q":"which alien heat","matchingStrategy":"any","attributesToRetrieve":["id"]}]}`, `"estimatedTotalHits":2`),
		bad("unknown strategy", `{"queries":[{"indexUid":"movies","q":"x","matchingStrategy":"one"}]}`, "invalid_search_matching_strategy", "queries[0]", "frequency or any"),
		bad("unknown field", `{"queries":[{"indexUid":"movies"},{"indexUid":"books","filters":"x"}]}`, "bad_request", "queries[1].filters", "did you mean"),
		bad("type of a parameter", `{"queries":[{"indexUid":"movies","q":1}]}`, "invalid_search_q", "queries[0].q"),
		bad("value of a parameter", `{"queries":[{"indexUid":"movies"},{"indexUid":"books","filter":"genre ="}]}`, "invalid_search_filter", "queries[1]"),
		bad("no queries", `{}`, "bad_request", "`queries` is missing"),
		bad("no queries to federate", `{"federation":{},"queries":null}`, "bad_request", "`queries` is missing"),
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
		bad("own facets", `{"federation":{},"queries":[{"indexUid":"movies","facets":["genre"]}]}`, "invalid_multi_search_query_facets", "queries[0]"),
		bad("own pages", `{"federation":{},"queries":[{"indexUid":"movies","hitsPerPage":1}]}`, "invalid_multi_search_query_pagination", "queries[0]"),
		bad("facets' type", `{"federation":{"facetsByIndex":["genre"]},"queries":[]}`, "invalid_multi_search_facets_by_index"),
		bad("facets that are none", `{"federation":{"facetsByIndex":{"movies":["title"]}},"queries":[{"indexUid":"movies"}]}`, "invalid_multi_search_facets", "federation.facetsByIndex.movies"),
		bad("facets that are none, of an index not asked", `{"federation":{"facetsByIndex":{"books":["title"]}},"queries":[{"indexUid":"movies"}]}`, "invalid_multi_search_facets", "federation.facetsByIndex.books"),
		{name: "facets of an absent index", method: "POST", path: "/multi-search", body: `{"federation":{"facetsByIndex":{"nope":["title"]}},"queries":[]}`, status: 404, code: "index_not_found", contains: []string{"federation.facetsByIndex.nope"}},
		bad("merge's type", `{"federation":{"mergeFacets":true},"queries":[]}`, "invalid_multi_search_merge_facets"),
		bad("merge's unknown", `{"federation":{"mergeFacets":{"values":1}},"queries":[]}`, "invalid_multi_search_merge_facets", "federation.mergeFacets.values"),
		bad("unknown of a query's part", `{"queries":[{"indexUid":"movies","hybrid":{"embedder":"x","ratio":1}}]}`, "invalid_search_hybrid_query", "queries[0].hybrid.ratio"),
		bad("values' type", `{"federation":{"mergeFacets":{"maxValuesPerFacet":"1"}},"queries":[]}`, "invalid_multi_search_max_values_per_facet"),
		bad("values below zero", `{"federation":{"mergeFacets":{"maxValuesPerFacet":-1}},"queries":[]}`, "invalid_multi_search_max_values_per_facet"),
		bad("distinct's type", `{"federation":{"distinct":1},"queries":[]}`, "invalid_search_distinct"),
		bad("distinct not filterable", `{"federation":{"distinct":"title"},"queries":[{"indexUid":"movies"}]}`, "invalid_search_distinct", "queries[0]", "title"),
		bad("own personalization", `{"federation":{},"queries":[{"indexUid":"movies","personalize":{"userContext":"x"}}]}`, "invalid_multi_search_query_personalization", "queries[0]"),
		bad("personalization", `{"federation":{"personalize":{"userContext":"x"}},"queries":[{"indexUid":"movies"}]}`, "feature_not_enabled", "federation.personalize"),
		bad("personalization, one by one", `{"queries":[{"indexUid":"movies"},{"indexUid":"movies","personalize":{"userContext":"x"}}]}`, "feature_not_enabled", "queries[1]"),
		bad("personalization of nobody", `{"federation":{"personalize":{}},"queries":[]}`, "invalid_search_personalize", "`federation.personalize.userContext` is missing"),
		bad("own performance", `{"federation":{},"queries":[{"indexUid":"movies","showPerformanceDetails":false}]}`, "invalid_multi_search_query_show_performance_details", "queries[0]"),
		bad("performance's type", `{"federation":{"showPerformanceDetails":1},"queries":[]}`, "invalid_search_show_performance_details"),
		bad("the network, which is off", `{"federation":{},"queries":[{"indexUid":"movies","useNetwork":false}]}`, "feature_not_enabled", "useNetwork"),
		bad("the network and a host of it", `{"federation":{},"queries":[{"indexUid":"movies","useNetwork":true,"federationOptions":{"remote":"a"}}]}`, "invalid_multi_search_federation_options", "useNetwork"),
		bad("distinct twice", `{"federation":{"distinct":"genre"},"queries":[{"indexUid":"movies"},{"indexUid":"movies","distinct":"genre"}]}`, "invalid_multi_search_distinct", "queries[1].distinct", "federation.distinct"),
		bad("orders apart", `{"federation":{},"queries":[{"indexUid":"movies","sort":["year:asc"]},{"indexUid":"movies","sort":["year:desc"]}]}`, "invalid_multi_search_query_ranking_rules", "queries[1]", "queries[0]", "descending"),
		bad("orders apart, one without words", `{"federation":{},"queries":[{"indexUid":"movies","q":"alien","sort":["year:asc"]},{"indexUid":"movies","sort":["year:asc"]}]}`, "invalid_multi_search_query_ranking_rules", "queries[1]", "queries[0]", "how well the words match"),
		bad("facet orders apart", `{"federation":{"mergeFacets":{},"facetsByIndex":{"movies":["genre"],"counted":["genre"]}},"queries":[]}`, "invalid_multi_search_facet_order", "federation.facetsByIndex.movies", "counted"),
		bad("federation's offset", `{"federation":{"offset":-1},"queries":[]}`, "invalid_search_offset"),
		bad("federation's limit", `{"federation":{"limit":-1},"queries":[]}`, "invalid_search_limit"),
	})
}

func TestFederatedSearch(t *testing.T) {
	t.Parallel()
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
			`{"hits":[{"id":1,"_federation":{"indexUid":"books"`, `"year":1979,"_rankingScore":1,`, `,"_federation":{"indexUid":"movies","queriesPosition":1,"weightedRankingScore":1}`),
		post("one document by two queries", `{"federation":{},"queries":[{"indexUid":"movies","q":"alein"},{"indexUid":"movies","q":"alien","federationOptions":{"queryPosition":5}}]}`,
			`{"hits":[{"id":1,`, `"_federation":{"indexUid":"movies","queriesPosition":5,"weightedRankingScore":1}`, `}}],"processingTimeMs"`),
		post("any word", `{"federation":{},"queries":[{"indexUid":"books","q":"which alien","matchingStrategy":"any","attributesToRetrieve":["id"]},{"indexUid":"movies","q":"which alien heat","matchingStrategy":"any","attributesToRetrieve":["title"]}]}`,
			`"hits":[{"id":1,"_federation":{"indexUid":"books"`, `{"title":"Alien","_federation"`, `"estimatedTotalHits":3}`),
		post("nothing looked for is last", `{"federation":{},"queries":[{"indexUid":"movies","attributesToRetrieve":["id"],"federationOptions":{"weight":9}},{"indexUid":"books","q":"alein","attributesToRetrieve":["id"]}]}`,
			`{"hits":[{"id":1,"_federation":{"indexUid":"books","queriesPosition":1,`, `{"id":1,"_federation":{"indexUid":"movies","queriesPosition":0,"weightedRankingScore":9}}`),
		post("page", `{"federation":{"offset":1,"limit":1},"queries":[{"indexUid":"books","q":"alein"},{"indexUid":"movies","q":"alien"}]}`,
			`{"hits":[{"id":1,"title":"Alien worlds"`, `"limit":1,"offset":1`),
		post("numbered page", `{"federation":{"page":2,"hitsPerPage":1},"queries":[{"indexUid":"books","q":"alein"},{"indexUid":"movies","q":"alien"}]}`,
			`{"hits":[{"id":1,"title":"Alien worlds"`, `"hitsPerPage":1,"page":2,"totalPages":2,"totalHits":2}`),
		post("page zero", `{"federation":{"page":0},"queries":[{"indexUid":"movies","q":"alien"}]}`, `{"hits":[],`, `"hitsPerPage":20,"page":0,"totalPages":1,"totalHits":1}`),
		{name: "page below zero", method: "POST", path: "/multi-search", body: `{"federation":{"page":-1},"queries":[]}`, status: 400, code: "invalid_search_page"},
		post("sorted", `{"federation":{},"queries":[{"indexUid":"movies","sort":["year:desc"],"attributesToRetrieve":["year"]},{"indexUid":"books","sort":["year:desc"],"attributesToRetrieve":["year"],"federationOptions":{"weight":5}}]}`,
			`[{"year":2016,`, `},{"year":2000,`, `},{"year":1995,`, `},{"year":1979,`, `},{"year":1975,`, `"estimatedTotalHits":5}`),
		// A document of two queries counts once.
		post("total", `{"federation":{},"queries":[{"indexUid":"movies","q":"alien"},{"indexUid":"movies","filter":"year < 2000"}]}`, `"estimatedTotalHits":2}`),
		post("distinct", `{"federation":{"distinct":"genre"},"queries":[{"indexUid":"movies","sort":["year:desc"],"attributesToRetrieve":["year"]},{"indexUid":"books","sort":["year:desc"],"attributesToRetrieve":["year"]}]}`,
			`{"hits":[{"year":2016,"_federation":`, `},{"year":2000,`, `},{"year":1995,`, `},{"year":1979,"_federation":{"indexUid":"movies","queriesPosition":0,"weightedRankingScore":1}}],`),
		post("facets by index", `{"federation":{"limit":0,"facetsByIndex":{"movies":["genre","year"],"books":["genre"],"counted":[]}},"queries":[{"indexUid":"movies","filter":"year > 1990"},{"indexUid":"movies","q":"alien"},{"indexUid":"books"}]}`,
			`{"hits":[],`, `"movies":{"distribution":{"genre":{"crime":1,"drama":1,"horror":1},"year":{"1979":1,"1995":1,"2016":1}},"stats":{"year":{"min":1979,"max":2016}}}`,
			`"books":{"distribution":{"genre":{"Drama":1,"science":1}},"stats":{}}`, `"counted":{"distribution":{},"stats":{}}`),
		post("facets merged", `{"federation":{"mergeFacets":{"maxValuesPerFacet":3},"facetsByIndex":{"movies":["genre","year"],"books":["genre","year"]}},"queries":[{"indexUid":"movies"},{"indexUid":"books"}]}`,
			`"facetDistribution":{"genre":{"crime":1,"drama":2,"horror":1},"year":{"1975":1,"1979":1,"1995":1}},"facetStats":{"year":{"min":1975,"max":2016}}}`),
		post("performance", `{"federation":{"showPerformanceDetails":true},"queries":[{"indexUid":"movies"}]}`,
			`"performanceDetails":{"search > execute local search":"`, `"search > merge results":"`, `"search":"`),
		post("performance, one by one", `{"queries":[{"indexUid":"movies"},{"indexUid":"movies","q":"alien","showPerformanceDetails":true}]}`,
			`"performanceDetails":{"wait in queue":"`, `"search > execute local search > evaluate query":"`, `"search > execute local search > keyword ranking":"`),
		post("null is no federation", `{"federation":null,"queries":[]}`, `{"results":[]}`),
	})
}

// Of hits that share a value of the federation's attribute, those behind the first count
// neither among all hits nor in facets, whether of one index or of several.
func TestFederatedDistinct(t *testing.T) {
	t.Parallel()
	r := newShelves(t)
	for _, a := range []answer{
		r.do("PATCH", "/indexes/tools/settings", `{"filterableAttributes":["genre","color"]}`),
		r.do("POST", "/indexes/tools/documents", `[{"id":1,"title":"hammer","genre":"iron","color":["red","grey"]},{"id":2,"title":"saw","genre":"iron","color":"blue"},{"id":3,"title":"hammers","genre":"wood","color":"blue"},{"id":4,"title":"saws","genre":"drama","color":"red"}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	post := func(name, body string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/multi-search", body: body, status: 200, contains: contains}
	}
	queries := `"queries":[{"indexUid":"tools","q":"hammer","attributesToRetrieve":["id"]},{"indexUid":"tools","q":"saw","attributesToRetrieve":["id"]}]}`
	r.play(t, []scenario{
		// The hammer and the saw are both of iron.
		post("one index", `{"federation":{"distinct":"genre","facetsByIndex":{"tools":["color"]}},`+queries,
			`{"hits":[{"id":1,`, `},{"id":3,`, `},{"id":4,`, `"estimatedTotalHits":3`, `"color":{"blue":1,"grey":1,"red":2}`),
		// Nothing beyond the hits that are shown is looked at.
		post("not looked at", `{"federation":{"limit":1,"distinct":"genre","facetsByIndex":{"tools":["color"]}},`+queries,
			`{"hits":[{"id":1,`, `"estimatedTotalHits":4`, `"color":{"blue":2,"grey":1,"red":2}`),
		post("two indexes", `{"federation":{"distinct":"genre","facetsByIndex":{"movies":["genre","year"],"books":["genre","year"]}},"queries":[{"indexUid":"movies","sort":["year:desc"]},{"indexUid":"books","sort":["year:desc"]}]}`,
			`"estimatedTotalHits":4`, `"movies":{"distribution":{"genre":{"crime":1,"drama":1,"horror":1},"year":{"1979":1,"1995":1,"2016":1}}`,
			`"books":{"distribution":{"genre":{"science":1},"year":{"2000":1}},"stats":{"year":{"min":1975,"max":2000}}}`),
		post("merged", `{"federation":{"page":1,"distinct":"genre","mergeFacets":{},"facetsByIndex":{"movies":["genre"],"books":["genre"]}},"queries":[{"indexUid":"movies"},{"indexUid":"books"}]}`,
			`"totalHits":4`, `"facetDistribution":{"genre":{"crime":1,"drama":1,"horror":1,"science":1}}`),
	})
	if got := r.task(r.do("PATCH", "/indexes/movies/settings", `{"faceting":{"maxValuesPerFacet":1}}`)); got.Status != task.Succeeded {
		t.Fatalf("task = %+v", got)
	}
	r.play(t, []scenario{
		post("merged of what each index shows", `{"federation":{"mergeFacets":{},"facetsByIndex":{"movies":["genre"],"books":["genre"]}},"queries":[{"indexUid":"movies"},{"indexUid":"books"}]}`,
			`"facetDistribution":{"genre":{"crime":1,"Drama":1,"science":1}}`),
	})
}

// Each query is under the caller's rights in its own index.
func TestMultiSearchRights(t *testing.T) {
	t.Parallel()
	r := newShelves(t)
	narrow := []string{"Authorization", "Bearer " + r.key([]string{"search"}, []string{"mov*"})}
	other := []string{"Authorization", "Bearer " + r.key([]string{"documents.get"}, []string{"*"})}
	both := `{"federation":{},"queries":[{"indexUid":"movies"},{"indexUid":"books"}]}`
	tenant := []string{"Authorization", "Bearer " + r.tenant(t, map[string]any{"movies": map[string]any{"filter": "genre != horror"}, "books": map[string]any{"filter": "genre = drama"}})}
	r.play(t, []scenario{
		{name: "own index", method: "POST", path: "/multi-search", header: narrow, body: `{"queries":[{"indexUid":"movies","q":"heat"}]}`, status: 200, contains: []string{"Heat"}},
		{name: "other index", method: "POST", path: "/multi-search", header: narrow, body: both, status: 404, code: "index_not_found", contains: []string{"queries[1]"}},
		{name: "no search", method: "POST", path: "/multi-search", header: other, body: both, status: http.StatusForbidden, code: "invalid_api_key"},
		{name: "tenant", method: "POST", path: "/multi-search", header: tenant, body: both, status: 200, contains: []string{"Arrival", "Heat", "Heat and dust", `"estimatedTotalHits":3`}, excludes: []string{"Alien"}},
		{name: "tenant, list of results", method: "POST", path: "/multi-search", header: tenant, body: `{"queries":[{"indexUid":"books","q":"alien"},{"indexUid":"movies","q":"alien"}]}`, status: 200, contains: []string{`"hits":[]`, `"estimatedTotalHits":0`}, excludes: []string{"Alien"}},
	})
}

// TestClientLeavesSearch: a search whose client leaves ends, whatever it is doing, and is no
// failure of the host.
func TestClientLeavesSearch(t *testing.T) {
	t.Parallel()
	asked, left := make(chan struct{}, 1), make(chan struct{}, 1)
	embedder := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		asked <- struct{}{}
		<-q.Context().Done()
		left <- struct{}{}
	}))
	t.Cleanup(embedder.Close)
	r := newRig(t, wish{reaches: true, limits: httpapi.Limits{Watch: 10 * time.Millisecond}})
	for _, a := range []answer{
		r.do("PATCH", "/indexes/films/settings", `{"embedders":{"e":{"source":"rest","url":"`+embedder.URL+`","dimensions":2,"request":{"input":"{{text}}"},"response":{"v":"{{embedding}}"}}}}`),
		r.do("POST", "/indexes/films/documents", `[{"id":1,"_vectors":{"e":[1,2]}}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	query := `"q":"alien","hybrid":{"embedder":"e","semanticRatio":1}}`
	multi := `"queries":[{"indexUid":"films",` + query + `,{"indexUid":"films",` + query + `]}`
	requests := [][2]string{{"/indexes/films/search", "{" + query}, {"/multi-search", "{" + multi}, {"/multi-search", `{"federation":{},` + multi}}
	for _, q := range requests {
		k := r.sendTo(t, q[0], q[1])
		waitFor(t, asked, "a search that asks the embedder")
		check(t, k.conn.Close())
		waitFor(t, left, "the end of "+q[0])
	}
	waittest.For(t, "the log has that each client left", func() bool { return strings.Count(r.log.String(), `"status":499`) == len(requests) })
	if log := r.log.String(); strings.Contains(log, "request failed") {
		t.Errorf("the log has a failure: %s", log)
	}
}

// tenant returns a tenant token of a key that may search everything.
func (r *rig) tenant(t *testing.T, rules map[string]any) string {
	t.Helper()
	k, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
	check(t, err)
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": rules}).SignedString([]byte(r.keys.Value(&k)))
	check(t, err)
	return token
}
