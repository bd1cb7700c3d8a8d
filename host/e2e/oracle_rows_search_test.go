package e2e

import "strings"

// searched is a window in which the index films is searched, once for each body.
func searched(bodies ...string) scenario {
	return scenario("POST /indexes/films/search " + strings.Join(bodies, "\nPOST /indexes/films/search "))
}

// The searches that say nothing of their own; that are refused; and what is no
// search at all.
var (
	everything = searched(`{}`)
	refused    = scenario("400 ") + searched(`{"sort":["nothing:asc"]}`)
)

const (
	listed scenario = "GET /indexes/films/documents"
	facets scenario = "POST /indexes/films/facet-search "
	multi  scenario = "POST /multi-search "
)

// searchRows are the metrics of searches.
func searchRows() []row {
	return []row{
		{"locales", searched(`{"locales":["fra"]}`, `{"locales":["en"]}`), []string{"eng", "fra"}, everything, absent{}},
		{"locales", `PATCH /indexes/shelf/settings {"localizedAttributes":[{"attributePatterns":["a*"],"locales":["jpn"]}]}`, []string{"jpn"}, `DELETE /indexes/shelf/settings/localized-attributes`, absent{}},

		{"requests.99th_response_time", everything, pattern(`^\d{1,7}ms$`), refused, absent{}},
		{"requests.total_succeeded", everything + "\n" + facets + `{"facetName":"genre"}` + "\n" + multi + `{"queries":[{"indexUid":"films"},{"indexUid":"films"}]}`, 3, refused, 0},
		{"requests.total_failed", refused + "\n404 POST /indexes/nowhere/search {}", 2, everything, 0},
		{"requests.total_received", everything + "\n" + refused, 2, listed, absent{}},
		{"requests.total_degraded", `POST /indexes/slow/search {"q":"one"}`, 1, searched(`{"q":"one"}`), 0},
		{"requests.total_used_negative_operator", searched(`{"q":"one -two"}`, `{"q":"one -\"two three\""}`), 2, searched(`{"q":"one-two"}`), 0},
		{"sort.with_geoPoint", searched(`{"sort":["_geoPoint(48,2):asc"]}`), true, searched(`{"sort":["year:asc"]}`), false},
		{"sort.avg_criteria_number", searched(`{"sort":["_geoPoint(48,2):asc","year:asc"]}`, `{"sort":["year:asc"]}`, `{}`), 1.5, everything, absent{}},
		{"filter.with_geoBoundingBox", searched(`{"filter":"_geoBoundingBox([49,3],[47,1])"}`), true, searched(`{"filter":"_geoRadius(48,2,1000)"}`), false},
		{"filter.with_geoRadius", searched(`{"filter":["_geoRadius(48,2,1000)"]}`), true, searched(`{"filter":"genre = x"}`), false},
		{"filter.most_used_syntax", searched(`{"filter":["genre = x"]}`, `{"filter":["genre = x","genre = y"]}`, `{"filter":"genre = x"}`), "array", everything, absent{}},
		{"filter.most_used_syntax", searched(`{"filter":[["genre = x","genre = y"]]}`), "mixed", searched(`{"filter":"genre = x"}`), "string"},
		{"q.max_terms_number", searched(`{"q":"one two three"}`, `{"q":"four"}`), 3, everything, 0},
		{"pagination.max_limit", searched(`{"limit":7}`, `{"hitsPerPage":31}`), 31, everything, 20},
		{"pagination.max_limit", listed + "?limit=33", 33, searched(`{"limit":1}`), 1},
		{"pagination.max_offset", searched(`{"page":4,"hitsPerPage":10}`, `{"offset":5}`), 30, everything, 0},
		{"pagination.most_used_navigation", searched(`{"page":1}`, `{"hitsPerPage":2}`, `{}`), "exhaustive", everything, "estimated"},
		{"formatting.max_attributes_to_retrieve", searched(`{"attributesToRetrieve":["id","title"]}`, `{"attributesToRetrieve":["*"]}`), 2, everything, 0},
		{"formatting.max_attributes_to_highlight", searched(`{"attributesToHighlight":["id","title"]}`), 2, searched(`{"attributesToCrop":["title"]}`), 0},
		{"formatting.highlight_pre_tag", searched(`{"highlightPreTag":"<em>"}`), true, searched(`{"highlightPostTag":"</em>"}`), false},
		{"formatting.highlight_post_tag", searched(`{"highlightPostTag":"</em>"}`), true, searched(`{"highlightPreTag":"<em>"}`), false},
		{"formatting.max_attributes_to_crop", searched(`{"attributesToCrop":["id","title"]}`), 2, searched(`{"attributesToHighlight":["title"]}`), 0},
		{"formatting.crop_length", searched(`{"cropLength":10}`), true, searched(`{"attributesToCrop":["title"]}`), false},
		{"formatting.crop_marker", searched(`{"cropMarker":"…"}`), true, searched(`{"attributesToCrop":["title"]}`), false},
		{"formatting.show_matches_position", searched(`{"showMatchesPosition":true}`), true, searched(`{"showMatchesPosition":false}`), false},
		{"facets.avg_facets_number", searched(`{"facets":["genre"]}`, `{"facets":[]}`, `{}`), 0.5, everything, absent{}},
		{"facets.total_distinct_facet_count", facets + `{"facetName":"genre"}` + "\n" + facets + `{"facetName":"genre","facetQuery":"x"}`, 1, searched(`{"facets":["genre"]}`), absent{}},
		{"facets.additional_search_parameters_provided", facets + `{"facetName":"genre","q":"one"}`, true, facets + `{"facetName":"genre","facetQuery":"x"}`, false},
		{"matching_strategy.most_used_strategy", searched(`{"matchingStrategy":"all"}`), "all", everything, "last"},
		{"distinct", searched(`{"distinct":"genre"}`), true, searched(`{"facets":["genre"]}`), false},
		{"scoring.show_ranking_score", searched(`{"showRankingScore":true}`), true, searched(`{"showRankingScoreDetails":true}`), false},
		{"scoring.show_ranking_score_details", multi + `{"queries":[{"indexUid":"films","showRankingScoreDetails":true}]}`, true, searched(`{"showRankingScore":true}`), false},
		{"scoring.ranking_score_threshold", searched(`{"rankingScoreThreshold":0.2}`), true, searched(`{"showRankingScore":true}`), false},
		{"attributes_to_search_on.total_number_of_uses", searched(`{"attributesToSearchOn":["title"]}`, `{"attributesToSearchOn":["title"]}`), 2, searched(`{"attributesToRetrieve":["title"]}`), 0},
		{"vector.max_vector_size", searched(`{"vector":[1,0,0],"hybrid":{"embedder":"v"}}`), 3, everything, 0},
		{"vector.retrieve_vectors", searched(`{"retrieveVectors":true}`), true, listed, false},
		{"vector.retrieve_vectors", listed + "/1?retrieveVectors=true", true, "GET /indexes/films", absent{}},
		{"hybrid.enabled", searched(`{"vector":[1,0,0],"hybrid":{"embedder":"v"}}`), true, searched(`{"retrieveVectors":true}`), false},
		{"hybrid.semantic_ratio", searched(`{"vector":[1,0,0],"hybrid":{"embedder":"v","semanticRatio":0.5}}`), true, searched(`{"vector":[1,0,0],"hybrid":{"embedder":"v"}}`), false},
		{"hybrid.total_media", "400 " + searched(`{"media":{"image":"x"}}`), 1, searched(`{"vector":[1,0,0],"hybrid":{"embedder":"v"}}`), 0}, // refused, and asked for all the same
	}
}

// multiSearchRows are the metrics of what one call of multi-search holds.
func multiSearchRows() []row {
	one := multi + `{"queries":[{"indexUid":"films"}]}`
	several := multi + `{"queries":[{"indexUid":"films"},{"indexUid":"slow"},{"indexUid":"films","q":"one"}]}` + "\n" + one
	remotes := networked + `PATCH /network {"self":"here","remotes":{"here":{"url":"http://127.0.0.1:9"},"there":{"url":"http://127.0.0.1:9"}}}` + "\n" +
		multi + `{"federation":{},"queries":[{"indexUid":"films"},{"indexUid":"films","federationOptions":{"remote":"here"}},{"indexUid":"films","federationOptions":{"remote":"there"}}]}` + "\n" + one
	return []row{
		{"federation.use_federation", multi + `{"federation":{},"queries":[{"indexUid":"films"}]}`, true, one, false},
		{"searches.avg_search_count", several, 2, one, 1},
		{"searches.total_search_count", several, 4, everything, absent{}},
		{"indexes.avg_distinct_index_count", several, 1.5, one, 1},
		{"indexes.total_distinct_index_count", several, 3, everything, absent{}},
		{"indexes.total_single_index", one + "\n" + one, 2, multi + `{"queries":[{"indexUid":"films"},{"indexUid":"slow"}]}`, 0},
		{"remotes.total_distinct_remote_count", remotes, 2, several, 0},
		{"remotes.avg_distinct_remote_count", remotes, 1, several, 0},
	}
}
