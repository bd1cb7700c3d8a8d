package httpapi_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/task"
)

func TestVectors(t *testing.T) {
	r := newRig(t, wish{})
	for _, a := range []answer{
		r.do("PATCH", "/indexes/p/settings", `{"embedders":{"plane":{"source":"userProvided","dimensions":2}}}`),
		r.do("POST", "/indexes/p/documents", `[{"id":1,"text":"north","_vectors":{"plane":[0,1]}},{"id":2,"text":"east","_vectors":{"plane":[1,0]}}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	const path = "/indexes/p/search"
	bad := func(name, body, code string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: path, body: body, status: 400, code: code, contains: contains}
	}
	vectors := `"_vectors":{"plane":{"embeddings":[[1,0]],"regenerate":false}}`
	r.play(t, []scenario{
		{name: "by meaning", method: "POST", path: path, body: `{"vector":[1,0.1],"hybrid":{"embedder":"plane","semanticRatio":1},"limit":1,"retrieveVectors":true}`, status: 200, contains: []string{`{"hits":[{"id":2,"text":"east",` + vectors + `}]`, `"semanticHitCount":1}`}},
		{name: "by URL", method: "GET", path: path + "?vector=1,0.1&hybridEmbedder=plane&hybridSemanticRatio=1&limit=1&retrieveVectors=true", status: 200, contains: []string{vectors, `"semanticHitCount":1}`}},
		{name: "by words", method: "POST", path: path, body: `{"q":"east"}`, status: 200, contains: []string{"east"}, excludes: []string{"semanticHitCount", "_vectors"}},
		{name: "federated", method: "POST", path: "/multi-search", body: `{"federation":{},"queries":[{"indexUid":"p","vector":[1,0.1],"hybrid":{"embedder":"plane"}},{"indexUid":"p","q":"north"}]}`, status: 200, contains: []string{`"semanticHitCount":`}},
		bad("vector alone", `{"vector":[1,2]}`, "missing_search_hybrid"),
		bad("vector's type", `{"vector":"1,2"}`, "invalid_search_vector"),
		bad("vector's numbers", `{"vector":[1,"2"]}`, "invalid_search_vector", "vector[1]"),
		bad("vector beyond 32 bits", `{"vector":[1,1e39]}`, "invalid_search_vector", "vector[1]"),
		bad("dimensions", `{"vector":[1],"hybrid":{"embedder":"plane"}}`, "invalid_vector_dimensions"),
		bad("media while the feature is off", `{"media":{"image":"x"},"hybrid":{"embedder":"plane"}}`, "feature_not_enabled", "`media`", "`multimodal`"),
		bad("media's type", `{"media":["x"]}`, "invalid_search_media", "`media` must be"),
		{name: "no media", method: "POST", path: path, body: `{"q":"east","media":null}`, status: 200},
		{name: "media by URL", method: "GET", path: path + "?media=x", status: 400, code: "bad_request"},
		{name: "switch multimodal on", method: "PATCH", path: "/experimental-features", body: `{"multimodal":true}`, status: 200, contains: []string{`"multimodal":true`}},
		bad("media alone", `{"media":{}}`, "missing_search_hybrid"),
		bad("media and vector", `{"media":{},"vector":[1,2],"hybrid":{"embedder":"plane"}}`, "invalid_search_media_and_vector"),
		bad("media, and no vector of its own", `{"media":{},"hybrid":{"embedder":"plane"}}`, "vector_embedding_error"),
		{name: "media of a federated one", method: "POST", path: "/multi-search", body: `{"federation":{},"queries":[{"indexUid":"p","media":{},"vector":[1,0.1],"hybrid":{"embedder":"plane"}}]}`, status: 400, code: "invalid_search_media_and_vector", contains: []string{"queries[0]"}},
		bad("hybrid's type", `{"hybrid":true}`, "invalid_search_hybrid_query"),
		bad("hybrid, unknown field", `{"hybrid":{"embeder":"plane"}}`, "invalid_search_hybrid_query", "did you mean `embedder`?"),
		bad("embedder missing", `{"hybrid":{}}`, "invalid_search_hybrid_query", "missing"),
		bad("embedder's type", `{"hybrid":{"embedder":1}}`, "invalid_search_embedder"),
		bad("embedder unknown", `{"q":"x","hybrid":{"embedder":"plain"}}`, "invalid_search_embedder", "plain"),
		bad("ratio's type", `{"hybrid":{"embedder":"plane","semanticRatio":"1"}}`, "invalid_search_semantic_ratio"),
		bad("ratio", `{"hybrid":{"embedder":"plane","semanticRatio":-0.1}}`, "invalid_search_semantic_ratio"),
		{name: "words alone", method: "POST", path: path, body: `{"q":"east","hybrid":{"embedder":"plane"}}`, status: 200, contains: []string{`"semanticHitCount":0`, `{"hits":[{"id":2`}},
		bad("no vector of its own", `{"q":"x","hybrid":{"embedder":"plane","semanticRatio":1}}`, "vector_embedding_error"),
		bad("retrieveVectors", `{"retrieveVectors":1}`, "invalid_search_retrieve_vectors"),
		{name: "vector by URL", method: "GET", path: path + "?vector=1,x", status: 400, code: "invalid_search_vector"},
		{name: "ratio by URL", method: "GET", path: path + "?hybridEmbedder=plane&hybridSemanticRatio=x", status: 400, code: "invalid_search_semantic_ratio"},
		{name: "retrieveVectors by URL", method: "GET", path: path + "?retrieveVectors=1", status: 400, code: "invalid_search_retrieve_vectors"},

		{name: "document", method: "GET", path: "/indexes/p/documents/2?retrieveVectors=true", status: 200, contains: []string{`{"id":2,"text":"east",` + vectors + `}`}},
		{name: "document without", method: "GET", path: "/indexes/p/documents/2", status: 200, excludes: []string{"_vectors"}},
		{name: "documents", method: "GET", path: "/indexes/p/documents?retrieveVectors=true&fields=id", status: 200, contains: []string{`{"id":2,` + vectors + `}`}},
		{name: "fetch", method: "POST", path: "/indexes/p/documents/fetch", body: `{"retrieveVectors":true}`, status: 200, contains: []string{vectors}},
		{name: "documents, bad", method: "GET", path: "/indexes/p/documents?retrieveVectors=yes", status: 400, code: "invalid_document_retrieve_vectors"},
		{name: "document, bad", method: "GET", path: "/indexes/p/documents/2?retrieveVectors=yes", status: 400, code: "invalid_document_retrieve_vectors"},
		{name: "fetch, bad", method: "POST", path: "/indexes/p/documents/fetch", body: `{"retrieveVectors":1}`, status: 400, code: "invalid_document_retrieve_vectors"},
	})
	const similar = "/indexes/p/similar"
	odd := func(name, body, code string) scenario {
		return scenario{name: "similar, " + name, method: "POST", path: similar, body: body, status: 400, code: code}
	}
	r.play(t, []scenario{
		{name: "similar", method: "POST", path: similar, body: `{"id":2,"embedder":"plane","showRankingScore":true}`, status: 200, contains: []string{`{"hits":[{"id":1,"text":"north","_rankingScore":0.5}],"id":"2","processingTimeMs":`, `"limit":20,"offset":0,"estimatedTotalHits":1}`}},
		{name: "similar, by URL", method: "GET", path: similar + "?id=1&embedder=plane&limit=1&retrieveVectors=true&attributesToRetrieve=id", status: 200, contains: []string{`{"hits":[{"id":2,` + vectors + `}],"id":"1"`, `"limit":1`}},
		odd("no id", `{"embedder":"plane"}`, "bad_request"),
		odd("id's type", `{"id":true,"embedder":"plane"}`, "invalid_similar_id"),
		odd("absent", `{"id":"9","embedder":"plane"}`, "not_found_similar_id"),
		odd("no embedder", `{"id":1}`, "bad_request"),
		odd("embedder", `{"id":1,"embedder":"plain"}`, "invalid_similar_embedder"),
		odd("filter", `{"id":1,"embedder":"plane","filter":"text ="}`, "invalid_similar_filter"),
		odd("offset", `{"id":1,"embedder":"plane","offset":-1}`, "invalid_similar_offset"),
		odd("limit", `{"id":1,"embedder":"plane","limit":-1}`, "invalid_similar_limit"),
		odd("attributes", `{"id":1,"embedder":"plane","attributesToRetrieve":"id"}`, "invalid_similar_attributes_to_retrieve"),
		odd("vectors", `{"id":1,"embedder":"plane","retrieveVectors":"id"}`, "invalid_similar_retrieve_vectors"),
		odd("score", `{"id":1,"embedder":"plane","showRankingScore":"id"}`, "invalid_similar_show_ranking_score"),
		odd("details", `{"id":1,"embedder":"plane","showRankingScoreDetails":"id"}`, "invalid_similar_show_ranking_score_details"),
		{name: "similar, performance", method: "POST", path: similar, body: `{"id":2,"embedder":"plane","showPerformanceDetails":true}`, status: 200, contains: []string{`"performanceDetails":{"wait in queue":"`, `"similar > semantic ranking":"`, `"similar":"`}},
		odd("performance", `{"id":1,"embedder":"plane","showPerformanceDetails":"id"}`, "invalid_similar_show_performance_details"),
		// An embedder counts only where it is needed.
		{name: "unknown embedder of nothing", method: "POST", path: "/indexes/p/search", body: `{"hybrid":{"embedder":"plain"},"limit":0}`, status: 200},
		{name: "unknown embedder of words alone", method: "POST", path: "/indexes/p/search", body: `{"q":"north","hybrid":{"embedder":"plain","semanticRatio":0}}`, status: 200, contains: []string{`"text":"north"`}},
		{name: "unknown embedder of a vector", method: "POST", path: "/indexes/p/search", body: `{"vector":[1,0],"hybrid":{"embedder":"plain"}}`, status: 400, code: "invalid_search_embedder"},
		{name: "a ratio over 1 of nothing", method: "POST", path: "/indexes/p/search", body: `{"hybrid":{"embedder":"plane","semanticRatio":2}}`, status: 400, code: "invalid_search_semantic_ratio"},
		odd("threshold", `{"id":1,"embedder":"plane","rankingScoreThreshold":2}`, "invalid_similar_ranking_score_threshold"),
		{name: "similar, bad limit by URL", method: "GET", path: similar + "?id=1&embedder=plane&limit=x", status: 400, code: "invalid_similar_limit"},
		{name: "similar, absent index", method: "POST", path: "/indexes/nope/similar", body: `{"id":1,"embedder":"plane"}`, status: 404, code: "index_not_found"},
	})
	for body, code := range map[string]string{
		`[{"id":3,"_vectors":1}]`:                   "invalid_vectors_type",
		`[{"id":3,"_vectors":{"plane":[1]}}]`:       "invalid_vector_dimensions",
		`[{"id":3,"_vectors":{"plane":{"a":[1]}}}]`: "invalid_vectors_type",
	} {
		if got := r.task(r.do("POST", "/indexes/p/documents", body)); got.Error == nil || got.Error.Code != code {
			t.Errorf("%s: task %+v, want %s", body, got, code)
		}
	}
}
