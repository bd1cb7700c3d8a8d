package settings

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// TestApply applies a body to the settings of a new index: what is right can be read back, and what is wrong
// names its place.
func TestApply(t *testing.T) {
	for _, tt := range []struct{ body, route, want, says string }{
		{`{"rankingRules":["words","price:desc"]}`, "ranking-rules", `["words","price:desc"]`, ""},
		{`{"rankingRules":null}`, "ranking-rules", `["words","typo","proximity","attribute","sort","exactness"]`, ""},
		{`{"rankingRules":["price:up"]}`, "", "", "rankingRules[0]"},
		{`{"rankingRules":["words",3]}`, "", "", "rankingRules[1]"},
		{`{"stopWords":["the","a","the"]}`, "stop-words", `["a","the"]`, ""},
		{`{"stopWords":"the"}`, "", "", "stopWords"},
		{`{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":3}}}`, "typo-tolerance", `"oneTypo":3`, ""},
		{`{"typoTolerance":{"minWordSizeForTypos":{"oneTypo":9,"twoTypos":4}}}`, "", "", "twoTypos"},
		{`{"pagination":{"maxTotalHits":7}}`, "pagination", `{"maxTotalHits":7}`, ""},
		{`{"faceting":{"sortFacetValuesBy":{"*":"count"}}}`, "faceting", `"*":"count"`, ""},
		{`{"faceting":{"sortFacetValuesBy":{"*":"size"}}}`, "", "", "sortFacetValuesBy"},
		{`{"synonyms":{"car":["auto"]}}`, "synonyms", `{"car":["auto"]}`, ""},
		{`{"searchCutoffMs":150}`, "search-cutoff-ms", `150`, ""},
		{`{"localizedAttributes":[{"attributePatterns":["*_ja"]}]}`, "", "", "localizedAttributes[0].locales"},
		{`{"stopWord":[]}`, "", "", "stopWord"},
		{`[]`, "", "", "object"},
	} {
		s := DefaultSettings()
		if err := s.Apply([]byte(tt.body)); tt.says != "" {
			if err == nil || apierr.From(err).Code.Status() != 400 || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want an error of the client that names %s", tt.body, err, tt.says)
			}
			continue
		} else if err != nil {
			t.Errorf("%s: %v", tt.body, err)
		}
		if got, ok := s.Setting(tt.route); !ok || !strings.Contains(string(got), tt.want) {
			t.Errorf("%s: %s is %s, %v, want %s", tt.body, tt.route, got, ok, tt.want)
		}
	}
}

// TestKept reads back what is written of settings, and finds each by its route.
func TestKept(t *testing.T) {
	s := DefaultSettings()
	if err := s.Apply([]byte(`{"filterableAttributes":["color",{"attributePatterns":["size.*"],"features":{"facetSearch":false,"filter":{"equality":true,"comparison":true}}}],"distinctAttribute":"sku","embedders":{"e":{"source":"userProvided","dimensions":3}}}`)); err != nil {
		t.Fatal(err)
	}
	kept, err := s.Kept()
	if err != nil {
		t.Fatal(err)
	}
	var again Settings
	if err := json.Unmarshal(kept, &again); err != nil {
		t.Fatal(err)
	}
	if twice, err := again.Kept(); err != nil || string(twice) != string(kept) {
		t.Errorf("read back they are %s, %v, want %s", twice, err, kept)
	}
	if equality, comparison := again.FilterFeatures("size.eu"); !equality || !comparison {
		t.Errorf("size.eu: equality %v, comparison %v, want both", equality, comparison)
	}
	if again.Filterable("weight") || !again.Filterable("color") {
		t.Errorf("weight: %v, color: %v, want color alone to be filterable", again.Filterable("weight"), again.Filterable("color"))
	}
	routes := SettingRoutes()
	for _, name := range SettingNames() {
		found := false
		for route := range routes {
			n, ok := SettingAt(route)
			found = found || ok && n == name
		}
		if !found {
			t.Errorf("setting %s has no route", name)
		}
	}
}

// TestRules puts the rules of a search in order: sort where it stands, words first where a rule is about texts.
func TestRules(t *testing.T) {
	s := DefaultSettings()
	if err := s.Apply([]byte(`{"rankingRules":["typo","sort","price:asc","words"],"sortableAttributes":["price","date"]}`)); err != nil {
		t.Fatal(err)
	}
	criteria, err := s.SortRules([]string{"date:desc"})
	if err != nil || len(criteria) != 1 || criteria[0].Kind != FieldRule || !criteria[0].Descending {
		t.Fatalf("date:desc is %+v, %v", criteria, err)
	}
	var kinds []CriterionKind
	for _, r := range s.Rules(criteria, true, Last) {
		kinds = append(kinds, r.Kind)
	}
	if len(kinds) < 4 || kinds[0] != WordsRule || kinds[1] != TypoRule || kinds[2] != FieldRule || kinds[3] != FieldRule {
		t.Errorf("with words the rules are %v, want words, typo, then the two fields", kinds)
	}
	for _, r := range s.Rules(criteria, false, Last) {
		if r.OfTexts() {
			t.Errorf("without words there is the rule %v, which is about texts", r.Kind)
		}
	}
	for _, bad := range []string{"date", "date:up", "color:asc", "_geoPoint(1):asc"} {
		if c, err := s.SortRules([]string{bad}); err == nil {
			t.Errorf("sort by %q: %+v, want an error", bad, c)
		}
	}
}

// TestHeaderSecrets takes each header for a secret that does not only name where the key goes.
func TestHeaderSecrets(t *testing.T) {
	for text, secret := range map[string]bool{"": false, "${apiKey}": false, "Bearer ${apiKey}": false, "Bearer abc": true, "x ${apiKey}": true} {
		if got := (Header{text: text}).secret(); got != secret {
			t.Errorf("header %q: secret %v, want %v", text, got, secret)
		}
	}
}
