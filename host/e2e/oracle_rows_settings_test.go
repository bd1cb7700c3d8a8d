package e2e

// set is a window in which settings of the index shelf are set.
func set(body string) scenario { return scenario("PATCH /indexes/shelf/settings " + body) }

// settingsRows are the metrics of what settings are set to.
func settingsRows() []row {
	words := set(`{"stopWords":["a"]}`) // which touches no other setting
	embedders := set(`{"embedders":{"a":{"source":"userProvided","dimensions":3,"binaryQuantized":true},"b":{"source":"rest","url":"http://127.0.0.1:9/embed","dimensions":3,` +
		`"documentTemplate":"{{doc.title}}","documentTemplateMaxBytes":500,"request":{"input":"{{text}}"},"response":{"e":"{{embedding}}"}}}}`)
	without := set(`{"embedders":{"c":{"source":"userProvided","dimensions":3}}}`)
	reversed := set(`{"rankingRules":["exactness","sort","attribute","year:desc","proximity","typo","words"]}`)
	none := set(`{"rankingRules":[]}`)
	return []row{
		{"embedders.total", embedders, 2, words, absent{}},
		{"embedders.sources", embedders, []string{"rest", "userProvided"}, without, []string{"userProvided"}},
		{"embedders.document_template_used", embedders, true, without, false},
		{"embedders.document_template_max_bytes", embedders, 500, without, absent{}},
		{"embedders.binary_quantization_used", embedders, true, without, false},
		{"ranking_rules.words_position", reversed, 6, none, nil},
		{"ranking_rules.typo_position", reversed, 5, none, nil},
		{"ranking_rules.proximity_position", reversed, 4, none, nil},
		{"ranking_rules.attribute_position", reversed, 2, none, nil},
		{"ranking_rules.sort_position", reversed, 1, none, absent{}},
		{"ranking_rules.exactness_position", reversed, 0, words, absent{}},
		{"ranking_rules.values", reversed, "exactness, sort, attribute, proximity, typo, words", none, ""},
		{"sortable_attributes.total", set(`{"sortableAttributes":["a","_geo"]}`), 2, words, absent{}},
		{"sortable_attributes.has_geo", set(`{"sortableAttributes":["a","_geo"]}`), true, set(`{"sortableAttributes":["geo"]}`), false},
		{"filterable_attributes.total", set(`{"filterableAttributes":["a","_geo","b"]}`), 3, "DELETE /indexes/shelf/settings/filterable-attributes", 0},
		{"filterable_attributes.has_geo", set(`{"filterableAttributes":["a","_geo","b"]}`), true, set(`{"filterableAttributes":["a"]}`), false},
		{"filterable_attributes.has_patterns", set(`{"filterableAttributes":[{"attributePatterns":["a*"]}]}`), true, set(`{"filterableAttributes":["a"]}`), false},
		{"searchable_attributes.total", "PUT /indexes/shelf/settings/searchable-attributes [\"a\",\"b\"]", 2, set(`{"searchableAttributes":["*"]}`), 1},
		{"searchable_attributes.with_wildcard", set(`{"searchableAttributes":["*"]}`), true, "PUT /indexes/shelf/settings/searchable-attributes [\"a\",\"b\"]", false},
		{"displayed_attributes.total", set(`{"displayedAttributes":["a","b"]}`), 2, words, absent{}},
		{"displayed_attributes.with_wildcard", "DELETE /indexes/shelf/settings/displayed-attributes", true, set(`{"displayedAttributes":["a","b"]}`), false},
		{"typo_tolerance.enabled", set(`{"typoTolerance":{"enabled":true}}`), true, set(`{"typoTolerance":{"enabled":false}}`), false},
		{"typo_tolerance.disable_on_attributes", set(`{"typoTolerance":{"disableOnAttributes":["a"]}}`), true, set(`{"typoTolerance":{"disableOnAttributes":[]}}`), false},
		{"typo_tolerance.disable_on_words", set(`{"typoTolerance":{"disableOnWords":["a"]}}`), true, set(`{"typoTolerance":{"disableOnAttributes":["a"]}}`), absent{}},
		{"typo_tolerance.min_word_size_for_typos.one_typo", set(`{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":4}}}`), 4, set(`{"typoTolerance":{"minWordSizeForTypos":{"twoTypos":8}}}`), absent{}},
		{"typo_tolerance.min_word_size_for_typos.two_typos", set(`{"typoTolerance":{"minWordSizeForTypos":{"twoTypos":8}}}`), 8, "DELETE /indexes/shelf/settings/typo-tolerance", 9},
		{"pagination.max_total_hits", set(`{"pagination":{"maxTotalHits":50}}`), 50, "DELETE /indexes/shelf/settings", 1000},
		{"faceting.max_values_per_facet", set(`{"faceting":{"maxValuesPerFacet":5}}`), 5, words, absent{}},
		{"faceting.sort_facet_values_by_star_count", set(`{"faceting":{"sortFacetValuesBy":{"*":"count","a":"alpha"}}}`), true, set(`{"faceting":{"sortFacetValuesBy":{"*":"alpha","a":"count"}}}`), false},
		{"faceting.sort_facet_values_by_total", set(`{"faceting":{"sortFacetValuesBy":{"*":"count","a":"alpha"}}}`), 2, set(`{"faceting":{"maxValuesPerFacet":5}}`), absent{}},
		{"distinct_attribute.set", set(`{"distinctAttribute":"a"}`), true, set(`{"distinctAttribute":null}`), false},
		{"proximity_precision.set", set(`{"proximityPrecision":"byWord"}`), true, "DELETE /indexes/shelf/settings/proximity-precision", false},
		{"proximity_precision.value", set(`{"proximityPrecision":"byAttribute"}`), "byAttribute", "DELETE /indexes/shelf/settings/proximity-precision", "byWord"},
		{"facet_search.set", set(`{"facetSearch":true}`), true, "DELETE /indexes/shelf/settings/facet-search", false},
		{"facet_search.value", set(`{"facetSearch":true}`), true, set(`{"facetSearch":false}`), false},
		{"prefix_search.set", set(`{"prefixSearch":"indexingTime"}`), true, words, absent{}},
		{"prefix_search.value", set(`{"prefixSearch":"disabled"}`), "disabled", set(`{"prefixSearch":"indexingTime"}`), "indexingTime"},
		{"stop_words.total", set(`{"stopWords":["a","b"]}`), 2, words, 1},
		{"separator_tokens.total", set(`{"separatorTokens":["|","&","@"]}`), 3, set(`{"nonSeparatorTokens":["#"]}`), absent{}},
		{"non_separator_tokens.total", set(`{"nonSeparatorTokens":["#"]}`), 1, set(`{"separatorTokens":["|","&","@"]}`), absent{}},
		{"dictionary.total", set(`{"dictionary":["J.R.R.","a b"]}`), 2, words, absent{}},
		{"synonyms.total", set(`{"synonyms":{"a":["b"],"b":["a"],"c":["a","b"]}}`), 3, set(`{"synonyms":{}}`), 0},
	}
}
