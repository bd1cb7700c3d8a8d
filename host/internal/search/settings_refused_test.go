package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
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
		{`{"foreignKeys":[{"fieldName":"a"}]}`, apierr.BadRequest, "The setting `foreignKeys` is not offered"},
		{`{"stopWord":[]}`, apierr.BadRequest, "did you mean `stopWords`?"},
		{`{"StopWords":[]}`, apierr.BadRequest, "did you mean `stopWords`?"},
		{`{"stopWords":[],"stopWords":[]}`, apierr.BadRequest, "`stopWords` comes twice"},
		{`{"searchableAttributes":"x"}`, indexerr.InvalidSettingsSearchable, "must be an array of attribute names, but is \"x\""},
		{`{"searchableAttributes":[1]}`, indexerr.InvalidSettingsSearchable, "`searchableAttributes[0]` must be a string that is not empty, but is 1"},
		{`{"displayedAttributes":{}}`, indexerr.InvalidSettingsDisplayed, "an object"},
		{`{"displayedAttributes":["a*"]}`, indexerr.InvalidSettingsDisplayed, `"a*"`},
		{`{"displayedAttributes":["a","` + strings.Repeat("x", 1001) + `"]}`, indexerr.InvalidSettingsDisplayed, "`displayedAttributes[1]` has 1001 bytes"},
		{`{"filterableAttributes":["a",""]}`, indexerr.InvalidSettingsFilterable, "`filterableAttributes[1]`"},
		{`{"filterableAttributes":["a*b"]}`, indexerr.InvalidSettingsFilterable, `at the beginning, at the end or alone`},
		{`{"filterableAttributes":[{"features":{}}]}`, indexerr.InvalidSettingsFilterable, "`filterableAttributes[0].attributePatterns` is missing"},
		{`{"filterableAttributes":[{"attributePatterns":["a*b"]}]}`, indexerr.InvalidSettingsFilterable, "`filterableAttributes[0].attributePatterns[0]`"},
		{`{"filterableAttributes":[{"attributePatterns":["a"],"features":{"facetSearch":1}}]}`, indexerr.InvalidSettingsFilterable, "`filterableAttributes[0].features.facetSearch` must be true or false, but is 1"},
		{`{"filterableAttributes":[{"attributePatterns":["a"],"features":{"filter":{"equalty":true}}}]}`, indexerr.InvalidSettingsFilterable, "Unknown field `filterableAttributes[0].features.filter.equalty`: did you mean `equality`?"},
		{`{"sortableAttributes":["a*"]}`, indexerr.InvalidSettingsSortable, "patterns are not taken"},
		{`{"sortableAttributes":["_geoPoint(1,2)"]}`, indexerr.InvalidSettingsSortable, "`_geo`"},
		{`{"rankingRules":["wordz"]}`, indexerr.InvalidSettingsRankingRules, "did you mean `words`?"},
		{`{"rankingRules":["year:up"]}`, indexerr.InvalidSettingsRankingRules, "`attribute:asc`"},
		{`{"rankingRules":[":asc"]}`, indexerr.InvalidSettingsRankingRules, "`rankingRules[0]`"},
		{`{"rankingRules":["_geoPoint(1,2):asc"]}`, indexerr.InvalidSettingsRankingRules, "`sort`"},
		{`{"stopWords":"the"}`, indexerr.InvalidSettingsStopWords, "`stopWords`"},
		{`{"separatorTokens":[null]}`, indexerr.InvalidSettingsSeparators, "`separatorTokens[0]`"},
		{`{"nonSeparatorTokens":[[]]}`, indexerr.InvalidSettingsNonSeparators, "an array"},
		{`{"dictionary":[""]}`, indexerr.InvalidSettingsDictionary, "`dictionary[0]`"},
		{`{"synonyms":[]}`, indexerr.InvalidSettingsSynonyms, "must be an object, but is an array"},
		{`{"synonyms":{"a":"b"}}`, indexerr.InvalidSettingsSynonyms, "`synonyms.a` must be an array of words"},
		{`{"synonyms":{"a":["!!"]}}`, indexerr.InvalidSettingsSynonyms, "`synonyms.a[0]`"},
		{`{"synonyms":{"--":["b"]}}`, indexerr.InvalidSettingsSynonyms, `"--"`},
		{`{"distinctAttribute":["a"]}`, indexerr.InvalidSettingsDistinct, "an attribute's name or null"},
		{`{"distinctAttribute":""}`, indexerr.InvalidSettingsDistinct, "an attribute's name or null"},
		{`{"proximityPrecision":"byPhrase"}`, indexerr.InvalidSettingsProximity, `"byWord" or "byAttribute", but is "byPhrase"`},
		{`{"typoTolerance":true}`, indexerr.InvalidSettingsTypos, "an object"},
		{`{"typoTolerance":{"enabeld":true}}`, indexerr.InvalidSettingsTypos, "did you mean `enabled`?"},
		{`{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":256}}}`, indexerr.InvalidSettingsTypos, "`typoTolerance.minWordSizeForTypos.oneTypo` must be a whole number from 0 to 255, but is 256"},
		{`{"typoTolerance":{"minWordSizeForTypos":{"twoTypos":7.5}}}`, indexerr.InvalidSettingsTypos, "7.5"},
		{`{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":9,"twoTypos":8}}}`, indexerr.InvalidSettingsTypos, "at most `twoTypos`"},
		{`{"faceting":{"maxValuesPerFacet":-1}}`, indexerr.InvalidSettingsFaceting, "-1"},
		{`{"faceting":{"sortFacetValuesBy":{"a":"size"}}}`, indexerr.InvalidSettingsFaceting, "`faceting.sortFacetValuesBy.a`"},
		{`{"pagination":{"maxTotalHits":"10"}}`, indexerr.InvalidSettingsPagination, `"10"`},
		{`{"pagination":{"maxTotalHits":1e400}}`, indexerr.InvalidSettingsPagination, "1e400"},
		{`{"embedders":[]}`, indexerr.InvalidSettingsEmbedders, "an object"},
		{`{"embedders":{"a.b":{}}}`, indexerr.InvalidSettingsEmbedders, `"a.b"`},
		{`{"embedders":{"e":{"source":"gpt"}}}`, indexerr.InvalidSettingsEmbedders, `is "gpt", which no loaded plugin makes vectors for: it may be`},
		{`{"embedders":{"e":{"url":"ftp://x"}}}`, indexerr.InvalidSettingsEmbedders, "`embedders.e.url`"},
		{`{"embedders":{"e":{"url":"https://me:word@x/"}}}`, indexerr.InvalidSettingsEmbedders, "without user"},
		{`{"embedders":{"e":{"apiKey":["sk-123"]}}}`, indexerr.InvalidSettingsEmbedders, "an array"},
		{`{"embedders":{"e":{"dimensions":0}}}`, indexerr.InvalidSettingsEmbedders, "from 1"},
		{`{"embedders":{"e":{"request":{"input":"text"}}}}`, indexerr.InvalidSettingsEmbedders, "{{text}}"},
		{`{"embedders":{"e":{"response":["{{embedding}}","{{embedding}}"]}}}`, indexerr.InvalidSettingsEmbedders, "2 times"},
		{`{"embedders":{"e":{"headers":{"Host":"x"}}}}`, indexerr.InvalidSettingsEmbedders, "`embedders.e.headers.Host`"},
		{`{"embedders":{"e":{"headers":{"a":"b\nc"}}}}`, indexerr.InvalidSettingsEmbedders, "one line"},
		{`{"embedders":{"e":{"documentTemplate":"{{ x "}}}`, indexerr.InvalidSettingsEmbedders, "`embedders.e.documentTemplate`"},
		{`{"embedders":{"e":{"distribution":{"mean":0.5}}}}`, indexerr.InvalidSettingsEmbedders, "`sigma`"},
		{`{"embedders":{"e":{"apiKey":"abXXXX..."}}}`, indexerr.InvalidSettingsEmbedders, "not the key itself"},
		{`{"searchCutoffMs":-5}`, indexerr.InvalidSettingsCutoff, "-5"},
		{`{"localizedAttributes":{}}`, indexerr.InvalidSettingsLocalized, "an array"},
		{`{"localizedAttributes":[{"locales":["jpn"]}]}`, indexerr.InvalidSettingsLocalized, "`localizedAttributes[0].attributePatterns` is missing"},
		{`{"localizedAttributes":[{"attributePatterns":["a"]}]}`, indexerr.InvalidSettingsLocalized, "`localizedAttributes[0].locales` is missing"},
		{`{"localizedAttributes":[{"attributePatterns":["a"],"locales":["Japanese"]}]}`, indexerr.InvalidSettingsLocalized, `"Japanese"`},
		{`{"localizedAttributes":[{"attributePatterns":["a"],"locales":["JPN"]}]}`, indexerr.InvalidSettingsLocalized, `"JPN"`},
		{`{"facetSearch":"yes"}`, indexerr.InvalidSettingsFacetSearch, "true or false"},
		{`{"prefixSearch":"searchTime"}`, indexerr.InvalidSettingsPrefixSearch, `"indexingTime" or "disabled"`},
		{`{"chat":[]}`, indexerr.InvalidSettingsIndexChat, "an array"},
		{`{"chat":{"descripton":""}}`, indexerr.InvalidSettingsIndexChat, "did you mean `description`?"},
		{`{"chat":{"description":1}}`, indexerr.InvalidSettingsIndexChat, "`chat.description` must be a string, but is 1"},
		{`{"chat":{"documentTemplateMaxBytes":0}}`, indexerr.InvalidSettingsIndexChat, "from 1"},
		{`{"chat":{"documentTemplateMaxBytes":1e9}}`, indexerr.InvalidSettingsIndexChat, "from 1"},
		{`{"chat":{"searchParameters":{"limit":-1}}}`, indexerr.InvalidSettingsIndexChat, "`chat.searchParameters.limit`"},
		{`{"chat":{"searchParameters":{"q":""}}}`, indexerr.InvalidSettingsIndexChat, "`chat.searchParameters.q`"},
		{`{"chat":{"searchParameters":{"sort":"year:asc"}}}`, indexerr.InvalidSettingsIndexChat, "an array of sort criteria"},
		{`{"chat":{"searchParameters":{"sort":["year"]}}}`, indexerr.InvalidSettingsIndexChat, "`chat.searchParameters.sort[0]`"},
		{`{"chat":{"searchParameters":{"distinct":["a"]}}}`, indexerr.InvalidSettingsIndexChat, "`chat.searchParameters.distinct`"},
		{`{"chat":{"searchParameters":{"attributesToSearchOn":["a*"]}}}`, indexerr.InvalidSettingsIndexChat, "`chat.searchParameters.attributesToSearchOn[0]`"},
		{`{"chat":{"searchParameters":{"hybrid":{"embedder":"e","semanticRatio":1.5}}}}`, indexerr.InvalidSettingsIndexChat, "`chat.searchParameters.hybrid.semanticRatio`"},
		{`{"chat":{"searchParameters":{"matchingStrategy":"most"}}}`, indexerr.InvalidSettingsIndexChat, "most"},
		{`{"chat":{"searchParameters":{"rankingScoreThreshold":2}}}`, indexerr.InvalidSettingsIndexChat, "0 to 1"},
		{`{"chat":{"documentTemplate":7}}`, indexerr.InvalidChatSettingDocTemplate, "must be a string, but is 7"},
		{`{"chat":{"documentTemplate":"{{ doc.title "}}`, indexerr.InvalidChatSettingDocTemplate, ""},
		{`{"chat":{"documentTemplate":"{% if doc.x %}"}}`, indexerr.InvalidChatSettingDocTemplate, "Liquid"},
		{`{"chat":{"documentTemplate":"{{ doc.x | nofilter }}"}}`, indexerr.InvalidChatSettingDocTemplate, ""},
		{`{"chat":{"documentTemplate":"{% include 'x' %}"}}`, indexerr.InvalidChatSettingDocTemplate, "`include`"},
		{`{"chat":{"documentTemplate":"` + strings.Repeat("{%if x%}", 65) + strings.Repeat("{%endif%}", 65) + `"}}`, indexerr.InvalidChatSettingDocTemplate, "64 blocks"},
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
	if got.Status != task.Failed || got.Error.Code != indexerr.InvalidSettingsTypos.String() || !strings.Contains(got.Error.Message, "10") {
		t.Errorf("task = %+v, error %+v; want it failed for 9 below 10", got, got.Error)
	}
	if got := r.setting("a", "stop-words"); got != "[]" {
		t.Errorf("stop words %s after a task that failed, want none", got)
	}
	r.settings("a", `{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":11}}}`)
	if _, err := r.svc.UpdateSettings("a b", []byte(`{}`)); !apierr.Is(err, indexerr.InvalidIndexUID) {
		t.Errorf("a bad uid: %v", err)
	}
	if got := r.ids("a", search.Query{}); got != "" {
		t.Errorf("found %q in an empty index", got)
	}
}
