package httpapi_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
)

func TestFeatures(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	const path = "/experimental-features"
	reader := []string{"Authorization", "Bearer " + r.key([]string{string(auth.ExperimentalGet)}, []string{"*"})}
	contains := `{"filter":"genre CONTAINS rro"}`
	rest := `{"source":"rest","url":"http://127.0.0.1:9/","request":"{{text}}","response":"{{embedding}}"}`
	composite := `{"two":{"source":"composite","searchEmbedder":` + rest + `,"indexingEmbedder":` + rest + `}}`
	r.play(t, []scenario{
		{name: "get", method: "GET", path: path, status: 200, contains: []string{`{"metrics":false,"logsRoute":false,"containsFilter":false,"compositeEmbedders":false,"multimodal":false,"network":false,"chatCompletions":true,"mcp":true,"renderRoute":true,"feedback":false,"getTaskDocumentsRoute":false}`}},
		{name: "get by a reader", method: "GET", path: path, header: reader, status: 200},
		{name: "patch by a reader", method: "PATCH", path: path, body: `{}`, header: reader, status: 403, code: "invalid_api_key"},
		{name: "unknown", method: "PATCH", path: path, body: `{"netwrok":true}`, status: 400, code: "bad_request", contains: []string{"did you mean `network`?"}},
		{name: "not offered", method: "PATCH", path: path, body: `{"editDocumentsByFunction":true}`, status: 400, code: "bad_request", contains: []string{"not offered"}},
		{name: "not offered, off", method: "PATCH", path: path, body: `{"editDocumentsByFunction":false,"vectorStore":false,"dynamicSearchRules":null}`, status: 200},
		{name: "not offered, among others", method: "PATCH", path: path, body: `{"dynamicSearchRules":true,"editDocumentsByFunction":true,"multimodal":true}`, status: 400, code: "bad_request", contains: []string{"`dynamicSearchRules` is not offered", "`editDocumentsByFunction` is not offered", "The others were switched"}},
		{name: "the others", method: "PATCH", path: path, body: `{"multimodal":false}`, status: 200, contains: []string{`"multimodal":false`}},
		{name: "wrong type", method: "PATCH", path: path, body: `{"network":"yes"}`, status: 400, code: "bad_request", contains: []string{"`network` must be true or false"}},
		{name: "no object", method: "PATCH", path: path, body: `[]`, status: 400, code: "bad_request"},
		{name: "nothing", method: "PATCH", path: path, status: 400, code: "missing_payload"},
		{name: "null", method: "PATCH", path: path, body: `{"network":null}`, status: 200, contains: []string{`"network":false`}},

		{name: "containsFilter off", method: "POST", path: "/indexes/movies/search", body: contains, status: 400, code: "feature_not_enabled", contains: []string{"column 7"}},
		{name: "containsFilter off in a list", method: "POST", path: "/indexes/movies/documents/fetch", body: `{"filter":["year = 1979",["genre STARTS WITH ho"]]}`, status: 400, code: "feature_not_enabled"},
		{name: "switch containsFilter on", method: "PATCH", path: path, body: `{"containsFilter":true}`, status: 200, contains: []string{`"containsFilter":true`}},
		{name: "containsFilter on", method: "POST", path: "/indexes/movies/search", body: contains, status: 200, contains: []string{"Alien"}, excludes: []string{"Heat"}},

		{name: "compositeEmbedders off", method: "PATCH", path: "/indexes/pair/settings/embedders", body: composite, status: 400, code: "feature_not_enabled", contains: []string{"`embedders.two`", "PATCH /experimental-features"}},
		{name: "switch compositeEmbedders on", method: "PATCH", path: path, body: `{"compositeEmbedders":true}`, status: 200, contains: []string{`"compositeEmbedders":true`}},
		{name: "compositeEmbedders on", method: "PATCH", path: "/indexes/pair/settings/embedders", body: composite, status: 202},

		{name: "metrics off", method: "GET", path: "/metrics", status: 400, code: "feature_not_enabled"},
		{name: "switch metrics on", method: "PATCH", path: path, body: `{"metrics":true}`, status: 200, contains: []string{`"metrics":true`}},
		{name: "metrics on", method: "GET", path: "/metrics", status: 200, responseHeader: []string{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},

		{name: "network off", method: "GET", path: "/network", status: 400, code: "feature_not_enabled"},
		{name: "network off, patch", method: "PATCH", path: "/network", body: `{}`, status: 400, code: "feature_not_enabled"},

		{name: "switch chatCompletions off", method: "PATCH", path: path, body: `{"chatCompletions":false}`, status: 200, contains: []string{`"chatCompletions":false`}},
		{name: "chats off", method: "GET", path: "/chats", status: 400, code: "feature_not_enabled"},
		{name: "chat settings off", method: "PATCH", path: "/chats/demo/settings", body: `{}`, status: 400, code: "feature_not_enabled"},
		{name: "completions off", method: "POST", path: completions, body: hello, status: 400, code: "feature_not_enabled"},
		{name: "no setting chat", method: "GET", path: "/indexes/movies/settings", status: 200, contains: []string{`"prefixSearch"`}, excludes: []string{`"chat"`}},
		{name: "setting chat off", method: "PATCH", path: "/indexes/movies/settings", body: `{"chat":{}}`, status: 400, code: "feature_not_enabled"},
		{name: "setting chat off, by itself", method: "PUT", path: "/indexes/movies/settings/chat", body: `{"description":"x"}`, status: 400, code: "feature_not_enabled"},
		{name: "settings without chat", method: "PATCH", path: "/indexes/movies/settings", body: `{"chat":null,"stopWords":null}`, status: 202},
		{name: "key comes first", method: "GET", path: "/chats", header: reader, status: 403, code: "invalid_api_key"},
		{name: "switch chatCompletions on", method: "PATCH", path: path, body: `{"chatCompletions":true}`, status: 200},
		{name: "setting chat on", method: "PUT", path: "/indexes/movies/settings/chat", body: `{"description":"films","searchParameters":{"hybrid":{"embedder":"later","semanticRatio":0.5}}}`, status: 202},
		{name: "completions on", method: "POST", path: completions, body: hello, status: 200, contains: []string{"Hello"}},
	})
}

func TestNetwork(t *testing.T) {
	const key = "sk-remote-0123456789-secret"
	r := newRig(t, wish{})
	r.do("PATCH", "/experimental-features", `{"network":true}`)
	reader := []string{"Authorization", "Bearer " + r.key([]string{string(auth.NetworkGet)}, []string{"*"})}
	r.play(t, []scenario{
		{name: "empty", method: "GET", path: "/network", header: reader, status: 200, contains: []string{`{"self":null,"remotes":{}}`}},
		{name: "patch by a reader", method: "PATCH", path: "/network", body: `{}`, header: reader, status: 403, code: "invalid_api_key"},
		{
			name: "patch", method: "PATCH", path: "/network", body: `{"self":"a","remotes":{"a":{"url":"http://a"},"b":{"url":"http://b/","searchApiKey":"` + key + `"}}}`,
			status: 200, contains: []string{`{"self":"a","remotes":{"a":{"url":"http://a","searchApiKey":null},"b":{"url":"http://b","searchApiKey":"sk-XXXXX..."}}}`},
		},
		{name: "again", method: "GET", path: "/network", header: reader, status: 200, contains: []string{`"searchApiKey":"sk-XXXXX..."`}, excludes: []string{key}},
		{name: "self", method: "PATCH", path: "/network", body: `{"self":[]}`, status: 400, code: "invalid_network_self"},
		{name: "remotes", method: "PATCH", path: "/network", body: `{"remotes":1}`, status: 400, code: "invalid_network_remotes"},
		{name: "no url", method: "PATCH", path: "/network", body: `{"remotes":{"c":{}}}`, status: 400, code: "missing_network_url"},
		{name: "url", method: "PATCH", path: "/network", body: `{"remotes":{"c":{"url":"c"}}}`, status: 400, code: "invalid_network_url"},
		{name: "url's type", method: "PATCH", path: "/network", body: `{"remotes":{"c":{"url":{}}}}`, status: 400, code: "invalid_network_url"},
		{name: "key", method: "PATCH", path: "/network", body: `{"remotes":{"a":{"searchApiKey":1}}}`, status: 400, code: "invalid_network_search_api_key"},
		{name: "unknown field", method: "PATCH", path: "/network", body: `{"remotes":{"a":{"write_key":"x"}}}`, status: 400, code: "bad_request", contains: []string{"`remotes.a.write_key`"}},
		{name: "a leader", method: "PATCH", path: "/network", body: `{"leader":"a"}`, status: 400, code: "bad_request", contains: []string{"`leader` must be null"}},
		{name: "what changes nothing", method: "PATCH", path: "/network", body: `{"leader":null,"shards":null,"remotes":{"a":{"writeApiKey":"hush"}}}`, status: 200, excludes: []string{"hush"}},
		{name: "cut off", method: "PATCH", path: "/network", body: `{"self":"`, status: 400, code: "malformed_payload"},
	})
	if strings.Contains(r.log.String(), key) {
		t.Error("the key of a remote is in the log")
	}
}
