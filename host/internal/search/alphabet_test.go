package search_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// TestLocalizedAttributes wants letters told apart as the languages of an
// attribute do, by words, phrases, synonyms and marks, and those of a query to
// choose among them.
func TestLocalizedAttributes(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["sv","da","tr","ja","any","both"],"synonyms":{"öl":["bärs"]},"localizedAttributes":[
		{"attributePatterns":["sv"],"locales":["swe"]},{"attributePatterns":["d*"],"locales":["da"]},{"attributePatterns":["tr"],"locales":["tur"]},
		{"attributePatterns":["ja"],"locales":["jpn"]},{"attributePatterns":["both"],"locales":["sv","eng"]}]}`)
	r.add("a", `[{"id":1,"sv":"år"},{"id":2,"sv":"ar"},{"id":3,"any":"år"},{"id":4,"both":"år"},{"id":5,"both":"ar"},
		{"id":11,"sv":"kallt öl"},{"id":12,"sv":"ljus bärs"},{"id":13,"sv":"bars"},{"id":14,"sv":"Öl!"},
		{"id":21,"da":"Ærø"},{"id":22,"any":"Ærø"},{"id":31,"tr":"ISPARTA ışık"},{"id":32,"tr":"İspanya"},{"id":33,"any":"Isparta"},
		{"id":41,"ja":"かき"},{"id":42,"ja":"がき"},{"id":43,"any":"がき"},{"id":51,"sv":"café déjà"},{"id":61,"sv":"smörgåsbord"},{"id":62,"sv":"smör gåsbord"}]`)
	for _, tt := range []struct {
		name, q string
		locales []string
		want    string
	}{
		{"a letter of its own", "år ", nil, "1 3 4 5"},
		{"the letter without", "ar ", nil, "2 3 4 5"},
		{"one of an attribute's languages", "år ", []string{"swe"}, "1 3 4"},
		{"the other", "år ", []string{"en"}, "1 3 4 5"},
		{"the letter without, in one language", "ar ", []string{"sv"}, "2 3 4 5"}, // 4 is written so in English
		{"a language of no attribute", "år ", []string{"pol"}, "1 3 4 5"},
		{"decomposed", "a\u030ar ", nil, "1 3 4 5"},
		{"a capital", "ÅR ", []string{"swe"}, "1 3 4"},
		{"synonyms", "öl ", nil, "14 11 12"},
		{"a phrase", `"kallt öl"`, nil, "11"},
		{"a phrase in other letters", `"kallt ol"`, nil, ""},
		{"Danish", "ærø", nil, "21 22"},
		{"Danish, as others write it", "aero", nil, "22"},
		{"Turkish capitals", "ısparta", nil, "31 33"},
		{"Turkish, typed without", "isparta ", []string{"tur"}, "33"},
		{"Turkish dotted", "ispanya", nil, "32"},
		{"voiced", "がき", nil, "42 43"},
		{"voiceless", "かき", nil, "41 43"},
		{"accents of other languages", "cafe deja ", []string{"swe"}, "51"},
		{"a prefix", "smörg", nil, "61 62"},               // the second a typo away
		{"a prefix in other letters", "smorg", nil, "61"}, // a typo away
		{"words in one", "smör gås", nil, "62 61"},
		{"words apart", "smörgåsbor ", nil, "61"},
		{"excluded", "ljus -bärs", nil, ""},
		{"excluded in other letters", "ljus -bars", nil, "12"},
	} {
		q := search.Query{Q: tt.q, Locales: tt.locales, MatchingStrategy: settings.All}
		if got := r.ids("a", q); got != tt.want {
			t.Errorf("%s: %q in %v found %q, want %q", tt.name, tt.q, tt.locales, got, tt.want)
		}
	}
}

// TestLocalizedMarks wants what is shown as found to be what was found.
func TestLocalizedMarks(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"localizedAttributes":[{"attributePatterns":["sv"],"locales":["swe"]}]}`)
	r.add("a", `[{"id":1,"sv":"ett år, och ar därtill","any":"ett år, och ar därtill"}]`)
	for q, want := range map[string]string{
		"år ":      `{"id":"1","sv":"ett <em>år</em>, och ar därtill","any":"ett <em>år</em>, och <em>ar</em> därtill"}`,
		"ar ":      `{"id":"1","sv":"ett år, och <em>ar</em> därtill","any":"ett <em>år</em>, och <em>ar</em> därtill"}`,
		"där":      `{"id":"1","sv":"ett år, och ar <em>där</em>till","any":"ett år, och ar <em>där</em>till"}`,
		`"ett år"`: `{"id":"1","sv":"<em>ett år</em>, och ar därtill","any":"<em>ett år</em>, och ar därtill"}`,
	} {
		hits := r.search("a", search.Query{Q: q, Format: highlight.Format{Highlight: []string{"*"}}}).Hits
		if len(hits) != 1 || string(hits[0].Formatted) != want {
			t.Errorf("%q: %s, want %s", q, hits[0].Formatted, want)
		}
	}
}

// TestLocalizedRebuild wants a folder to be built anew where, and only where,
// the languages read letters otherwise.
func TestLocalizedRebuild(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"sv":"år"},{"id":2,"sv":"ar"}]`)
	before := r.folder()
	for _, s := range []struct {
		patch   string
		rebuilt bool
		finds   string // for år
	}{
		{`{"localizedAttributes":[{"attributePatterns":["*"],"locales":["eng","deu","cmn"]}]}`, false, "1 2"},
		{`{"localizedAttributes":[{"attributePatterns":["sv"],"locales":["swe"]}]}`, true, "1"},
		{`{"localizedAttributes":[{"attributePatterns":["sv"],"locales":["fi"]}]}`, false, "1"},
		{`{"localizedAttributes":[{"attributePatterns":["s*"],"locales":["jpn"]},{"attributePatterns":["sv"],"locales":["swe"]}]}`, true, "1 2"},
		{`{"localizedAttributes":null}`, true, "1 2"},
	} {
		r.settings("a", s.patch)
		r.settled("a")
		after := r.folder()
		if rebuilt := after != before; rebuilt != s.rebuilt {
			t.Errorf("%s built a new folder: %v, want %v", s.patch, rebuilt, s.rebuilt)
		}
		if got := r.ids("a", search.Query{Q: "år "}); got != s.finds {
			t.Errorf("%s: år found %q, want %q", s.patch, got, s.finds)
		}
		before = after
	}
}
