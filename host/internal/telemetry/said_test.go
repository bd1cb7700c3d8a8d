package telemetry

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi/event"
)

func TestSaidSearch(t *testing.T) {
	nothing := event.Search{Navigation: event.Estimated, Limit: 20, MatchingStrategy: event.MatchLast}
	with := func(f func(*event.Search)) event.Search {
		e := nothing
		f(&e)
		return e
	}
	tests := []struct {
		body string
		want event.Search
	}{
		{`{}`, nothing},
		{`[]`, nothing},
		{`nonsense`, nothing},
		{`{"q": null, "filter": null, "sort": null, "facets": null, "limit": null, "page": null, "distinct": null, "vector": null}`, nothing},
		{`{"q": "  one  two-three \"four five\""}`, with(func(e *event.Search) { e.Terms = 4 })},
		{`{"q": 7}`, nothing},
		{`{"sort": ["a:asc", "b:desc"]}`, with(func(e *event.Search) { e.Sort = 3 })},
		{`{"sort": []}`, with(func(e *event.Search) { e.Sort = 1 })},
		{`{"sort": ["_geoPoint(1, 2):asc"]}`, with(func(e *event.Search) { e.Sort, e.SortGeoPoint = 2, 1 })},
		{`{"filter": "a = 1 AND _geoRadius(1,2,3)"}`, with(func(e *event.Search) { e.FilterSyntax, e.FilterGeoRadius = event.FilterString, 1 })},
		{`{"filter": ["a = 1", "b = 2"]}`, with(func(e *event.Search) { e.FilterSyntax = event.FilterArray })},
		{`{"filter": ["a = 1", ["b = 2"]]}`, with(func(e *event.Search) { e.FilterSyntax = event.FilterMixed })},
		{`{"filter": ["a = 1 OR _geoBoundingBox([1,2],[3,4])"]}`, with(func(e *event.Search) { e.FilterSyntax, e.FilterGeoBoundingBox = event.FilterMixed, 1 })},
		{`{"filter": []}`, with(func(e *event.Search) { e.FilterSyntax = event.FilterArray })},
		{`{"limit": 7, "offset": 3}`, with(func(e *event.Search) { e.Limit, e.Offset = 7, 3 })},
		{`{"limit": -7}`, with(func(e *event.Search) { e.Limit = 0 })},
		{`{"page": 3, "hitsPerPage": 10}`, with(func(e *event.Search) { e.Navigation, e.Limit, e.Offset = event.Exhaustive, 10, 20 })},
		{`{"page": 2}`, with(func(e *event.Search) { e.Navigation, e.Offset = event.Exhaustive, 20 })},
		{`{"page": 18446744073709551615, "hitsPerPage": 18446744073709551615}`, with(func(e *event.Search) { e.Navigation, e.Limit = event.Exhaustive, event.MaxCount })},
		{`{"attributesToRetrieve": ["a"], "attributesToHighlight": ["a", "b"], "attributesToCrop": ["a", "b", "c"]}`, with(func(e *event.Search) {
			e.AttributesToRetrieve, e.AttributesToHighlight, e.AttributesToCrop = 1, 2, 3
		})},
		{`{"highlightPreTag": "<em>", "highlightPostTag": "", "cropLength": 10, "cropMarker": "…"}`, with(func(e *event.Search) {
			e.HighlightPreTag, e.HighlightPostTag, e.CropLength, e.CropMarker = 1, 1, 1, 1
		})},
		{`{"showMatchesPosition": true, "showRankingScore": true, "showRankingScoreDetails": true, "retrieveVectors": true}`, with(func(e *event.Search) {
			e.ShowMatchesPosition, e.ShowRankingScore, e.ShowRankingDetails, e.RetrieveVectors = 1, 1, 1, 1
		})},
		{`{"showMatchesPosition": false, "showRankingScore": false}`, nothing},
		{`{"facets": ["a", "b"], "matchingStrategy": "frequency", "distinct": "sku", "rankingScoreThreshold": 0.5, "attributesToSearchOn": ["a"]}`, with(func(e *event.Search) {
			e.Facets, e.MatchingStrategy, e.Distinct, e.RankingScoreThreshold, e.AttributesToSearchOn = 3, event.MatchFrequency, 1, 1, 1
		})},
		{`{"vector": [0.1, 0.2, 0.3], "hybrid": {"embedder": "x", "semanticRatio": 0.5}, "media": {"a": 1}}`, with(func(e *event.Search) {
			e.VectorDimensions, e.Hybrid, e.SemanticRatio, e.Media = 3, 1, 1, 1
		})},
		{`{"hybrid": {"embedder": "x"}}`, with(func(e *event.Search) { e.Hybrid = 1 })},
		{`{"locales": ["afr", "aka", "ak", "klingon"]}`, with(func(e *event.Search) { e.Locales = event.Locales{3} })},
	}
	for _, tt := range tests {
		if got := ReadSaid([]byte(tt.body)).Search(); got != tt.want {
			t.Errorf("Search of %s =\n%+v, want\n%+v", tt.body, got, tt.want)
		}
	}
	byURL := SaidByURL(map[string]string{"q": "7", "limit": "5", "sort": "a:asc,b:asc", "filter": "a = 1", "showRankingScore": "true", "hybridEmbedder": "x", "hybridSemanticRatio": "0.1"}).Search()
	want := with(func(e *event.Search) {
		e.Limit, e.Sort, e.FilterSyntax, e.ShowRankingScore, e.Hybrid, e.SemanticRatio = 5, 3, event.FilterString, 1, 1, 1
	})
	if byURL != want {
		t.Errorf("Search of a URL =\n%+v, want\n%+v", byURL, want)
	}
}

func TestSaidSettings(t *testing.T) {
	tests := []struct {
		said Said
		want event.Settings
	}{
		{ReadSaid([]byte(`{}`)), event.Settings{}},
		{ReadSaid([]byte(`{"rankingRules": ["sort", "price:asc", "words"]}`)), event.Settings{RankingRules: 1, Sort: 1, Words: 3}},
		{OneSetting("ranking-rules", json.RawMessage("null")), event.Settings{RankingRules: 1, Words: 1, Typo: 2, Proximity: 3, Attribute: 4, Sort: 5, Exactness: 6}},
		{OneSetting("sortable-attributes", json.RawMessage(`["a", "_geo"]`)), event.Settings{SortableAttributes: 3, SortableGeo: 1}},
		{OneSetting("filterable-attributes", json.RawMessage(`["a", {"attributePatterns": ["_geo", "b*"], "features": {}}]`)), event.Settings{FilterableAttributes: 3, FilterableGeo: 1, FilterablePatterns: 1}},
		{OneSetting("searchable-attributes", json.RawMessage(`["*"]`)), event.Settings{SearchableAttributes: 2, SearchableWildcard: 1}},
		{OneSetting("displayed-attributes", json.RawMessage(`null`)), event.Settings{DisplayedAttributes: 2, DisplayedWildcard: 1}},
		{ReadSaid([]byte(`{"typoTolerance": {"enabled": false, "disableOnWords": ["a"], "minWordSizeForTypos": {"oneTypo": 4}}}`)), event.Settings{TypoEnabled: 1, TypoDisabledWords: 2, OneTypo: 5}},
		{ReadSaid([]byte(`{"typoTolerance": {"disableOnAttributes": [], "disableOnWords": null}}`)), event.Settings{TypoDisabledAttributes: 1, TypoDisabledWords: 1}},
		{ReadSaid([]byte(`{"typoTolerance": null}`)), event.Settings{TypoEnabled: 2, TypoDisabledAttributes: 1, TypoDisabledWords: 1, OneTypo: 6, TwoTypos: 10}},
		{ReadSaid([]byte(`{"pagination": {"maxTotalHits": 50}, "faceting": {"maxValuesPerFacet": 7, "sortFacetValuesBy": {"*": "count", "a": "alpha"}}}`)), event.Settings{MaxTotalHits: 51, MaxValuesPerFacet: 8, SortFacetValuesByStar: 2, SortFacetValuesBy: 3}},
		{ReadSaid([]byte(`{"distinctAttribute": "sku", "proximityPrecision": "byAttribute", "facetSearch": false, "prefixSearch": "disabled"}`)), event.Settings{
			DistinctAttribute: 2, ProximityPrecisionSet: 2, ProximityPrecision: event.ByAttribute, FacetSearchSet: 2, FacetSearch: 1, PrefixSearchSet: 2, PrefixSearch: event.PrefixDisabled,
		}},
		{ReadSaid([]byte(`{"distinctAttribute": null, "proximityPrecision": null, "facetSearch": null, "prefixSearch": null}`)), event.Settings{
			DistinctAttribute: 1, ProximityPrecisionSet: 1, ProximityPrecision: event.ByWord, FacetSearchSet: 1, FacetSearch: 2, PrefixSearchSet: 1, PrefixSearch: event.PrefixIndexingTime,
		}},
		{ReadSaid([]byte(`{"stopWords": ["a"], "separatorTokens": [], "nonSeparatorTokens": ["a", "b"], "dictionary": ["a", "b", "c"], "synonyms": {"a": ["b"], "c": ["d"]}}`)), event.Settings{
			StopWords: 2, SeparatorTokens: 1, NonSeparatorTokens: 3, Dictionary: 4, Synonyms: 3,
		}},
		{ReadSaid([]byte(`{"embedders": {"a": {"source": "ollama", "documentTemplate": "x", "documentTemplateMaxBytes": 100}, "b": {"source": "rest", "documentTemplateMaxBytes": 400, "binaryQuantized": true}, "gone": null, "c": {"source": "jane's"}}}`)), event.Settings{
			Embedders: 4, EmbedderSources: 1<<2 | 1<<4 | 1<<6, DocumentTemplate: 1, DocumentTemplateMaxBytes: 401, BinaryQuantized: 1,
		}},
		{ReadSaid([]byte(`{"embedders": {"a": {"source": "composite", "searchEmbedder": {"source": "rest"}, "indexingEmbedder": {"source": "rest", "documentTemplate": "x", "documentTemplateMaxBytes": 9}}}}`)), event.Settings{
			Embedders: 2, EmbedderSources: 1 << 5, DocumentTemplate: 1, DocumentTemplateMaxBytes: 10,
		}},
		{ReadSaid([]byte(`{"localizedAttributes": [{"locales": ["afr"], "attributePatterns": ["*"]}, {"locales": ["aka"]}]}`)), event.Settings{LocalizedAttributes: 1, Locales: event.Locales{3}}},
	}
	for _, tt := range tests {
		if got := tt.said.Settings(); got != tt.want {
			t.Errorf("Settings of %s =\n%+v, want\n%+v", tt.said, got, tt.want)
		}
	}
	all := reflect.ValueOf(DefaultSettings().Settings())
	for i := range all.NumField() {
		switch name := all.Type().Field(i).Name; name {
		case "EmbedderSources", "DocumentTemplate", "DocumentTemplateMaxBytes", "BinaryQuantized", "SortableGeo", "FilterableGeo", "FilterablePatterns", "Locales":
		default:
			if all.Field(i).IsZero() {
				t.Errorf("a reset of all settings says nothing of %s", name)
			}
		}
	}
}

func TestSaidOthers(t *testing.T) {
	if got, want := ReadSaid([]byte(`{"facetName": "a", "facetQuery": "b", "q": null}`)).FacetSearch(), (event.FacetSearch{}); got != want {
		t.Errorf("FacetSearch = %+v, want %+v", got, want)
	}
	if got, want := ReadSaid([]byte(`{"facetName": "a", "filter": "x = 1"}`)).FacetSearch(), (event.FacetSearch{AdditionalParameters: 1}); got != want {
		t.Errorf("FacetSearch = %+v, want %+v", got, want)
	}
	multi := `{"federation": {}, "queries": [{"indexUid": "a", "showRankingScore": true}, {"indexUid": "b", "federationOptions": {"remote": "r"}}, {"indexUid": "a", "showRankingScoreDetails": true, "federationOptions": {"remote": "r"}}]}`
	if got, want := ReadSaid([]byte(multi)).MultiSearch(), (event.MultiSearch{Queries: 3, Indexes: 2, Remotes: 1, Federation: 1, ShowRankingScore: 1, ShowRankingDetails: 1}); got != want {
		t.Errorf("MultiSearch = %+v, want %+v", got, want)
	}
	export := `{"url": "https://x", "apiKey": "k", "payloadSize": "50 MiB", "indexes": {"*": {"filter": "a = 1"}, "b*": {}}}`
	if got, want := ReadSaid([]byte(export)).Export(), (event.Export{APIKey: 1, IndexPatterns: 2, PatternsWithFilter: 1, PayloadSize: 50<<20 + 1}); got != want {
		t.Errorf("Export = %+v, want %+v", got, want)
	}
	for text, want := range map[string]event.MaybeCount{`"123"`: 124, `99`: 100, `"2 kB"`: 2001, `"much"`: 0, `null`: 0, `"99999999999 TiB"`: 0, `-1`: 0} {
		if got := ReadSaid([]byte(`{"payloadSize": ` + text + `}`)).Export().PayloadSize; got != want {
			t.Errorf("a payloadSize of %s is %d, want %d", text, got, want)
		}
	}
}

// FuzzSaid reads anything, in every way; no number is past the most.
func FuzzSaid(f *testing.F) {
	f.Add([]byte(`{"filter": ["a", []], "queries": [null, {}], "embedders": {"a": null}, "filterableAttributes": [null, "a"], "faceting": {"sortFacetValuesBy": 7}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := ReadSaid(b)
		for _, e := range []any{s.Search(), s.Settings(), s.FacetSearch(), s.MultiSearch(), s.Export()} {
			v := reflect.ValueOf(e)
			for i := range v.NumField() {
				if f := v.Field(i); f.Kind() == reflect.Uint64 && f.Uint() > event.MaxCount {
					t.Errorf("%s of %s = %d", v.Type().Field(i).Name, b, f.Uint())
				}
			}
		}
	})
}
