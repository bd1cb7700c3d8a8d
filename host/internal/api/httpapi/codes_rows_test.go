package httpapi_test

import (
	"fmt"
	"strings"
)

// otherStatuses are the errors of a status other than 400, or that depend on a
// header.
func otherStatuses(r *rig) []scenario {
	const key = `{"uid":"01234567-89ab-4cde-8f01-23456789abcd","actions":["search"],"indexes":["*"],"expiresAt":null}`
	r.do("POST", "/keys", key)
	bound := "Bearer " + r.key([]string{"search"}, []string{"*"})
	ask := func(code string, status int, path, more, says string) scenario {
		return scenario{code: code, status: status, method: "POST", path: path, body: strings.TrimSuffix(hello, "}") + more + "}", contains: []string{says}}
	}
	return []scenario{
		{code: "missing_content_type", method: "POST", path: "/indexes", body: "{}", header: []string{"Content-Type", ""}, status: 415, contains: []string{"`application/json`"}},
		{code: "invalid_content_type", method: "POST", path: "/indexes", body: "{}", header: []string{"Content-Type", "text/html"}, status: 415, contains: []string{"text/html", "`application/json`"}},
		{code: "not_found", method: "GET", path: "/nope", status: 404, contains: []string{"/nope"}},
		{code: "method_not_allowed", method: "PUT", path: "/keys", status: 405, contains: []string{"GET, HEAD, POST"}},
		{code: "missing_authorization_header", method: "GET", path: "/keys", header: []string{"Authorization", ""}, status: 401, contains: []string{"Bearer <key>"}},
		{code: "invalid_api_key", method: "GET", path: "/keys", header: []string{"Authorization", bound}, status: 403, contains: []string{"`keys.get`"}},
		{code: "api_key_not_found", method: "GET", path: "/keys/nope", status: 404, contains: []string{"GET /keys"}},
		{code: "api_key_already_exists", method: "POST", path: "/keys", body: key, status: 409, contains: []string{"01234567-89ab-4cde-8f01-23456789abcd"}},
		{code: "plugin_api_disabled", method: "POST", path: "/plugins/rollback", body: `{"name":"openai"}`, status: 403, contains: []string{"`--plugin-api`"}},
		{code: "telemetry_flush_disabled", method: "POST", path: "/telemetry/flush", status: 403, contains: []string{"`--env production`", "GET /telemetry/messages"}},
		{code: "index_not_found", method: "GET", path: "/indexes/nope", status: 404, contains: []string{"`nope`"}},
		{code: "document_not_found", method: "GET", path: "/indexes/movies/documents/99", status: 404, contains: []string{"`99`"}},
		{code: "render_document_not_found", method: "POST", path: "/render-template", body: `{"template":{"kind":"inlineDocumentTemplate","inline":""},"input":{"kind":"indexDocument","indexUid":"movies","id":"99"}}`, status: 404, contains: []string{"`99`"}},
		{code: "webhook_not_found", method: "DELETE", path: "/webhooks/9c1b2f30-5e1e-4a0f-8a3e-0d7d0c1f2a3b", status: 404, contains: []string{"GET /webhooks lists"}},
		{code: "task_not_found", method: "GET", path: "/tasks/99999", status: 404, contains: []string{"99999"}},
		{code: "batch_not_found", method: "GET", path: "/batches/99999", status: 404, contains: []string{"99999"}},
		{code: "chat_not_found", method: "GET", path: "/chats/nope", status: 404, contains: []string{"PATCH /chats/nope/settings"}},
		ask("chat_provider_unavailable", 503, "/chats/orphan/chat/completions", "", "removed"),
		ask("unimplemented_non_streaming_chat_completions", 501, completions, `,"stream":false`, "`stream`"),
		ask("unimplemented_multi_choice_chat_completions", 501, completions, `,"n":2`, "`n`"),
		{code: "unimplemented_chat_models", method: "GET", path: "/chats/demo/models", status: 501, contains: []string{"cannot list models"}},
		ask("missing_chat_completion_api_key", 400, "/chats/keyless/chat/completions", "", "PATCH /chats/keyless/settings"),
	}
}

// misuses has a row for each code whose status is 400.
func misuses() []misuse {
	var rows []misuse
	add := func(list ...misuse) { rows = append(rows, list...) }
	// One field with a wrong value, in a body that has no other or these.
	field := func(code, request, with, name, value, says string) {
		body := fmt.Sprintf("{%s%q:%s}", with, name, value)
		add(misuse{code, request, body, says})
	}
	add(
		misuse{"bad_request", "POST /indexes", `{"uuid":"a"}`, "did you mean `uid`?"},
		misuse{"missing_payload", "POST /indexes", " ", "The body is empty"},
		misuse{"malformed_payload", "POST /indexes", `{"uid":`, "line 1, column 8"},
		misuse{"feature_not_enabled", "GET /metrics", "", "`metrics`"},
		misuse{"index_scoped_api_key_with_global_action", "POST /keys", `{"actions":["keys.get"],"indexes":["a"],"expiresAt":null}`, "`keys.get`"},
		misuse{"missing_api_key_actions", "POST /keys", `{"indexes":["*"],"expiresAt":null}`, "`actions` is missing"},
		misuse{"missing_api_key_indexes", "POST /keys", `{"actions":["*"],"expiresAt":null}`, "`indexes` is missing"},
		misuse{"missing_api_key_expires_at", "POST /keys", `{"actions":["*"],"indexes":["*"]}`, "`expiresAt` is missing"},
		misuse{"invalid_api_key_actions", "POST /keys", `{"actions":["serch"],"indexes":["*"],"expiresAt":null}`, "did you mean `search`?"},
		misuse{"invalid_api_key_indexes", "POST /keys", `{"actions":["*"],"indexes":["a b"],"expiresAt":null}`, "`indexes[0]`"},
		misuse{"invalid_api_key_workspaces", "POST /keys", `{"actions":["*"],"indexes":["*"],"workspaces":["a b"],"expiresAt":null}`, "`workspaces[0]`"},
		misuse{"invalid_api_key_limits", "POST /keys", `{"actions":["*"],"indexes":["*"],"expiresAt":null,"limits":{"parallel":0}}`, "`limits.parallel`"},
		misuse{"invalid_chat_model", "POST /chats/strict/chat/completions", hello, "it allows gpt-*"},
		misuse{"invalid_api_key_expires_at", "POST /keys", `{"actions":["*"],"indexes":["*"],"expiresAt":"2020-01-01"}`, "past"},
		misuse{"invalid_api_key_name", "POST /keys", `{"name":1}`, "`name` must be a string"},
		misuse{"invalid_api_key_description", "POST /keys", `{"description":1}`, "`description` must be a string"},
		misuse{"invalid_api_key_uid", "POST /keys", `{"uid":"x","actions":["*"],"indexes":["*"],"expiresAt":null}`, "UUID"},
		misuse{"invalid_api_key_limit", "GET /keys?limit=x", "", "`limit` must be an integer"},
		misuse{"invalid_api_key_offset", "GET /keys?offset=-1", "", "`offset` must be an integer"},
	)
	for name, code := range map[string]string{
		"actions": "actions", "createdAt": "created_at", "expiresAt": "expires_at", "indexes": "indexes", "workspaces": "workspaces", "key": "key", "uid": "uid", "updatedAt": "updated_at",
	} {
		field("immutable_api_key_"+code, "PATCH /keys/01234567-89ab-4cde-8f01-23456789abcd", "", name, `"x"`, "`"+name+"` of a key never changes")
	}

	const chat = "PATCH /chats/demo/settings"
	add(
		misuse{"invalid_chat_workspace_uid", "GET /chats/a.b", "", "characters of A-Z a-z 0-9"},
		misuse{"invalid_chat_offset", "GET /chats?offset=x", "", "`offset` must be an integer"},
		misuse{"invalid_chat_limit", "GET /chats?limit=x", "", "`limit` must be an integer"},
	)
	for name, code := range map[string]string{"orgId": "org_id", "projectId": "project_id", "apiVersion": "api_version", "deploymentId": "deployment_id", "prompts": "prompts"} {
		field("invalid_chat_completion_"+code, chat, "", name, "1", "`"+name+"` must be")
	}
	for name, code := range map[string]string{
		"system": "system_prompt", "searchDescription": "search_description_prompt", "searchQParam": "search_query_param_prompt",
		"searchFilterParam": "search_filter_param_prompt", "searchIndexUidParam": "search_index_uid_param_prompt",
	} {
		add(misuse{"invalid_chat_completion_" + code, chat, `{"prompts":{"` + name + `":1}}`, "`prompts." + name + "` must be"})
	}
	field("invalid_chat_completion_source", chat, "", "source", `"nope"`, "azureOpenAi, openAi")
	field("invalid_chat_completion_base_api", chat, "", "baseUrl", `"ftp://x"`, "`baseUrl`")
	field("invalid_chat_completion_api_key", chat, "", "apiKey", `"abXXXX..."`, "send the key itself")
	field("invalid_chat_completion_index_uids", chat, "", "indexUids", `["a","b c"]`, "`indexUids[1]`")
	field("invalid_chat_completion_parameters", chat, "", "parameters", `{"stream":true}`, "`parameters.stream`")
	field("invalid_chat_default_model", chat, `"models":["a*"],`, "defaultModel", `"b"`, "`models` does not allow")
	field("invalid_chat_models", chat, "", "models", `["a",""]`, "`models[1]`")
	field("invalid_chat_citations", chat, "", "citations", `1`, "`citations` must be true, false or null")
	field("invalid_chat_enforced_parameters", chat, "", "enforcedParameters", `{"tools":[{"type":"function"}]}`, "`enforcedParameters.tools[0].type`")
	field("invalid_chat_max_completion_tokens", chat, "", "maxCompletionTokens", `0`, "`maxCompletionTokens` must be an integer")
	field("invalid_chat_client_messages", chat, "", "clientMessages", `"none"`, "`clientMessages` must be")
	field("invalid_chat_tools", chat, "", "tools", `"never"`, "`tools` must be")
	field("invalid_chat_client_tools", chat, "", "clientTools", `"no"`, "`clientTools` must be true, false or null")
	field("invalid_chat_max_input_bytes", chat, "", "maxInputBytes", `1.5`, "`maxInputBytes` must be an integer")
	field("invalid_chat_max_rounds", chat, "", "maxRounds", `101`, "`maxRounds` must be an integer from 1 to 100")
	field("invalid_chat_max_messages", chat, "", "maxMessages", `-1`, "`maxMessages` must be an integer")
	field("invalid_chat_first_byte_seconds", chat, "", "firstByteSeconds", `3601`, "`firstByteSeconds` must be an integer from 1 to 3600")
	field("invalid_chat_options", chat, "", "options", `1`, "`options` must be an object or null")
	field("invalid_chat_fallback", chat, "", "fallback", `["a","demo"]`, "`fallback[1]`")
	field("invalid_chat_guards", chat, "", "guards", `7`, "`guards` must be an array")
	field("invalid_chat_limits", chat, "", "limits", `{"tokens":{"amount":1,"period":"year"}}`, "`limits.tokens.period`")
	field("invalid_chat_completion_plugin", chat, "", "plugin", `"absent"`, "No plugin called")
	field("invalid_chat_completion_plugin_version", chat, "", "pluginVersion", `"new"`, "~1.2")

	const settings = "PATCH /indexes/movies/settings"
	for name, row := range map[string][3]string{
		"chat": {"index_chat", `1`, "an object"}, "displayedAttributes": {"displayed_attributes", `1`, "an array"}, "searchableAttributes": {"searchable_attributes", `1`, "an array"},
		"filterableAttributes": {"filterable_attributes", `["a*b"]`, "filterableAttributes[0]"}, "sortableAttributes": {"sortable_attributes", `["a*"]`, "patterns are not taken"},
		"rankingRules": {"ranking_rules", `["wordz"]`, "did you mean `words`?"}, "stopWords": {"stop_words", `[1]`, "`stopWords[0]`"},
		"separatorTokens": {"separator_tokens", `[1]`, "`separatorTokens[0]`"}, "nonSeparatorTokens": {"non_separator_tokens", `[1]`, "`nonSeparatorTokens[0]`"},
		"dictionary": {"dictionary", `[1]`, "`dictionary[0]`"}, "synonyms": {"synonyms", `{"a":"b"}`, "`synonyms.a`"}, "distinctAttribute": {"distinct_attribute", `["a"]`, "an attribute's name or null"},
		"proximityPrecision": {"proximity_precision", `"near"`, "byAttribute"}, "typoTolerance": {"typo_tolerance", `{"enabeld":true}`, "did you mean `enabled`?"},
		"faceting": {"faceting", `{"maxValuesPerFacet":-1}`, "-1"}, "pagination": {"pagination", `{"maxTotalHits":"10"}`, "`pagination.maxTotalHits`"},
		"searchCutoffMs": {"search_cutoff_ms", `-5`, "-5"}, "embedders": {"embedders", `{"e":{"source":"gpt"}}`, "userProvided"}, "facetSearch": {"facet_search", `"yes"`, "true or false"},
		"prefixSearch": {"prefix_search", `"searchTime"`, "indexingTime"}, "localizedAttributes": {"localized_attributes", `{}`, "an array"},
	} {
		field("invalid_settings_"+row[0], settings, "", name, row[1], row[2])
	}
	field("invalid_chat_setting_document_template", settings, "", "chat", `{"documentTemplate":"{% if doc.x %}"}`, "Liquid")

	add(
		misuse{"index_already_exists", "POST /indexes", `{"uid":"movies"}`, "`movies` already exists"},
		misuse{"invalid_index_uid", "GET /indexes/a%20b", "", "`a b` is not a valid index uid"},
		misuse{"missing_index_uid", "POST /indexes", `{}`, "`uid` is missing"},
		misuse{"invalid_index_primary_key", "POST /indexes", `{"uid":"a","primaryKey":1}`, "`primaryKey` must be a string"},
		misuse{"invalid_index_offset", "GET /indexes?offset=x", "", "`offset` must be an integer"},
		misuse{"invalid_index_limit", "GET /indexes?limit=x", "", "`limit` must be an integer"},
		misuse{"index_primary_key_already_exists", "PATCH /indexes/movies", `{"primaryKey":"title"}`, "`movies` already has a primary key: `id`"},
		misuse{"index_primary_key_no_candidate_found", "POST /indexes/fresh/documents", `[{"x":1}]`, "primaryKey"},
		misuse{"index_primary_key_multiple_candidates_found", "POST /indexes/fresh/documents", `[{"a_id":1,"b_id":2}]`, "a_id"},
		misuse{"missing_swap_indexes", "POST /swap-indexes", `[{}]`, "`[0].indexes` is missing"},
		misuse{"invalid_swap_indexes", "POST /swap-indexes", `[{"indexes":["a"]}]`, "but holds 1"},
		misuse{"invalid_swap_duplicate_index_found", "POST /swap-indexes", `[{"indexes":["a","a"]}]`, "`a` is named twice"},
		misuse{"invalid_swap_rename", "POST /swap-indexes", `[{"indexes":["a","b"],"rename":1}]`, "`[0].rename` must be true or false"},
		misuse{"immutable_index_created_at", "PATCH /indexes/movies", `{"createdAt":"2026-11-21"}`, "`createdAt` cannot be changed"},
		misuse{"immutable_index_updated_at", "PATCH /indexes/movies", `{"updatedAt":"2026-11-21"}`, "`updatedAt` cannot be changed"},
	)

	const documents, fetch = "POST /indexes/movies/documents", "POST /indexes/movies/documents/fetch"
	add(
		misuse{"missing_document_id", documents, `[{"id":5},{"title":"x"}]`, "Document 2"},
		misuse{"invalid_document_id", documents, `[{"id":"a b"}]`, "`a b` is not valid"},
		misuse{"invalid_document_geo_field", "POST /indexes/places/documents", `[{"id":1,"_geo":{"lat":1}}]`, "its `_geo` has no `lng`"},
		misuse{"invalid_document_fields", fetch, `{"fields":"id"}`, "`fields` must be an array"},
		misuse{"invalid_document_offset", fetch, `{"offset":-1}`, "offset is -1"},
		misuse{"invalid_document_limit", fetch, `{"limit":-1}`, "limit is -1"},
		misuse{"invalid_document_filter", fetch, `{"filter":"year >"}`, "column 7"},
		misuse{"invalid_document_ids", fetch, `{"ids":[1,true]}`, "position 1"},
		misuse{"invalid_document_sort", fetch, `{"sort":["title:asc"]}`, "sort[0] is `title:asc`"},
		misuse{"invalid_document_retrieve_vectors", fetch, `{"retrieveVectors":1}`, "`retrieveVectors` must be true or false"},
		misuse{"invalid_document_csv_delimiter", documents + "?csvDelimiter=ab", "id,x\n1,2", "one ASCII character"},
		misuse{"missing_document_filter", documents + "/delete", `{}`, "`filter` is missing"},
		misuse{"max_fields_limit_exceeded", "POST /indexes/wide/documents", manyFields(65_001), "more than 65000 different fields"},
		misuse{"invalid_vectors_type", "POST /indexes/vectors/documents", `[{"id":3,"_vectors":1}]`, "Document 1"},
		misuse{"invalid_vector_dimensions", "POST /indexes/vectors/documents", `[{"id":3,"_vectors":{"plane":[1]}}]`, "expected 2"},
		misuse{"too_many_vectors", "POST /indexes/vectors/documents", `[{"id":3,"_vectors":{"plane":{"regenerate":false,"embeddings":[` + strings.Repeat("[0,1],", 256) + `[0,1]]}}}]`, "more than 256 vectors"},
		misuse{"vector_embedding_error", "POST /indexes/vectors/search", `{"q":"x","hybrid":{"embedder":"plane","semanticRatio":1}}`, "makes no vectors of its own"},
	)

	const search = "POST /indexes/movies/search"
	for name, row := range map[string][3]string{
		"q": {"q", `1`, ""}, "offset": {"offset", `"1"`, ""}, "limit": {"limit", `1.5`, ""}, "page": {"page", `"1"`, ""}, "hitsPerPage": {"hits_per_page", `-2`, "hitsPerPage is -2"},
		"filter": {"filter", `"year >"`, "column 7"}, "sort": {"sort", `["title:asc"]`, "sort[0] is `title:asc`"}, "distinct": {"distinct", `"title"`, "not filterable"},
		"facets": {"facets", `["title"]`, "facets[0] is `title`"}, "attributesToRetrieve": {"attributes_to_retrieve", `1`, ""}, "attributesToHighlight": {"attributes_to_highlight", `1`, ""},
		"attributesToCrop": {"attributes_to_crop", `["title:x"]`, "attributesToCrop[0] is `title:x`"}, "attributesToSearchOn": {"attributes_to_search_on", `"x"`, "`attributesToSearchOn` must be"},
		"cropLength": {"crop_length", `-1`, "cropLength is -1"}, "cropMarker": {"crop_marker", `1`, ""}, "highlightPreTag": {"highlight_pre_tag", `1`, ""}, "highlightPostTag": {"highlight_post_tag", `1`, ""},
		"showMatchesPosition": {"show_matches_position", `1`, ""}, "showRankingScore": {"show_ranking_score", `1`, ""}, "showRankingScoreDetails": {"show_ranking_score_details", `1`, ""},
		"locales": {"locales", `["klingon"]`, "locales[0] is `klingon`"}, "matchingStrategy": {"matching_strategy", `"most"`, "last, all, frequency or any"},
		"rankingScoreThreshold": {"ranking_score_threshold", `2`, "0 to 1"}, "vector": {"vector", `"1,2"`, ""}, "hybrid": {"hybrid_query", `true`, ""}, "retrieveVectors": {"retrieve_vectors", `1`, ""},
	} {
		says := row[2]
		if says == "" {
			says = "`" + name + "` must be"
		}
		field("invalid_search_"+row[0], search, "", name, row[1], says)
	}
	const facet, multi = "POST /indexes/movies/facet-search", "POST /multi-search"
	one := func(query string) string { return `{"federation":{},"queries":[{"indexUid":"movies",` + query + `}]}` }
	of := func(federation string) string {
		return `{"federation":{` + federation + `},"queries":[{"indexUid":"movies"}]}`
	}
	add(
		misuse{"missing_search_hybrid", search, `{"vector":[1,2]}`, "`hybrid`"},
		misuse{"invalid_search_passages", search, `{"q":"x","passages":{"maxBytes":1}}`, "500 to 64000"},
		misuse{"invalid_search_media", search, `{"media":"x"}`, "`media` must be"},
		misuse{"invalid_search_media_and_vector", "POST /indexes/vectors/search", `{"media":{},"vector":[1,2],"hybrid":{"embedder":"plane"}}`, "send one of them"},
		misuse{"invalid_search_embedder", search, `{"q":"x","hybrid":{"embedder":"nope"}}`, "`nope`"},
		misuse{"invalid_search_personalize", search, `{"personalize":"me"}`, "`personalize` must be an object"},
		misuse{"invalid_search_personalize_user_context", search, `{"personalize":{"userContext":1}}`, "`personalize.userContext` must be a string"},
		misuse{"invalid_search_use_network", search, `{"useNetwork":"yes"}`, "`useNetwork` must be true or false"},
		misuse{"invalid_search_show_performance_details", search, `{"showPerformanceDetails":1}`, "`showPerformanceDetails` must be true or false"},
		misuse{"invalid_multi_search_query_personalization", multi, one(`"personalize":{"userContext":"x"}`), "`queries[0].personalize`"},
		misuse{"invalid_multi_search_query_show_performance_details", multi, one(`"showPerformanceDetails":true`), "send it in `federation`"},
		misuse{"invalid_search_semantic_ratio", search, `{"hybrid":{"embedder":"plane","semanticRatio":"1"}}`, "`hybrid.semanticRatio` must be a number"},
		misuse{"missing_facet_search_facet_name", facet, `{}`, "`facetName` is missing"},
		misuse{"invalid_facet_search_facet_name", facet, `{"facetName":"title"}`, "facetName is `title`"},
		misuse{"invalid_facet_search_query", facet, `{"facetName":"genre","facetQuery":1}`, "`facetQuery` must be"},
		misuse{"invalid_facet_search_exhaustive_facet_count", facet, `{"facetName":"genre","exhaustiveFacetCount":1}`, "`exhaustiveFacetCount` must be"},
		misuse{"facet_search_disabled", "POST /indexes/nofacets/facet-search", `{"facetName":"genre"}`, "facetSearch to true"},
		misuse{"invalid_multi_search_federated", multi, `{"federation":1,"queries":[]}`, "`federation` must be an object"},
		misuse{"invalid_multi_search_federation_options", multi, `{"queries":[{"indexUid":"movies","federationOptions":{}}]}`, "`queries[0].federationOptions`"},
		misuse{"invalid_multi_search_distinct", multi, `{"federation":{"distinct":"genre"},"queries":[{"indexUid":"movies","distinct":"genre"}]}`, "are both set"},
		misuse{"invalid_multi_search_facets", multi, of(`"facetsByIndex":{"movies":["title"]}`), "federation.facetsByIndex.movies"},
		misuse{"invalid_multi_search_facets_by_index", multi, of(`"facetsByIndex":[]`), "`federation.facetsByIndex` must be an object"},
		misuse{"invalid_multi_search_facet_order", multi, of(`"mergeFacets":{},"facetsByIndex":{"movies":["genre"],"counted":["genre"]}`), "sortFacetValuesBy"},
		misuse{"invalid_multi_search_merge_facets", multi, of(`"mergeFacets":true`), "`federation.mergeFacets` must be an object"},
		misuse{"invalid_multi_search_max_values_per_facet", multi, of(`"mergeFacets":{"maxValuesPerFacet":-1}`), "is -1"},
		misuse{"invalid_multi_search_query_facets", multi, one(`"facets":["genre"]`), "`queries[0].facets`"},
		misuse{"invalid_multi_search_query_ranking_rules", multi, `{"federation":{},"queries":[{"indexUid":"movies","sort":["year:asc"]},{"indexUid":"movies","sort":["year:desc"]}]}`, "`queries[0]`"},
		misuse{"invalid_multi_search_query_pagination", multi, one(`"limit":3`), "`queries[0]` has its own page"},
		misuse{"invalid_multi_search_query_position", multi, one(`"federationOptions":{"queryPosition":-1}`), "queryPosition` is -1"},
		misuse{"invalid_multi_search_remote", multi, one(`"federationOptions":{"remote":1}`), "`queries[0].federationOptions.remote` must be a string"},
		misuse{"invalid_multi_search_weight", multi, one(`"federationOptions":{"weight":-1}`), "weight` is -1"},
	)

	const similar = "POST /indexes/vectors/similar"
	for name, row := range map[string][3]string{
		"id": {"id", `true`, "a string or an integer"}, "embedder": {"embedder", `"nope"`, "`nope`"}, "filter": {"filter", `"id >"`, "column 5"}, "offset": {"offset", `-1`, "offset is -1"}, "limit": {"limit", `-1`, "limit is -1"},
		"attributesToRetrieve": {"attributes_to_retrieve", `1`, ""}, "retrieveVectors": {"retrieve_vectors", `1`, ""}, "rankingScoreThreshold": {"ranking_score_threshold", `2`, "0 to 1"},
		"showRankingScore": {"show_ranking_score", `1`, ""}, "showPerformanceDetails": {"show_performance_details", `1`, ""}, "showRankingScoreDetails": {"show_ranking_score_details", `1`, ""},
	} {
		with := map[string]string{"id": `"embedder":"plane",`, "embedder": `"id":1,`}[name]
		if with == "" {
			with = `"id":1,"embedder":"plane",`
		}
		says := row[2]
		if says == "" {
			says = "`" + name + "` must be"
		}
		field("invalid_similar_"+row[0], similar, with, name, row[1], says)
	}
	add(misuse{"not_found_similar_id", similar, `{"id":99,"embedder":"plane"}`, "`99` not found"})

	const rendered, text = "POST /render-template", `"template":{"kind":"inlineDocumentTemplate","inline":"{{ doc.n | divided_by: 0 }}"}`
	add(
		misuse{"invalid_render_template", rendered, `{"template":{"kind":"chatDocumentTemplate"}}`, "`template.indexUid` is missing"},
		misuse{"invalid_render_input", rendered, `{` + text + `,"input":{"kind":"indexDocument"}}`, "`input.indexUid` is missing"},
		misuse{"template_parsing_error", rendered, `{"template":{"kind":"inlineDocumentTemplate","inline":"{% if %}"}}`, "line 1"},
		misuse{"template_rendering_error", rendered, `{"template":{"kind":"inlineDocumentTemplate","inline":"{% for i in (1..60000) %}{% for j in (1..60000) %}{% endfor %}{% endfor %}"},"input":{"kind":"inlineDocument","inline":{}}}`, "steps"},
	)

	const network = "PATCH /network"
	add(
		misuse{"invalid_network_self", network, `{"self":1}`, "`self` must be a string"},
		misuse{"invalid_network_remotes", network, `{"remotes":{"":{}}}`, "1 to 100 bytes"},
		misuse{"missing_network_url", network, `{"remotes":{"a":{}}}`, "`remotes.a.url` is missing"},
		misuse{"invalid_network_url", network, `{"remotes":{"a":{"url":"ftp://x"}}}`, "`remotes.a.url` does not begin with http:// or https://"},
		misuse{"invalid_network_search_api_key", network, `{"remotes":{"a":{"url":"http://x","searchApiKey":1}}}`, "`remotes.a.searchApiKey` must be a string"},
		misuse{"invalid_webhook_url", "POST /webhooks", `{"headers":{}}`, "`url` is missing"},
		misuse{"invalid_webhook_headers", "POST /webhooks", `{"url":"http://x.example","headers":{"Host":"y"}}`, "not the name of a header that can be set"},
		misuse{"immutable_webhook_uuid", "POST /webhooks", `{"url":"http://x.example","uuid":"1"}`, "leave it out"},
		misuse{"immutable_webhook_is_editable", "POST /webhooks", `{"url":"http://x.example","isEditable":true}`, "leave it out"},
		misuse{"invalid_webhook_uuid", "GET /webhooks/1", "", "not a uuid of a webhook"},
		misuse{"immutable_webhook", "DELETE /webhooks/00000000-0000-0000-0000-000000000000", "", "--task-webhook-url"},
		misuse{"invalid_export_url", "POST /export", `{"url":"http://me:geheim@x.example"}`, "`url` holds user info"},
		misuse{"invalid_export_api_key", "POST /export", `{"url":"http://x.example","apiKey":1}`, "`apiKey` must be a string"},
		misuse{"invalid_export_payload_size", "POST /export", `{"url":"http://x.example","payloadSize":"1 TiB"}`, "from 1.0 KiB to 256 MiB"},
		misuse{"invalid_export_indexes_patterns", "POST /export", `{"url":"http://x.example","indexes":{"a b":{}}}`, "not an index pattern"},
		misuse{"invalid_export_index_filter", "POST /export", `{"url":"http://x.example","indexes":{"a":{"filter":"x ="}}}`, "`indexes.a.filter`"},
		misuse{"invalid_export_index_override_settings", "POST /export", `{"url":"http://x.example","indexes":{"a":{"overrideSettings":1}}}`, "must be true or false"},
		misuse{"invalid_task_uids", "GET /tasks/x", "", "an integer of 0 or more"},
		misuse{"missing_task_filters", "POST /tasks/cancel", "", "beforeFinishedAt"},
		misuse{"invalid_batch_uids", "GET /batches?batchUids=x", "", "`batchUids` must hold uids"},
	)
	for name, code := range map[string]string{
		"uids": "uids", "statuses": "statuses", "types": "types", "limit": "limit", "from": "from", "reverse": "reverse", "canceledBy": "canceled_by",
		"beforeEnqueuedAt": "before_enqueued_at", "afterEnqueuedAt": "after_enqueued_at", "beforeStartedAt": "before_started_at",
		"afterStartedAt": "after_started_at", "beforeFinishedAt": "before_finished_at", "afterFinishedAt": "after_finished_at",
	} {
		add(misuse{"invalid_task_" + code, "GET /tasks?" + name + "=none", "", "The query parameter `" + name + "`"})
	}
	return rows
}

// manyFields is a document with n fields.
func manyFields(n int) string {
	var b strings.Builder
	b.WriteString(`[{"id":1`)
	for i := range n {
		fmt.Fprintf(&b, `,"f%d":1`, i)
	}
	b.WriteString("}]")
	return b.String()
}
