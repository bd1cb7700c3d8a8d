package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/task"
)

// TestSettingsRefused wants each wrong value refused at once, with the code of
// its setting and a message that says where, what was found and what is
// allowed.
func TestSettingsRefused(t *testing.T) {
	r := newRig(t)
	tests := []struct {
		body string
		code apierr.Code
		says string
	}{
		{`[]`, apierr.BadRequest, "object"},
		{`{"nope":1}`, apierr.BadRequest, "Unknown setting `nope`"},
		{`{"stopWord":[]}`, apierr.BadRequest, "did you mean `stopWords`?"},
		{`{"StopWords":[]}`, apierr.BadRequest, "did you mean `stopWords`?"},
		{`{"stopWords":[],"stopWords":[]}`, apierr.BadRequest, "`stopWords` comes twice"},
		{`{"searchableAttributes":"x"}`, apierr.InvalidSettingsSearchable, "must be an array of attribute names, but is \"x\""},
		{`{"searchableAttributes":[1]}`, apierr.InvalidSettingsSearchable, "`searchableAttributes[0]` must be a string that is not empty, but is 1"},
		{`{"displayedAttributes":{}}`, apierr.InvalidSettingsDisplayed, "an object"},
		{`{"displayedAttributes":["a*"]}`, apierr.InvalidSettingsDisplayed, `"a*"`},
		{`{"displayedAttributes":["a","` + strings.Repeat("x", 1001) + `"]}`, apierr.InvalidSettingsDisplayed, "`displayedAttributes[1]` has 1001 bytes"},
		{`{"filterableAttributes":["a",""]}`, apierr.InvalidSettingsFilterable, "`filterableAttributes[1]`"},
		{`{"filterableAttributes":["a*b"]}`, apierr.InvalidSettingsFilterable, `at the beginning, at the end or alone`},
		{`{"filterableAttributes":[{"features":{}}]}`, apierr.InvalidSettingsFilterable, "`filterableAttributes[0].attributePatterns` is missing"},
		{`{"filterableAttributes":[{"attributePatterns":["a*b"]}]}`, apierr.InvalidSettingsFilterable, "`filterableAttributes[0].attributePatterns[0]`"},
		{`{"filterableAttributes":[{"attributePatterns":["a"],"features":{"facetSearch":1}}]}`, apierr.InvalidSettingsFilterable, "`filterableAttributes[0].features.facetSearch` must be true or false, but is 1"},
		{`{"filterableAttributes":[{"attributePatterns":["a"],"features":{"filter":{"equalty":true}}}]}`, apierr.InvalidSettingsFilterable, "Unknown field `filterableAttributes[0].features.filter.equalty`: did you mean `equality`?"},
		{`{"sortableAttributes":["a*"]}`, apierr.InvalidSettingsSortable, "patterns are not taken"},
		{`{"sortableAttributes":["_geoPoint(1,2)"]}`, apierr.InvalidSettingsSortable, "`_geo`"},
		{`{"rankingRules":["wordz"]}`, apierr.InvalidSettingsRankingRules, "did you mean `words`?"},
		{`{"rankingRules":["year:up"]}`, apierr.InvalidSettingsRankingRules, "`attribute:asc`"},
		{`{"rankingRules":[":asc"]}`, apierr.InvalidSettingsRankingRules, "`rankingRules[0]`"},
		{`{"rankingRules":["_geoPoint(1,2):asc"]}`, apierr.InvalidSettingsRankingRules, "`sort`"},
		{`{"stopWords":"the"}`, apierr.InvalidSettingsStopWords, "`stopWords`"},
		{`{"separatorTokens":[null]}`, apierr.InvalidSettingsSeparators, "`separatorTokens[0]`"},
		{`{"nonSeparatorTokens":[[]]}`, apierr.InvalidSettingsNonSeparators, "an array"},
		{`{"dictionary":[""]}`, apierr.InvalidSettingsDictionary, "`dictionary[0]`"},
		{`{"synonyms":[]}`, apierr.InvalidSettingsSynonyms, "must be an object, but is an array"},
		{`{"synonyms":{"a":"b"}}`, apierr.InvalidSettingsSynonyms, "`synonyms.a` must be an array of words"},
		{`{"synonyms":{"a":["!!"]}}`, apierr.InvalidSettingsSynonyms, "`synonyms.a[0]`"},
		{`{"synonyms":{"--":["b"]}}`, apierr.InvalidSettingsSynonyms, `"--"`},
		{`{"distinctAttribute":["a"]}`, apierr.InvalidSettingsDistinct, "an attribute's name or null"},
		{`{"distinctAttribute":""}`, apierr.InvalidSettingsDistinct, "an attribute's name or null"},
		{`{"proximityPrecision":"byPhrase"}`, apierr.InvalidSettingsProximity, `"byWord" or "byAttribute", but is "byPhrase"`},
		{`{"typoTolerance":true}`, apierr.InvalidSettingsTypos, "an object"},
		{`{"typoTolerance":{"enabeld":true}}`, apierr.InvalidSettingsTypos, "did you mean `enabled`?"},
		{`{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":256}}}`, apierr.InvalidSettingsTypos, "`typoTolerance.minWordSizeForTypos.oneTypo` must be a whole number from 0 to 255, but is 256"},
		{`{"typoTolerance":{"minWordSizeForTypos":{"twoTypos":7.5}}}`, apierr.InvalidSettingsTypos, "7.5"},
		{`{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":9,"twoTypos":8}}}`, apierr.InvalidSettingsTypos, "at most `twoTypos`"},
		{`{"faceting":{"maxValuesPerFacet":-1}}`, apierr.InvalidSettingsFaceting, "-1"},
		{`{"faceting":{"sortFacetValuesBy":{"a":"size"}}}`, apierr.InvalidSettingsFaceting, "`faceting.sortFacetValuesBy.a`"},
		{`{"pagination":{"maxTotalHits":"10"}}`, apierr.InvalidSettingsPagination, `"10"`},
		{`{"pagination":{"maxTotalHits":1e400}}`, apierr.InvalidSettingsPagination, "1e400"},
		{`{"embedders":[]}`, apierr.InvalidSettingsEmbedders, "an object"},
		{`{"embedders":{"a.b":{}}}`, apierr.InvalidSettingsEmbedders, `"a.b"`},
		{`{"embedders":{"e":{"source":"gpt"}}}`, apierr.InvalidSettingsEmbedders, `is "gpt", which no loaded plugin makes vectors for: it may be`},
		{`{"embedders":{"e":{"url":"ftp://x"}}}`, apierr.InvalidSettingsEmbedders, "`embedders.e.url`"},
		{`{"embedders":{"e":{"url":"https://me:word@x/"}}}`, apierr.InvalidSettingsEmbedders, "without user"},
		{`{"embedders":{"e":{"apiKey":["sk-123"]}}}`, apierr.InvalidSettingsEmbedders, "an array"},
		{`{"embedders":{"e":{"dimensions":0}}}`, apierr.InvalidSettingsEmbedders, "from 1"},
		{`{"embedders":{"e":{"request":{"input":"text"}}}}`, apierr.InvalidSettingsEmbedders, "{{text}}"},
		{`{"embedders":{"e":{"response":["{{embedding}}","{{embedding}}"]}}}`, apierr.InvalidSettingsEmbedders, "2 times"},
		{`{"embedders":{"e":{"headers":{"Host":"x"}}}}`, apierr.InvalidSettingsEmbedders, "`embedders.e.headers.Host`"},
		{`{"embedders":{"e":{"headers":{"a":"b\nc"}}}}`, apierr.InvalidSettingsEmbedders, "one line"},
		{`{"embedders":{"e":{"documentTemplate":"{{ x "}}}`, apierr.InvalidSettingsEmbedders, "`embedders.e.documentTemplate`"},
		{`{"embedders":{"e":{"distribution":{"mean":0.5}}}}`, apierr.InvalidSettingsEmbedders, "`sigma`"},
		{`{"embedders":{"e":{"apiKey":"abXXXX..."}}}`, apierr.InvalidSettingsEmbedders, "not the key itself"},
		{`{"searchCutoffMs":-5}`, apierr.InvalidSettingsCutoff, "-5"},
		{`{"localizedAttributes":{}}`, apierr.InvalidSettingsLocalized, "an array"},
		{`{"localizedAttributes":[{"locales":["jpn"]}]}`, apierr.InvalidSettingsLocalized, "`localizedAttributes[0].attributePatterns` is missing"},
		{`{"localizedAttributes":[{"attributePatterns":["a"]}]}`, apierr.InvalidSettingsLocalized, "`localizedAttributes[0].locales` is missing"},
		{`{"localizedAttributes":[{"attributePatterns":["a"],"locales":["Japanese"]}]}`, apierr.InvalidSettingsLocalized, `"Japanese"`},
		{`{"localizedAttributes":[{"attributePatterns":["a"],"locales":["JPN"]}]}`, apierr.InvalidSettingsLocalized, `"JPN"`},
		{`{"facetSearch":"yes"}`, apierr.InvalidSettingsFacetSearch, "true or false"},
		{`{"prefixSearch":"searchTime"}`, apierr.InvalidSettingsPrefixSearch, `"indexingTime" or "disabled"`},
		{`{"chat":[]}`, apierr.InvalidSettingsIndexChat, "an array"},
		{`{"chat":{"descripton":""}}`, apierr.InvalidSettingsIndexChat, "did you mean `description`?"},
		{`{"chat":{"description":1}}`, apierr.InvalidSettingsIndexChat, "`chat.description` must be a string, but is 1"},
		{`{"chat":{"documentTemplateMaxBytes":0}}`, apierr.InvalidSettingsIndexChat, "from 1"},
		{`{"chat":{"documentTemplateMaxBytes":1e9}}`, apierr.InvalidSettingsIndexChat, "from 1"},
		{`{"chat":{"searchParameters":{"limit":-1}}}`, apierr.InvalidSettingsIndexChat, "`chat.searchParameters.limit`"},
		{`{"chat":{"searchParameters":{"q":""}}}`, apierr.InvalidSettingsIndexChat, "`chat.searchParameters.q`"},
		{`{"chat":{"searchParameters":{"sort":"year:asc"}}}`, apierr.InvalidSettingsIndexChat, "an array of sort criteria"},
		{`{"chat":{"searchParameters":{"sort":["year"]}}}`, apierr.InvalidSettingsIndexChat, "`chat.searchParameters.sort[0]`"},
		{`{"chat":{"searchParameters":{"distinct":["a"]}}}`, apierr.InvalidSettingsIndexChat, "`chat.searchParameters.distinct`"},
		{`{"chat":{"searchParameters":{"attributesToSearchOn":["a*"]}}}`, apierr.InvalidSettingsIndexChat, "`chat.searchParameters.attributesToSearchOn[0]`"},
		{`{"chat":{"searchParameters":{"hybrid":{"embedder":"e","semanticRatio":1.5}}}}`, apierr.InvalidSettingsIndexChat, "`chat.searchParameters.hybrid.semanticRatio`"},
		{`{"chat":{"searchParameters":{"matchingStrategy":"most"}}}`, apierr.InvalidSettingsIndexChat, "most"},
		{`{"chat":{"searchParameters":{"rankingScoreThreshold":2}}}`, apierr.InvalidSettingsIndexChat, "0 to 1"},
		{`{"chat":{"documentTemplate":7}}`, apierr.InvalidChatSettingDocTemplate, "must be a string, but is 7"},
		{`{"chat":{"documentTemplate":"{{ doc.title "}}`, apierr.InvalidChatSettingDocTemplate, ""},
		{`{"chat":{"documentTemplate":"{% if doc.x %}"}}`, apierr.InvalidChatSettingDocTemplate, "Liquid"},
		{`{"chat":{"documentTemplate":"{{ doc.x | nofilter }}"}}`, apierr.InvalidChatSettingDocTemplate, ""},
		{`{"chat":{"documentTemplate":"{% include 'x' %}"}}`, apierr.InvalidChatSettingDocTemplate, "`include`"},
		{`{"chat":{"documentTemplate":"` + strings.Repeat("{%if x%}", 65) + strings.Repeat("{%endif%}", 65) + `"}}`, apierr.InvalidChatSettingDocTemplate, "64 blocks"},
		{`{"chat":`, apierr.MalformedPayload, "line 1"},
		{"{\"stopWords\":[\"\xff\"]}", apierr.MalformedPayload, "UTF-8"},
		{``, apierr.MissingPayload, "empty"},
	}
	for _, tt := range tests {
		_, err := r.svc.UpdateSettings("a", []byte(tt.body))
		wantCode(t, tt.body, err, tt.code)
		if !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %v does not say %s", tt.body, err, tt.says)
		}
	}
}

// TestSettingsRefusedLater wants a task to fail, and to change nothing, where
// what is wrong is between its values and those that were there.
func TestSettingsRefusedLater(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":10,"twoTypos":12}}}`)
	got := r.run(r.svc.UpdateSettings("a", []byte(`{"stopWords":["the"],"typoTolerance":{"minWordSizeForTypos":{"twoTypos":9}}}`)))
	if got.Status != task.Failed || got.Error.Code != apierr.InvalidSettingsTypos.String() || !strings.Contains(got.Error.Message, "10") {
		t.Errorf("task = %+v, error %+v; want it failed for 9 below 10", got, got.Error)
	}
	if got := r.setting("a", "stop-words"); got != "[]" {
		t.Errorf("stop words %s after a task that failed, want none", got)
	}
	r.settings("a", `{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":11}}}`)
	if _, err := r.svc.UpdateSettings("a b", []byte(`{}`)); !apierr.Is(err, apierr.InvalidIndexUID) {
		t.Errorf("a bad uid: %v", err)
	}
	if got := r.ids("a", search.Query{}); got != "" {
		t.Errorf("found %q in an empty index", got)
	}
}
