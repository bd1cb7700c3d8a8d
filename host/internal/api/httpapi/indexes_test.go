package httpapi_test

import (
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/task"
)

const movies = `[{"id":1,"title":"Alien","genre":"horror","year":1979},{"id":2,"title":"Arrival","genre":"drama","year":2016},{"id":3,"title":"Heat","genre":"crime","year":1995}]`

// newMovies starts a server with an index of three movies.
func newMovies(t *testing.T) *rig {
	r := newRig(t, wish{})
	for _, a := range []answer{
		r.do("POST", "/indexes", `{"uid":"movies","primaryKey":"id"}`),
		r.do("PATCH", "/indexes/movies/settings", `{"filterableAttributes":["genre","year"]}`),
		r.do("POST", "/indexes/movies/documents", movies),
		r.do("POST", "/indexes", `{"uid":"secret"}`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	return r
}

func TestIndexes(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	r.play(t, []scenario{
		{name: "list", method: "GET", path: "/indexes", status: 200, contains: []string{`{"results":[{"uid":"movies","primaryKey":"id","createdAt":"`, `"uid":"secret","primaryKey":null`, `"offset":0,"limit":20,"total":2}`}},
		{name: "list, bad limit", method: "GET", path: "/indexes?limit=x", status: 400, code: "invalid_index_limit"},
		{name: "list, bad offset", method: "GET", path: "/indexes?offset=x", status: 400, code: "invalid_index_offset"},
		{name: "get", method: "GET", path: "/indexes/movies", status: 200, contains: []string{`"uid":"movies"`}},
		{name: "absent", method: "GET", path: "/indexes/nope", status: 404, code: "index_not_found", contains: []string{"nope"}},
		{name: "bad uid", method: "GET", path: "/indexes/a.b", status: 400, code: "invalid_index_uid"},
		{name: "stats", method: "GET", path: "/indexes/movies/stats", status: 200, contains: []string{`"numberOfDocuments":3,"indexSize":`, `,"usedIndexSize":`, `,"isIndexing":false,"fieldDistribution":{"genre":3,"id":3,"title":3,"year":3},"numberOfEmbeddedDocuments":0,"numberOfEmbeddings":0,"rawDocumentDbSize":158,"avgDocumentSize":52}`}},
		{name: "all stats", method: "GET", path: "/stats", status: 200, contains: []string{`"movies":{"numberOfDocuments":3`, `"secret":{"numberOfDocuments":0`}},
		{name: "create, no uid", method: "POST", path: "/indexes", body: `{}`, status: 400, code: "missing_index_uid"},
		{name: "create, bad uid", method: "POST", path: "/indexes", body: `{"uid":"a b"}`, status: 400, code: "invalid_index_uid"},
		{name: "create, wrong type", method: "POST", path: "/indexes", body: `{"uid":1}`, status: 400, code: "invalid_index_uid", contains: []string{"`uid` must be a string"}},
		{name: "create, bad key", method: "POST", path: "/indexes", body: `{"uid":"a","primaryKey":[]}`, status: 400, code: "invalid_index_primary_key"},
		{name: "create, unknown field", method: "POST", path: "/indexes", body: `{"uid":"a","primarykey":"id"}`, status: 400, code: "bad_request", contains: []string{"did you mean `primaryKey`?"}},
		{name: "update", method: "PATCH", path: "/indexes/secret", body: `{"primaryKey":"key"}`, status: 202, contains: []string{`"indexUid":"secret","status":"enqueued","type":"indexUpdate","enqueuedAt":"`}},
		{name: "update, unknown field", method: "PATCH", path: "/indexes/secret", body: `{"key":"x"}`, status: 400, code: "bad_request"},
		{name: "delete", method: "DELETE", path: "/indexes/other", status: 202, contains: []string{`"type":"indexDeletion"`}},
	})
	if got := r.task(r.do("POST", "/indexes", `{"uid":"movies"}`)); got.Error == nil || got.Error.Code != "index_already_exists" {
		t.Errorf("task of an index that exists = %+v, want index_already_exists", got)
	}
}

func TestSwapIndexes(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	r.task(r.do("POST", "/indexes/other/documents", `{"id":1}`))
	const path = "/swap-indexes"
	narrow := []string{"Authorization", "Bearer " + r.key([]string{"indexes.*"}, []string{"movies"})}
	r.play(t, []scenario{
		{name: "no indexes", method: "POST", path: path, body: `[{}]`, status: 400, code: "missing_swap_indexes", contains: []string{"[0]"}},
		{name: "three", method: "POST", path: path, body: `[{"indexes":["a","b","c"]}]`, status: 400, code: "invalid_swap_indexes"},
		{name: "bad uid", method: "POST", path: path, body: `[{"indexes":["a","b c"]}]`, status: 400, code: "invalid_swap_indexes"},
		{name: "other type", method: "POST", path: path, body: `[{"indexes":"a"}]`, status: 400, code: "invalid_swap_indexes"},
		{name: "twice", method: "POST", path: path, body: `[{"indexes":["a","a"]}]`, status: 400, code: "invalid_swap_duplicate_index_found"},
		{name: "bad rename", method: "POST", path: path, body: `[{"indexes":["a","b"],"rename":1}]`, status: 400, code: "invalid_swap_rename"},
		{name: "no array", method: "POST", path: path, body: `{}`, status: 400, code: "bad_request"},
		{name: "not for the key", method: "POST", path: path, body: `[{"indexes":["movies","other"]}]`, header: narrow, status: 404, code: "index_not_found"},
		{name: "bad uid by patch", method: "PATCH", path: "/indexes/movies", body: `{"uid":"b c"}`, status: 400, code: "invalid_index_uid"},
		{name: "empty uid by patch", method: "PATCH", path: "/indexes/movies", body: `{"uid":""}`, status: 400, code: "invalid_index_uid"},
		{name: "uid by patch, not for the key", method: "PATCH", path: "/indexes/movies", body: `{"uid":"x"}`, header: narrow, status: 403, code: "invalid_api_key"},
		{name: "created by patch", method: "PATCH", path: "/indexes/movies", body: `{"createdAt":null}`, status: 400, code: "immutable_index_created_at"},
		{name: "updated by patch", method: "PATCH", path: "/indexes/movies", body: `{"updatedAt":1}`, status: 400, code: "immutable_index_updated_at"},
	})
	got := r.task(r.do("POST", path, `[{"indexes":["movies","other"]}]`))
	if got.Status != task.Succeeded || string(got.Details) != `{"swaps":[{"indexes":["movies","other"],"rename":false}]}` {
		t.Errorf("task of a swap: %+v, details %s", got, got.Details)
	}
	r.play(t, []scenario{
		{name: "swapped", method: "GET", path: "/indexes/movies/documents", status: 200, contains: []string{`[{"id":1}]`}},
		{name: "of either", method: "GET", path: "/tasks?types=indexSwap&indexUids=other", status: 200, contains: []string{`"total":1`, `"indexUid":null`}},
	})
	r.task(r.do("POST", path, `[{"indexes":["movies","last"],"rename":true}]`))
	r.play(t, []scenario{
		{name: "renamed", method: "GET", path: "/indexes/last/documents", status: 200, contains: []string{`[{"id":1}]`}},
		{name: "old name", method: "GET", path: "/indexes/movies", status: 404, code: "index_not_found"},
	})
}

func TestSearch(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	const path = "/indexes/movies/search"
	bad := func(name, body, code string) scenario {
		return scenario{name: name, method: "POST", path: path, body: body, status: 400, code: code}
	}
	r.play(t, []scenario{
		{name: "all", method: "POST", path: path, body: `{}`, status: 200, contains: []string{`"query":""`, `"limit":20,"offset":0,"estimatedTotalHits":3`, `"processingTimeMs":`}},
		{name: "words", method: "POST", path: path, body: `{"q":"arival","limit":1,"attributesToRetrieve":["title"]}`, status: 200, contains: []string{`{"hits":[{"title":"Arrival"}],"query":"arival"`, `"limit":1`}},
		{name: "filter", method: "POST", path: path, body: `{"filter":"year < 1990"}`, status: 200, contains: []string{"Alien", `"estimatedTotalHits":1`}},
		{name: "filter array", method: "POST", path: path, body: `{"filter":[["genre = crime","genre = drama"],"year > 2000"]}`, status: 200, contains: []string{"Arrival", `"estimatedTotalHits":1`}},
		{name: "score", method: "POST", path: path, body: `{"q":"heat","showRankingScore":true}`, status: 200, contains: []string{`"year":1995,"_rankingScore":`}},
		{name: "null everywhere", method: "POST", path: path, body: `{"q":null,"filter":null,"limit":null,"attributesToRetrieve":null}`, status: 200, contains: []string{`"estimatedTotalHits":3`}},
		{name: "by URL", method: "GET", path: path + "?q=heat&limit=1&attributesToRetrieve=title&filter=year%20%3E%201990&showRankingScore=true", status: 200, contains: []string{`{"hits":[{"title":"Heat","_rankingScore":`}},
		bad("q", `{"q":1}`, "invalid_search_q"),
		bad("limit", `{"limit":-1}`, "invalid_search_limit"),
		bad("offset", `{"offset":"0"}`, "invalid_search_offset"),
		bad("filter type", `{"filter":1}`, "invalid_search_filter"),
		bad("filter syntax", `{"filter":"year >"}`, "invalid_search_filter"),
		bad("filter attribute", `{"filter":"title = x"}`, "invalid_search_filter"),
		bad("attributes", `{"attributesToRetrieve":"title"}`, "invalid_search_attributes_to_retrieve"),
		bad("score type", `{"showRankingScore":1}`, "invalid_search_show_ranking_score"),
		bad("strategy", `{"matchingStrategy":"most"}`, "invalid_search_matching_strategy"),
		bad("threshold", `{"rankingScoreThreshold":2}`, "invalid_search_ranking_score_threshold"),
		{name: "unknown field", method: "POST", path: path, body: `{"filters":"x"}`, status: 400, code: "bad_request", contains: []string{"did you mean `filter`?"}},
		{name: "unknown parameter", method: "GET", path: path + "?query=x", status: 400, code: "bad_request", contains: []string{"`query`"}},
		{name: "bad score parameter", method: "GET", path: path + "?showRankingScore=yes", status: 400, code: "invalid_search_show_ranking_score"},
		{name: "bad threshold parameter", method: "GET", path: path + "?rankingScoreThreshold=x", status: 400, code: "invalid_search_ranking_score_threshold"},
		{name: "bad limit parameter", method: "GET", path: path + "?limit=x", status: 400, code: "invalid_search_limit"},
		{name: "absent", method: "POST", path: "/indexes/nope/search", body: `{}`, status: 404, code: "index_not_found"},
	})
}

// What a key or token may not use looks like what does not exist.
func TestNarrowKeys(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	narrow := []string{"Authorization", "Bearer " + r.key([]string{"*"}, []string{"mov*"})}
	k, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"search", "chatCompletions"}, Indexes: []string{"*"}})
	check(t, err)
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"apiKeyUid": k.UID, "searchRules": map[string]any{"movies": map[string]any{"filter": "genre != horror"}},
	}).SignedString([]byte(r.keys.Value(&k)))
	check(t, err)
	tenant := []string{"Authorization", "Bearer " + token}
	for _, at := range []struct{ method, path, body string }{
		{"GET", "", ""},
		{"PATCH", "", `{"primaryKey":"x"}`},
		{"DELETE", "", ""},
		{"GET", "/stats", ""},
		{"GET", "/documents", ""},
		{"POST", "/documents", "[]"},
		{"PUT", "/documents", "[]"},
		{"DELETE", "/documents", ""},
		{"GET", "/documents/1", ""},
		{"DELETE", "/documents/1", ""},
		{"POST", "/documents/fetch", "{}"},
		{"POST", "/documents/delete-batch", "[]"},
		{"POST", "/search", "{}"},
		{"GET", "/search", ""},
		{"GET", "/settings", ""},
		{"PATCH", "/settings", "{}"},
		{"DELETE", "/settings", ""},
		{"PUT", "/settings/searchable-attributes", "[]"},
		{"DELETE", "/settings/chat", ""},
		{"GET", "/settings/chat", ""},
	} {
		absent := r.do(at.method, "/indexes/secre2"+at.path, at.body, narrow...)
		forbidden := r.do(at.method, "/indexes/secret"+at.path, at.body, narrow...)
		if absent.status != 404 || forbidden.status != 404 || len(absent.body) != len(forbidden.body) {
			t.Errorf("%s %s = %d %s for one that exists, %d %s for one that does not, want both alike", at.method, at.path, forbidden.status, forbidden.body, absent.status, absent.body)
		}
	}
	r.play(t, []scenario{
		{name: "indexes", method: "GET", path: "/indexes", header: narrow, status: 200, contains: []string{`"total":1`}, excludes: []string{"secret"}},
		{name: "stats", method: "GET", path: "/stats", header: narrow, status: 200, contains: []string{"movies"}, excludes: []string{"secret", "vectorMemory\":"}},
		{name: "tasks", method: "GET", path: "/tasks", header: narrow, status: 200, contains: []string{`"total":3`}, excludes: []string{"secret"}},
		{name: "task", method: "GET", path: "/tasks/3", header: narrow, status: 404, code: "task_not_found"},
		{name: "create elsewhere", method: "POST", path: "/indexes", body: `{"uid":"secret2"}`, header: narrow, status: 403, code: "invalid_api_key"},
		{name: "whole host", method: "GET", path: "/plugins", header: narrow, status: 403, code: "invalid_api_key"},
		{name: "tenant search", method: "POST", path: "/indexes/movies/search", body: `{}`, header: tenant, status: 200, contains: []string{`"estimatedTotalHits":2`}, excludes: []string{"Alien"}},
		{name: "tenant search elsewhere", method: "POST", path: "/indexes/secret/search", body: `{}`, header: tenant, status: 404, code: "index_not_found"},
		{name: "tenant documents", method: "GET", path: "/indexes/movies/documents", header: tenant, status: 403, code: "invalid_api_key", contains: []string{"tenant token"}},
		{name: "tenant chat", method: "POST", path: completions, body: hello, header: tenant, status: 200, contains: []string{"Hello"}},
	})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	const path = "/indexes/movies/settings"
	for _, step := range []struct{ method, path, body, where, want string }{
		{"PATCH", path, `{"searchableAttributes":["title"],"chat":{"description":"Films."}}`, path, `"searchableAttributes":["title"]`},
		{"PUT", path + "/displayed-attributes", `["id","title"]`, path + "/displayed-attributes", `["id","title"]`},
		{"PUT", path + "/filterable-attributes", `["year"]`, path, `"filterableAttributes":["year"]`},
		{"PATCH", path + "/chat", `{"documentTemplateMaxBytes":100}`, path + "/chat", `"description":"Films."`},
		{"DELETE", path + "/searchable-attributes", ``, path + "/searchable-attributes", `["*"]`},
		{"DELETE", path, ``, path, `"displayedAttributes":["*"]`},
	} {
		if got := r.task(r.do(step.method, step.path, step.body)); got.Status != task.Succeeded {
			t.Errorf("%s %s: task %+v", step.method, step.path, got)
		}
		r.play(t, []scenario{{name: step.method, method: "GET", path: step.where, status: 200, contains: []string{step.want}}})
	}
	r.play(t, []scenario{
		{name: "unknown setting", method: "PATCH", path: path, body: `{"searchableAttribute":[]}`, status: 400, code: "bad_request", contains: []string{"searchableAttribute"}},
		{name: "wrong type", method: "PATCH", path: path, body: `{"searchableAttributes":"x"}`, status: 400, code: "invalid_settings_searchable_attributes"},
		{name: "wrong type alone", method: "PUT", path: path + "/displayed-attributes", body: `{}`, status: 400, code: "invalid_settings_displayed_attributes"},
		{name: "wrong type, filterable", method: "PUT", path: path + "/filterable-attributes", body: `[1]`, status: 400, code: "invalid_settings_filterable_attributes"},
		{name: "chat", method: "PATCH", path: path + "/chat", body: `{"descrption":"x"}`, status: 400},
		{name: "chat, template", method: "PATCH", path: path + "/chat", body: `{"documentTemplate":"{{ x"}`, status: 400, code: "invalid_chat_setting_document_template"},
		{name: "wrong verb", method: "PATCH", path: path + "/displayed-attributes", body: `[]`, status: 405, code: "method_not_allowed"},
		{name: "no such setting", method: "GET", path: path + "/nope", status: 404, code: "not_found"},
		{name: "not JSON", method: "PUT", path: path + "/displayed-attributes", body: `[`, status: 400, code: "malformed_payload"},
		{name: "absent index", method: "GET", path: "/indexes/nope/settings", status: 404, code: "index_not_found"},
	})
}
