package search_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/search"
)

const books = `[
	{"id":1,"title":"The Left Hand of Darkness","author":"Ursula K. Le Guin","year":1969,"tags":["science fiction","gender"]},
	{"id":2,"title":"A Wizard of Earthsea","author":"Ursula K. Le Guin","year":1968,"tags":["fantasy"]},
	{"id":3,"title":"Solaris","author":"Stanisław Lem","year":1961,"tags":["science fiction"]},
	{"id":4,"title":"The Cyberiad","author":"Stanisław Lem","year":1965,"tags":[],"note":"fables of darkness and light, the left and the right hand"},
	{"id":5,"title":"Heart of Darkness","author":"Joseph Conrad","year":1899,"tags":null},
	{"id":6,"title":"Darkness","author":"Anonymous","lang":{"code":"en"}},
	{"id":7,"title":"Straße und Café","author":"Übel Ærø","year":2001.5,"on":true}
]`

func TestSearchFinds(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	tests := []struct{ name, q, want string }{
		{"word in order of place", "darkness", "6 1 4 5"},
		{"two words", "left hand", "1 4"},
		{"case and accents", "STANISLAW", "3 4"},
		{"accent typed", "café", "7"},
		{"accent left out", "cafe", "7"},
		{"letters without decomposition", "strasse aero", "7"},
		{"one typo from five letters", "solarsi", "3"},
		{"one typo too many for five letters", "slorsi", ""},
		{"two typos from nine letters", "cyberaid", "4"},
		{"no typo below five letters", "hnad", ""},
		{"wrong first letter counts twice", "xolaris", ""},
		{"prefix of the last word", "earth", "2"},
		{"prefix with a typo", "eathsea", "2"},
		{"no prefix before the last word", "eart darkness", "4 5 6 1"}, // without the second it would be 2
		{"no prefix before a space", "earth ", ""},
		{"phrase", `"heart of darkness"`, "5"},
		{"phrase across nothing else", `"hand left"`, ""},
		{"phrase without an end", `"left hand of`, "1"},
		{"excluded word", "darkness -heart", "6 1 4"},
		{"excluded phrase", `darkness -"left hand"`, "6 4 5"},
		{"excluded alone", "-darkness -lem", "2 7"},
		{"words dropped from the right", "darkness conrad wombat", "5 6 1 4"},
		{"an unknown word dropped first", "wombat conrad hnad", "5"},
		{"an unknown phrase never", `"wombat" conrad`, ""},
		{"number", "1961", "3"},
		{"nested", "en", "6"},
		{"nothing", "wombat", ""},
		{"signs only", "?!", "1 2 3 4 5 6 7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.ids("books", search.Query{Q: tt.q}); got != tt.want {
				t.Errorf("search %q found %q, want %q", tt.q, got, tt.want)
			}
		})
	}
}

func TestFilterFinds(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	r.settings("books", `{"filterableAttributes":["author","year","tags","lang","on","title"]}`)
	tests := []struct{ filter, want string }{
		{`year = 1961`, "3"},
		{`year = 1961.0`, "3"},
		{`year != 1961`, "1 2 4 5 6 7"},
		{`year > 1965`, "1 2 7"},
		{`year >= 1965`, "1 2 4 7"},
		{`year < 1961`, "5"},
		{`year <= 1961`, "3 5"},
		{`year 1961 TO 1968`, "2 3 4"},
		{`year = 2001.5`, "7"},
		{`author = 'stanisław LEM'`, "3 4"},
		{`author IN ["Joseph Conrad", 'Anonymous']`, "5 6"},
		{`author NOT IN ["Joseph Conrad", 'Anonymous']`, "1 2 3 4 7"},
		{`author IN []`, ""},
		{`tags = fantasy`, "2"},
		{`tags = "science fiction" AND NOT tags = gender`, "3"},
		{`tags EXISTS`, "1 2 3 4 5"},
		{`tags NOT EXISTS`, "6 7"},
		{`tags IS NULL`, "5"},
		{`tags IS NOT NULL`, "1 2 3 4 6 7"},
		{`tags IS EMPTY`, "4"},
		{`lang.code = en`, "6"},
		{`lang EXISTS`, "6"},
		{`on = true`, "7"},
		{`year = 1961 OR year = 1965 AND author = nobody`, "3"},
		{`(year = 1961 OR year = 1965) AND author = "Stanisław Lem"`, "3 4"},
		{`NOT (year < 1965 OR tags EXISTS)`, "6 7"},
		{`title CONTAINS ark`, "1 5 6"},
		{`title STARTS WITH dark`, "6"},
		{`title NOT CONTAINS ark`, "2 3 4 7"},
	}
	for _, tt := range tests {
		t.Run(tt.filter, func(t *testing.T) {
			if got := r.ids("books", search.Query{Filter: filter(tt.filter)}); got != tt.want {
				t.Errorf("filter %s found %q, want %q", tt.filter, got, tt.want)
			}
		})
	}
	t.Run("array", func(t *testing.T) {
		got := r.ids("books", search.Query{Filter: []byte(`[["year=1961","year=1965"],"author = 'Stanisław Lem'"]`)})
		if got != "3 4" {
			t.Errorf("found %q, want 3 4", got)
		}
	})
}
