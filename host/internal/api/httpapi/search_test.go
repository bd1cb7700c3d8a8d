package httpapi_test

import (
	"net/url"
	"testing"

	"github.com/parley-search/parley/host/internal/task"
)

// newShop starts a server with a few goods that all parameters of a search have
// something to do with.
func newShop(t *testing.T) *rig {
	r := newRig(t, wish{})
	for _, a := range []answer{
		r.do("PATCH", "/indexes/shop/settings", `{"searchableAttributes":["name","kind","maker"],"filterableAttributes":["kind","price","maker"],"sortableAttributes":["price","_geo"],"displayedAttributes":["id","name","kind","price","_geo"]}`),
		r.do("POST", "/indexes/shop/documents", `[{"id":1,"name":"Green tea & honey","kind":"tea","price":4,"maker":"hidden inc","_geo":{"lat":0,"lng":1}},
			{"id":2,"name":"Black tea","kind":"tea","price":3,"maker":"hidden inc","_geo":{"lat":0,"lng":0}},{"id":3,"name":"Tea pot","kind":"pots & pans","price":20}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	return r
}

func TestSearchParameters(t *testing.T) {
	r := newShop(t)
	const path = "/indexes/shop/search"
	post := func(name, body string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: path, body: body, status: 200, contains: contains, excludes: []string{"hidden inc"}}
	}
	get := func(name, query string, contains ...string) scenario {
		return scenario{name: name, method: "GET", path: path + "?" + query, status: 200, contains: contains, excludes: []string{"hidden inc"}}
	}
	esc := url.QueryEscape
	r.play(t, []scenario{
		post("sort and place", `{"sort":["_geoPoint(0,0):asc","price:desc"],"attributesToRetrieve":["id"]}`,
			`{"hits":[{"id":2,"_geoDistance":0},{"id":1,"_geoDistance":111195},{"id":3}],"query":"","processingTimeMs":`, `"limit":20,"offset":0,"estimatedTotalHits":3}`),
		get("sort and place by URL", "attributesToRetrieve=id&sort="+esc("_geoPoint(0,0):asc, price:desc"), `{"hits":[{"id":2,"_geoDistance":0},{"id":1,`),
		post("page", `{"page":2,"hitsPerPage":2,"attributesToRetrieve":["id"]}`, `{"hits":[{"id":3}],"query":"",`, `"hitsPerPage":2,"page":2,"totalPages":2,"totalHits":3}`),
		get("page by URL", "page=1&hitsPerPage=1&attributesToRetrieve=id", `{"hits":[{"id":1}]`, `"hitsPerPage":1,"page":1,"totalPages":3,"totalHits":3}`),
		post("facets", `{"facets":["kind","price"],"limit":0}`, `"facetDistribution":{"kind":{"pots & pans":1,"tea":2},"price":{"20":1,"3":1,"4":1}},"facetStats":{"price":{"min":3,"max":20}}}`),
		get("all facets by URL", "facets=*&limit=0", `"facetDistribution":{"kind":{"pots & pans":1,"tea":2},"price":`),
		get("facets by URL", "facets=kind,price&q=pot&attributesToRetrieve=id", `"facetDistribution":{"kind":{"pots & pans":1},"price":{"20":1}}`),
		post("distinct", `{"distinct":"kind","attributesToRetrieve":["id"]}`, `{"hits":[{"id":1},{"id":3}]`, `"estimatedTotalHits":2`),
		get("distinct by URL", "distinct=kind&attributesToRetrieve=id", `{"hits":[{"id":1},{"id":3}]`),
		post("format", `{"q":"tea","attributesToSearchOn":["name"],"attributesToRetrieve":["name"],"attributesToHighlight":["*"],"attributesToCrop":["name:2"],"cropMarker":"~","highlightPreTag":"<b>","highlightPostTag":"</b>","limit":1}`,
			`{"name":"Green tea & honey","_formatted":{"id":"1","name":"Green <b>tea</b>~","kind":"<b>tea</b>","price":"4","_geo":{"lat":"0","lng":"1"}}}`),
		get("format by URL", "q=tea&attributesToSearchOn=name&attributesToRetrieve=name&attributesToHighlight=name&attributesToCrop=name&cropLength=1&cropMarker=~&highlightPreTag="+esc("<b>")+"&highlightPostTag="+esc("</b>")+"&limit=1",
			`{"name":"Green tea & honey","_formatted":{"name":"~<b>tea</b>~"}}`),
		post("matches", `{"q":"tea","attributesToSearchOn":["name"],"showMatchesPosition":true,"attributesToRetrieve":["name"],"limit":1}`, `{"name":"Green tea & honey","_matchesPosition":{"name":[{"start":6,"length":3}],"kind":[{"start":0,"length":3}]}}`),
		get("matches by URL", "q=tea&attributesToSearchOn=name&showMatchesPosition=true&attributesToRetrieve=name&limit=1", `"_matchesPosition":{"name":[{"start":6,"length":3}],"kind":[{"start":0,"length":3}]}`),
		post("scores", `{"q":"tea pot","showRankingScore":true,"showRankingScoreDetails":true,"limit":1}`, `"_rankingScore":`, `"_rankingScoreDetails":{"words":{"order":0,"matchingWords":2,"maxMatchingWords":2,"score":1}`),
		post("performance", `{"q":"tea pot","facets":["kind"],"showPerformanceDetails":true}`, `"performanceDetails":{"wait in queue":"`, `"search > execute local search > evaluate filter":"`, `"search > execute local search > facet distribution":"`, `"search > execute local search > format":"`, `"search":"`),
		get("performance by URL", "showPerformanceDetails=true", `"search > execute local search > placeholder ranking":"`),
		post("nothing of what is not asked", `{"personalize":null,"useNetwork":null,"showPerformanceDetails":null}`, `"estimatedTotalHits":`),
		get("scores by URL", "q=tea+pot&showRankingScoreDetails=true&limit=1", `"_rankingScoreDetails":{"words":{"order":0`),
		post("fields and languages", `{"q":"tea","attributesToSearchOn":["kind"],"locales":["eng"],"attributesToRetrieve":["id"]}`, `{"hits":[{"id":1},{"id":2}]`),
		get("fields and languages by URL", "q=tea&attributesToSearchOn=kind&locales=eng,de&attributesToRetrieve=id", `{"hits":[{"id":1},{"id":2}]`),
		get("filter in an array by URL", "attributesToRetrieve=id&filter="+esc(`["price > 3", ["kind = tea", "kind = x"]]`), `{"hits":[{"id":1}]`),
		get("filter in a text by URL", "attributesToRetrieve=id&filter="+esc(`price > 3 AND kind = tea`), `{"hits":[{"id":1}]`),
	})
}

// Each parameter has a code of its own, and each wrong value a sentence that
// names it.
func TestSearchParameterErrors(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	const path = "/indexes/shop/search"
	for _, tt := range []struct{ field, value, code, says string }{
		{"q", `[]`, "invalid_search_q", "`q` must be a string"},
		{"offset", `-1`, "invalid_search_offset", "offset is -1"},
		{"limit", `1.5`, "invalid_search_limit", "`limit`"},
		{"page", `-1`, "invalid_search_page", "page is -1"},
		{"page", `"1"`, "invalid_search_page", "`page` must be"},
		{"hitsPerPage", `-2`, "invalid_search_hits_per_page", "hitsPerPage is -2"},
		{"filter", `"price >"`, "invalid_search_filter", "column 8"},
		{"filter", `"_geo = 1"`, "invalid_search_filter", "reserved"},
		{"sort", `"price:asc"`, "invalid_search_sort", "`sort` must be"},
		{"sort", `["price:asc","maker:asc"]`, "invalid_search_sort", "sort[1] is `maker:asc`: attribute `maker` is not sortable; sortable here: _geo, price"},
		{"distinct", `["kind"]`, "invalid_search_distinct", "`distinct` must be"},
		{"distinct", `"name"`, "invalid_search_distinct", "filterable here: kind, maker, price"},
		{"facets", `"kind"`, "invalid_search_facets", "`facets` must be"},
		{"facets", `["kind","maker"]`, "invalid_search_facets", "facets[1] is `maker`"},
		{"attributesToRetrieve", `"id"`, "invalid_search_attributes_to_retrieve", "`attributesToRetrieve` must be"},
		{"attributesToHighlight", `"name"`, "invalid_search_attributes_to_highlight", "`attributesToHighlight` must be"},
		{"attributesToCrop", `[1]`, "invalid_search_attributes_to_crop", "`attributesToCrop[0]` must be"},
		{"attributesToCrop", `["name:many"]`, "invalid_search_attributes_to_crop", "attributesToCrop[0] is `name:many`"},
		{"cropLength", `-1`, "invalid_search_crop_length", "cropLength is -1"},
		{"cropMarker", `1`, "invalid_search_crop_marker", "`cropMarker` must be"},
		{"highlightPreTag", `1`, "invalid_search_highlight_pre_tag", "`highlightPreTag` must be"},
		{"highlightPostTag", `1`, "invalid_search_highlight_post_tag", "`highlightPostTag` must be"},
		{"showMatchesPosition", `1`, "invalid_search_show_matches_position", "`showMatchesPosition` must be"},
		{"showRankingScore", `"true"`, "invalid_search_show_ranking_score", "`showRankingScore` must be"},
		{"showRankingScoreDetails", `"true"`, "invalid_search_show_ranking_score_details", "`showRankingScoreDetails` must be"},
		{"matchingStrategy", `"most"`, "invalid_search_matching_strategy", "last, all, frequency or any"},
		{"rankingScoreThreshold", `2`, "invalid_search_ranking_score_threshold", "0 to 1"},
		{"attributesToSearchOn", `["nope"]`, "invalid_search_attributes_to_search_on", "attributesToSearchOn[0] is `nope`"},
		{"locales", `["klingon"]`, "invalid_search_locales", "locales[0] is `klingon`"},
		{"personalize", `{"userContext":"a cook"}`, "feature_not_enabled", "`personalize` needs a feature that this host does not have"},
		{"personalize", `{}`, "invalid_search_personalize", "`personalize.userContext` is missing"},
		{"personalize", `{"user":"x"}`, "invalid_search_personalize", "personalize.user"},
		{"hybrid", `{"ratio":1}`, "invalid_search_hybrid_query", "hybrid.ratio"},
		{"useNetwork", `false`, "feature_not_enabled", "network"},
		{"filter", `"_geoBoundingBox([1, 2], [3, 4])"`, "invalid_search_filter", "The top latitude 1 of the condition at column 1 is below the bottom one 3"},
		{"sorted", `[]`, "bad_request", "did you mean `sort`"},
	} {
		r.play(t, []scenario{{name: tt.field + " " + tt.value, method: "POST", path: path, body: `{"` + tt.field + `":` + tt.value + `}`, status: 400, code: tt.code, contains: []string{tt.says}}})
	}
	for query, code := range map[string]string{
		"offset=-1": "invalid_search_offset", "limit=x": "invalid_search_limit", "page=-1": "invalid_search_page", "hitsPerPage=x": "invalid_search_hits_per_page",
		"filter=price": "invalid_search_filter", "sort=price": "invalid_search_sort", "distinct=name": "invalid_search_distinct", "facets=name": "invalid_search_facets",
		"attributesToCrop=name:x": "invalid_search_attributes_to_crop", "cropLength=x": "invalid_search_crop_length", "showMatchesPosition=1": "invalid_search_show_matches_position",
		"showRankingScore=1": "invalid_search_show_ranking_score", "showRankingScoreDetails=1": "invalid_search_show_ranking_score_details", "matchingStrategy=x": "invalid_search_matching_strategy",
		"rankingScoreThreshold=x": "invalid_search_ranking_score_threshold", "attributesToSearchOn=x": "invalid_search_attributes_to_search_on", "locales=xx9": "invalid_search_locales",
		"personalizeUserContext=x": "feature_not_enabled", "useNetwork=true": "feature_not_enabled", "useNetwork=1": "invalid_search_use_network",
		"showPerformanceDetails=1": "invalid_search_show_performance_details", "order=price": "bad_request", "q=a&q=b": "bad_request",
	} {
		r.play(t, []scenario{{name: query, method: "GET", path: path + "?" + query, status: 400, code: code}})
	}
}

func TestFacetSearch(t *testing.T) {
	r := newShop(t)
	const path = "/indexes/shop/facet-search"
	bad := func(body, code, says string) scenario {
		return scenario{name: body, method: "POST", path: path, body: body, status: 400, code: code, contains: []string{says}}
	}
	tenant := []string{"Authorization", "Bearer " + r.tenant(t, map[string]any{"shop": map[string]any{"filter": "price < 4"}})}
	r.play(t, []scenario{
		{name: "all", method: "POST", path: path, body: `{"facetName":"kind"}`, status: 200, contains: []string{`{"facetHits":[{"value":"pots & pans","count":1},{"value":"tea","count":2}],"facetQuery":null,"processingTimeMs":`}},
		{name: "some, with a search's parameters", method: "POST", path: path, body: `{"facetName":"kind","facetQuery":"te","q":"green","limit":3,"attributesToHighlight":["*"],"exhaustiveFacetCount":true}`, status: 200, contains: []string{`{"facetHits":[{"value":"tea","count":1}],"facetQuery":"te",`}},
		{name: "tenant", method: "POST", path: path, header: tenant, body: `{"facetName":"kind"}`, status: 200, contains: []string{`{"facetHits":[{"value":"tea","count":1}]`}},
		{name: "absent index", method: "POST", path: "/indexes/nope/facet-search", body: `{"facetName":"kind"}`, status: 404, code: "index_not_found"},
		bad(`{}`, "missing_facet_search_facet_name", "facetName"),
		bad(`{"facetName":1}`, "invalid_facet_search_facet_name", "`facetName` must be"),
		bad(`{"facetName":"maker"}`, "invalid_facet_search_facet_name", "facetName is `maker`"),
		bad(`{"facetName":"kind","facetQuery":1}`, "invalid_facet_search_query", "`facetQuery` must be"),
		bad(`{"facetName":"kind","exhaustiveFacetCount":1}`, "invalid_facet_search_exhaustive_facet_count", "`exhaustiveFacetCount` must be"),
		bad(`{"facetName":"kind","matchingStrategy":"x"}`, "invalid_search_matching_strategy", "last, all, frequency or any"),
		{name: "fields of others", method: "POST", path: path, body: `{"facetName":"kind","facetquery":"x","indexUid":"shop","offset":1,"mine":{"a":[1]}}`, status: 200, contains: []string{`{"value":"tea","count":2}`}},
	})
	if got := r.task(r.do("PUT", "/indexes/shop/settings/facet-search", `false`)); got.Status != task.Succeeded {
		t.Fatalf("task = %+v", got)
	}
	r.play(t, []scenario{bad(`{"facetName":"kind"}`, "facet_search_disabled", "facetSearch")})
}
