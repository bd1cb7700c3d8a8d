package search_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// defaults are the settings of a new index, on the wire.
const defaults = `{"displayedAttributes":["*"],"searchableAttributes":["*"],"filterableAttributes":[],"sortableAttributes":[],` +
	`"rankingRules":["words","typo","proximity","attribute","sort","exactness"],"stopWords":[],"nonSeparatorTokens":[],"separatorTokens":[],` +
	`"dictionary":[],"synonyms":{},"distinctAttribute":null,"proximityPrecision":"byWord",` +
	`"typoTolerance":{"enabled":true,"minWordSizeForTypos":{"oneTypo":5,"twoTypos":9},"disableOnWords":[],"disableOnAttributes":[],"disableOnNumbers":false},` +
	`"faceting":{"maxValuesPerFacet":100,"sortFacetValuesBy":{"*":"alpha"}},"pagination":{"maxTotalHits":1000},"embedders":{},"searchCutoffMs":null,` +
	`"localizedAttributes":null,"facetSearch":true,"prefixSearch":"indexingTime","chat":`

func TestSettingsDefaults(t *testing.T) {
	got, err := json.Marshal(settings.DefaultSettings())
	if err != nil || string(got[:min(len(got), len(defaults))]) != defaults {
		t.Errorf("defaults %s, %v; want %s…", got, err, defaults)
	}
}

// TestSettings sets each setting, in turn and over what was set before, and
// wants it back, now and after a restart.
func TestSettings(t *testing.T) {
	tests := []struct{ route, set, want string }{
		{"displayed-attributes", `["b","a","b"]`, `["b","a"]`},
		{"searchable-attributes", `["title","*"]`, `["*"]`},
		{"filterable-attributes", `["b","a*","b","*_id"]`, `["*_id","a*","b"]`},
		{
			"filterable-attributes", `["b",{"attributePatterns":["a","c*"],"features":{"filter":{"comparison":true}}},"*"]`,
			`["b",{"attributePatterns":["a","c*"],"features":{"facetSearch":false,"filter":{"equality":true,"comparison":true}}},"*"]`,
		},
		{
			"filterable-attributes", `[{"attributePatterns":["a"],"features":{"facetSearch":true,"filter":{"equality":false}}},{"attributePatterns":["b"]}]`,
			`[{"attributePatterns":["a"],"features":{"facetSearch":true,"filter":{"equality":false,"comparison":false}}},` +
				`{"attributePatterns":["b"],"features":{"facetSearch":false,"filter":{"equality":true,"comparison":false}}}]`,
		},
		{"sortable-attributes", `["year","_geo","a.b"]`, `["_geo","a.b","year"]`},
		{"ranking-rules", `["year:desc","typo","words","typo","a:b:asc"]`, `["year:desc","typo","words","a:b:asc"]`},
		{"stop-words", `["the","Of","the"]`, `["Of","the"]`},
		{"non-separator-tokens", `["@","#"]`, `["#","@"]`},
		{"separator-tokens", `["&sep","|"]`, `["\u0026sep","|"]`},
		{"dictionary", `["J. R. R.","W. E. B."]`, `["J. R. R.","W. E. B."]`},
		{"synonyms", `{"sf":["science fiction","sf"],"great":[]}`, `{"great":[],"sf":["science fiction","sf"]}`},
		{"synonyms", `{"one":["two"]}`, `{"one":["two"]}`},
		{"distinct-attribute", `"sku"`, `"sku"`},
		{"proximity-precision", `"byAttribute"`, `"byAttribute"`},
		{
			"typo-tolerance", `{"minWordSizeForTypos":{"oneTypo":3},"disableOnWords":["b","a"],"disableOnNumbers":true}`,
			`{"enabled":true,"minWordSizeForTypos":{"oneTypo":3,"twoTypos":9},"disableOnWords":["a","b"],"disableOnAttributes":[],"disableOnNumbers":true}`,
		},
		{
			"typo-tolerance", `{"enabled":false,"minWordSizeForTypos":null,"disableOnWords":null,"disableOnAttributes":["title"]}`,
			`{"enabled":false,"minWordSizeForTypos":{"oneTypo":5,"twoTypos":9},"disableOnWords":[],"disableOnAttributes":["title"],"disableOnNumbers":true}`,
		},
		{"faceting", `{"maxValuesPerFacet":5}`, `{"maxValuesPerFacet":5,"sortFacetValuesBy":{"*":"alpha"}}`},
		{"faceting", `{"sortFacetValuesBy":{"genre":"count","*":"count"}}`, `{"maxValuesPerFacet":5,"sortFacetValuesBy":{"*":"count","genre":"count"}}`},
		{"faceting", `{"maxValuesPerFacet":null,"sortFacetValuesBy":{"genre":null,"*":null,"x":"alpha"}}`, `{"maxValuesPerFacet":100,"sortFacetValuesBy":{"*":"alpha","x":"alpha"}}`},
		{"faceting", `{"sortFacetValuesBy":null}`, `{"maxValuesPerFacet":100,"sortFacetValuesBy":{"*":"alpha"}}`},
		{"pagination", `{"maxTotalHits":5000}`, `{"maxTotalHits":5000}`},
		{"search-cutoff-ms", `150`, `150`},
		{
			"localized-attributes", `[{"attributePatterns":["*_ja","ja.*"],"locales":["jpn","ja"]},{"attributePatterns":["*"],"locales":[]}]`,
			`[{"attributePatterns":["*_ja","ja.*"],"locales":["jpn","ja"]},{"attributePatterns":["*"],"locales":[]}]`,
		},
		{"facet-search", `false`, `false`},
		{"prefix-search", `"disabled"`, `"disabled"`},
	}
	r := newRig(t)
	last := map[string]string{}
	for _, tt := range tests {
		n, ok, err := r.svc.UpdateSetting("a", tt.route, []byte(tt.set))
		if !ok {
			t.Fatalf("no setting %s", tt.route)
		}
		r.ok(n, err)
		if got := r.setting("a", tt.route); got != tt.want {
			t.Errorf("%s set to %s is %s, want %s", tt.route, tt.set, got, tt.want)
		}
		last[tt.route] = tt.want
	}
	r.reopen()
	for route, want := range last {
		if got := r.setting("a", route); got != want {
			t.Errorf("after a restart %s is %s, want %s", route, got, want)
		}
	}
	for route := range settings.SettingRoutes() {
		n, _, err := r.svc.UpdateSetting("a", route, []byte("null"))
		r.ok(n, err)
	}
	got, err := json.Marshal(mustSettings(t, r, "a"))
	if want, _ := json.Marshal(settings.DefaultSettings()); err != nil || string(got) != string(want) {
		t.Errorf("each reset: %s, %v; want %s", got, err, want)
	}
	for route, patch := range settings.SettingRoutes() {
		if want := route == "typo-tolerance" || route == "faceting" || route == "pagination" || route == "embedders" || route == "chat"; patch != want {
			t.Errorf("%s is updated by PATCH: %v, want %v", route, patch, want)
		}
	}
}
