package search_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
)

func TestMatchingStrategy(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"]}`)
	r.add("a", `[{"id":1,"text":"big fat liar"},{"id":2,"text":"big fat"},{"id":3,"text":"big"},{"id":4,"text":"liar"},{"id":5,"text":"fat liar"},{"id":6,"text":"big big"}]`)
	for strategy, want := range map[settings.Strategy]string{
		"":                 "1 2 3 6",
		settings.Last:      "1 2 3 6",
		settings.All:       "1",
		settings.Frequency: "1 5",         // big is in the most; the others, in as few, both stay
		settings.Any:       "1 5 2 4 3 6", // of 4 and 3 each has one word, and big is in the most
	} {
		if got := r.ids("a", search.Query{Q: "big fat liar ", MatchingStrategy: strategy}); got != want {
			t.Errorf("strategy %q found %q, want %q", strategy, got, want)
		}
	}
}

// TestFrequencyOrder wants a frequent word to go before a rarer one only where it is
// typed behind that, and documents with as many words to be ranked together.
func TestFrequencyOrder(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"]}`)
	r.add("a", `[{"id":1,"text":"gamma beta"},{"id":2,"text":"alpha beta"},{"id":3,"text":"gamma"},{"id":4,"text":"gamma"},
		{"id":5,"text":"alpha"},{"id":6,"text":"alpha"},{"id":7,"text":"alpha"},{"id":8,"text":"alpha"}]`)
	for q, want := range map[string]string{
		"alpha beta gamma ": "2 1", // two words each, and those of 2 stand in order
		"gamma beta alpha ": "1 2", // without gamma alpha does not count
	} {
		if got := r.ids("a", search.Query{Q: q, MatchingStrategy: settings.Frequency}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
}

// What stands for several words is found where some of them alone may go.
func TestFrequencyOfSynonyms(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"synonyms":{"sci fi":["science fiction"]}}`)
	r.add("a", `[{"id":1,"text":"science fiction"},{"id":2,"text":"fine"},{"id":3,"text":"first"},{"id":4,"text":"film"}]`)
	if got := r.ids("a", search.Query{Q: "sci fi", MatchingStrategy: settings.Frequency}); got != "1" {
		t.Errorf("found %q, want 1", got)
	}
}

// TestMatchAny wants any word to do, in each way in which a document may have it, phrases to be had, and
// scores to fall with the order.
func TestMatchAny(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"synonyms":{"car":["automobile club"]}}`)
	r.add("a", `[{"id":1,"text":"how to brew tea"},{"id":2,"text":"how to grow roses"},{"id":3,"text":"starwars"},{"id":4,"text":"an automobile club"},
		{"id":5,"text":"how to sleep"},{"id":6,"text":"how nice"},{"id":7,"text":"wash the dishes"},{"id":8,"text":"star of the sea"}]`)
	for q, want := range map[string]string{
		"which tea how to brew": "1 2 5 6",
		"how do roses grow":     "2 1 5 6",
		"zzzz":                  "",
		"star wars ":            "3 8", // written in one
		"my car ":               "4",
		`"how to" roses`:        "2 1 5", // the phrase is asked for
		`"how to" zzzz`:         "1 2 5",
		`"no such" roses`:       "",
		"roses -how":            "",
		"sea dishes -star ":     "7",
		"brew brew brew star ":  "1 8",
	} {
		if got := r.ids("a", search.Query{Q: q, MatchingStrategy: settings.Any}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
	last := 1.0
	for _, h := range r.search("a", search.Query{Q: "how to brew roses", MatchingStrategy: settings.Any}).Hits {
		if h.Score > last || h.Score <= 0 {
			t.Errorf("document %s has score %v behind %v", h.ID, h.Score, last)
		}
		last = h.Score
	}
}

// TestUnknownWords wants words that no document in reach has to be dropped
// before any other where else there would be no hit at all, whatever their place,
// and documents out of reach to tell nothing.
func TestUnknownWords(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"filterableAttributes":["for"],"synonyms":{"nil":["fat"]}}`)
	r.add("a", `[{"id":1,"text":"big fat liar","for":"me"},{"id":2,"text":"big","for":"me"},{"id":3,"text":"fat","for":"me"},{"id":4,"text":"zebra","for":"you"}]`)
	for _, strategy := range []settings.Strategy{settings.Last, settings.Frequency} {
		for q, want := range map[string]string{
			"qqq big ":         "1 2",
			"qqq zzz big vvv ": "1 2",
			"zebra big ":       "", // there is one, which the filter leaves out
			"qqq ":             "",
			"qqq zzz ":         "",
			`"qqq" big `:       "",
		} {
			if got := r.ids("a", search.Query{Q: q, MatchingStrategy: strategy, Filter: filter("for = me")}); got != want {
				t.Errorf("strategy %s: %q found %q, want %q", strategy, q, got, want)
			}
		}
	}
	mine := tenant(t, `{"a":{"filter":"for = me"}}`)
	if res, err := r.svc.Search(t.Context(), mine, "a", search.Query{Q: "zebra big "}); err != nil || len(res.Hits) != 2 {
		t.Errorf("a word that hidden documents alone have: %+v, %v; want two hits", res, err)
	}
	// Known by its synonym, and by frequency as rare as the other.
	for strategy, want := range map[settings.Strategy]string{settings.Last: "1 3", settings.Frequency: "1"} {
		if got := r.ids("a", search.Query{Q: "nil big ", MatchingStrategy: strategy, Filter: filter("for = me")}); got != want {
			t.Errorf("strategy %s: found %q, want %q", strategy, got, want)
		}
	}
	if got := r.ids("a", search.Query{Q: "qqq big ", MatchingStrategy: settings.All}); got != "" {
		t.Errorf("strategy all dropped a word and found %q", got)
	}
}

// TestUnknownWordsElsewhere finds nothing for words that documents have in attributes
// which the search leaves out, as in Meilisearch: only what no document has is dropped.
func TestUnknownWordsElsewhere(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["a","b"],"filterableAttributes":["id"]}`)
	r.add("a", `[{"id":1,"a":"big cat","b":"walrus"},{"id":2,"a":"small cat","b":"big"},{"id":3,"a":"other","b":"planetarium"}]`)
	for q, want := range map[string]string{
		"walrus cat ":          "",
		"walrsu cat ":          "", // with a typo
		"wal cat ":             "1 2",
		"cat walrus ":          "1 2", // the last word is dropped, as ever
		"planetarium small ":   "",
		"qqq big ":             "1",
		"qqq walrus big ":      "",
		"planetariumplus big ": "1",
	} {
		if got := r.ids("a", search.Query{Q: q, AttributesToSearchOn: []string{"a"}}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
	if got := r.ids("a", search.Query{Q: "walrus cat ", AttributesToSearchOn: []string{"a"}, Filter: filter("id = 2")}); got != "" {
		t.Errorf("under a filter: %q, want none", got)
	}
	mine := tenant(t, `{"a":{"filter":"id = 2"}}`)
	if res, err := r.svc.Search(t.Context(), mine, "a", search.Query{Q: "walrus cat ", AttributesToSearchOn: []string{"a"}}); err != nil || len(res.Hits) != 1 {
		t.Errorf("a word that hidden documents alone have: %+v, %v; want one hit", res, err)
	}
}

// TestPlacesOfOtherWords wants the places of all words that a beginning stands for to count
// for the order, also of one that no attribute has which is searched, as in Meilisearch.
func TestPlacesOfOtherWords(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["a","b"],"rankingRules":["words","wordPosition"]}`)
	r.add("a", `[{"id":1,"a":"orion pictures","b":"other"},{"id":2,"a":"orion pictures","b":"peter"},{"id":3,"a":"orion","b":"peter"}]`)
	for q, want := range map[string]string{"p": "2 1", "p ": "", "pictures": "1 2", "petre": ""} {
		if got := r.ids("a", search.Query{Q: q, AttributesToSearchOn: []string{"a"}}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
}

// TestExactness wants, of documents that are equal by all rules before, those
// first whose attribute is the query, then those with one that begins so, then
// those that have most words as they are; equal ones as they came.
func TestExactness(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title"],"rankingRules":["words","typo","exactness"]}`)
	r.add("a", `[{"id":1,"title":"star warships"},{"id":2,"title":"alignment"},{"id":3,"title":"aligned again"},{"id":4,"title":"star wars episode"},
		{"id":5,"title":"aligned"},{"id":6,"title":"star wars"},{"id":7,"title":"star war and peace"},{"id":8,"title":"the star war"},{"id":9,"title":"star war"}]`)
	for _, tt := range []struct{ name, q, want string }{
		{"the whole, its beginning, both words, one word", "star war", "9 7 8 1 4 6"},
		{"no word as it is", "align", "2 3 5"},
		{"a typo in each", "alignde", "2 3 5"},
		{"a finished word goes on nowhere", "star wars ", "6 4"},
	} {
		q := search.Query{Q: tt.q, MatchingStrategy: settings.All, ShowRankingScore: true}
		if got := r.ids("a", q); got != tt.want {
			t.Errorf("%s: %q found %q, want %q", tt.name, tt.q, got, tt.want)
		}
		last := 2.0
		for _, h := range r.search("a", q).Hits {
			if h.Score > last || h.Score <= 0 || h.Score > 1 {
				t.Errorf("%q: the score of %s is %v, behind %v", tt.q, h.ID, h.Score, last)
			}
			last = h.Score
		}
	}
}

func TestAttributesToSearchOn(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"title":"dune","text":"sand worms","by":{"name":"frank"}},{"id":2,"title":"sand","text":"by the end of a dune in france"},{"id":3,"title":"frank dune sand"}]`)
	tests := []struct {
		q    string
		on   []string
		want string
	}{
		{"dune", nil, "1 3 2"},
		{"dune", []string{"*"}, "1 3 2"},
		{"dune", []string{"text"}, "2"},
		{"dnue", []string{"text"}, ""}, // no typo in four letters
		{"dune", []string{"title"}, "1 3"},
		{"frank", []string{"by"}, "1"},
		{"frank", []string{"by.name"}, "1"},
		{"farnk", []string{"title"}, "3"},
		{"fran", []string{"text"}, "2"},
		{`"dune sand"`, []string{"title"}, "3"},
		{`"sand worms"`, []string{"title"}, ""},
		{"-dune", []string{"title"}, "2"}, // what is excluded, too
		{"dune worms ", []string{"title"}, "1 3"},
	}
	for _, searchable := range []string{`["*"]`, `["title","text","by"]`} {
		r.settings("a", `{"searchableAttributes":`+searchable+`}`)
		for _, tt := range tests {
			if got := r.ids("a", search.Query{Q: tt.q, AttributesToSearchOn: tt.on}); got != tt.want {
				t.Errorf("%q on %v, searchable %s, found %q, want %q", tt.q, tt.on, searchable, got, tt.want)
			}
		}
		res, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Q: "dune", AttributesToSearchOn: []string{"nope"}})
		if searchable == `["*"]` {
			if err != nil || res.EstimatedTotalHits != 0 {
				t.Errorf("search on what no document has: %+v, %v; want no hit", res, err)
			}
			continue
		}
		wantCode(t, "search on what is not searchable", err, searcherr.InvalidSearchAttributesSearchOn)
	}
}

// TestPlacesElsewhere wants documents to match in the attributes that are searched on,
// and to be ordered by where their words stand in all.
func TestPlacesElsewhere(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"]}`)
	r.add("a", `[{"id":1,"title":"sand and much later dune","text":"no"},{"id":2,"title":"dune with much sand","text":"sand dune"},{"id":3,"title":"other","text":"sand dune"}]`)
	for _, on := range [][]string{{"title"}, {"title", "text"}} {
		want := map[int]string{1: "2 1", 2: "2 3 1"}[len(on)]
		if got := r.ids("a", search.Query{Q: "sand dune ", AttributesToSearchOn: on}); got != want {
			t.Errorf("on %v found %q, want %q", on, got, want)
		}
	}
}

func TestSynonyms(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"synonyms":{"sf":["San Francisco"],"san francisco":["sf"],"Wolverine":["logan","X-Men"],"U.S.":["america"]}}`)
	r.add("a", `[{"id":1,"text":"fog in sf"},{"id":2,"text":"fog in San Francisco"},{"id":3,"text":"the mission san of francisco"},{"id":4,"text":"logan"},{"id":5,"text":"wolverine"},{"id":6,"text":"x men"},{"id":7,"text":"america"}]`)
	for q, want := range map[string]string{
		"sf ":                "1 2",
		"san francisco":      "2 3 1", // what stands for two words counts as typos
		"fog san francisco ": "2 1",
		"san fog ":           "2 3",
		"wolverine":          "5 4 6", // the word itself is nearest
		"logan ":             "4",     // one way only
		"u.s. ":              "7",
		`"san francisco"`:    "2", // a phrase is what it says
	} {
		if got := r.ids("a", search.Query{Q: q}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
}

func TestSplitAndJoin(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"text":"sunflower"},{"id":2,"text":"a sun flower"},{"id":3,"text":"sun"},{"id":4,"text":"flower of the sun"},{"id":5,"text":"new york city"},{"id":6,"text":"notebook"}]`)
	for q, want := range map[string]string{
		"sun flower ":   "2 4 1 3", // as typed, then in one word, then less of it
		"newyork ":      "5",
		"newyorkcity ":  "",
		"note book ":    "6",
		"no te book ":   "6",
		"note boo":      "6", // the last word goes on
		"sunflower ":    "1 2",
		`"sun flower"`:  "2",
		"newyork city ": "5",
	} {
		if got := r.ids("a", search.Query{Q: q}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
}

func TestWordSettings(t *testing.T) {
	const docs = `[{"id":1,"text":"the who","other":"c++ & J. R. R. Tolkien"},{"id":2,"text":"who are you","other":"c sharp_one"},{"id":3,"text":"theory of it","other":"J. Smith R. tolkien c"}]`
	tests := []struct {
		name, settings string
		want           map[string]string
	}{
		{"none", `{}`, map[string]string{"the who ": "1", "c++": "1 2 3", "sharp": "2", "j. r. r. ": "3 1"}},
		{"stop words", `{"stopWords":["the","Of"]}`, map[string]string{
			"the who ": "1 2", "the": "3", "the ": "1 2 3", `"the who"`: "1 2", "theory of": "3", "the who": "1 2", "The who ": "1 2",
			`"the"`: "1 2 3", `"theory the it"`: "3", `"theory Of it"`: "3",
		}},
		{"part of words", `{"nonSeparatorTokens":["+","_"]}`, map[string]string{"c++ ": "1", "sharp_one": "2", "one": ""}},
		{"separators", `{"separatorTokens":["harp"]}`, map[string]string{"s one": "2", "sharp": "2", "sh": ""}},
		{"dictionary", `{"dictionary":["J. R. R."]}`, map[string]string{"j. r. r. ": "1", "j. ": "3", "J. R. R. tolkien": "1"}},
		{"no prefixes", `{"prefixSearch":"disabled"}`, map[string]string{"the": "1", "tolk": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.settings("a", tt.settings)
			r.add("a", docs)
			for q, want := range tt.want {
				if got := r.ids("a", search.Query{Q: q}); got != want {
					t.Errorf("%q found %q, want %q", q, got, want)
				}
			}
			// The same where the documents were there before.
			r.settings("a", `{"stopWords":null,"nonSeparatorTokens":null,"separatorTokens":null,"dictionary":null,"prefixSearch":null}`)
			r.settings("a", tt.settings)
			for q, want := range tt.want {
				if got := r.ids("a", search.Query{Q: q}); got != want {
					t.Errorf("set later: %q found %q, want %q", q, got, want)
				}
			}
		})
	}
}

func TestTypoSettings(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text","code"]}`)
	r.add("a", `[{"id":1,"text":"hello"},{"id":2,"code":"hello"},{"id":3,"text":"20251"},{"id":4,"text":"worldwide"},{"id":5,"text":"hey"}]`)
	tests := []struct {
		typo string
		want map[string]string
	}{
		{`{}`, map[string]string{"helo ": "", "hellp ": "1 2", "20252 ": "3", "wordlwied ": "4", "hei ": ""}},
		{`{"enabled":false}`, map[string]string{"hellp ": "", "hello ": "1 2", "20252 ": ""}},
		{`{"minWordSizeForTypos":{"oneTypo":3,"twoTypos":20}}`, map[string]string{"helo ": "1 2", "hei ": "5", "wordlwied ": ""}},
		{`{"disableOnWords":["HELLP"]}`, map[string]string{"hellp ": "", "hellu ": "1 2"}},
		{`{"disableOnAttributes":["code"]}`, map[string]string{"hellp ": "1", "hello ": "1 2", "hellp zzz ": "1"}},
		{`{"disableOnNumbers":true}`, map[string]string{"20252 ": "", "hellp ": "1 2"}},
	}
	for _, tt := range tests {
		r.settings("a", `{"typoTolerance":null}`)
		r.settings("a", `{"typoTolerance":`+tt.typo+`}`)
		for q, want := range tt.want {
			if got := r.ids("a", search.Query{Q: q}); got != want {
				t.Errorf("typoTolerance %s: %q found %q, want %q", tt.typo, q, got, want)
			}
		}
	}
}

func TestProximityPrecision(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"rankingRules":["words","proximity"],"searchableAttributes":["one","two"]}`)
	r.add("a", `[{"id":1,"one":"quick slow brown"},{"id":2,"one":"quick brown"},{"id":3,"one":"quick","two":"brown"}]`)
	for precision, want := range map[string]string{"byWord": "2 1 3", "byAttribute": "1 2 3"} {
		r.settings("a", `{"proximityPrecision":"`+precision+`"}`)
		if got := r.ids("a", search.Query{Q: "quick brown "}); got != want {
			t.Errorf("%s found %q, want %q", precision, got, want)
		}
	}
}

func TestLocales(t *testing.T) {
	r := newRig(t)
	r.add("a", books)
	if got := r.ids("a", search.Query{Q: "solaris", Locales: []string{"pol", "en"}}); got != "3" {
		t.Errorf("with locales found %q, want 3", got)
	}
	for _, code := range []string{"klingon", "", "EN", "xx9"} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Locales: []string{code}})
		wantCode(t, "locale "+code, err, searcherr.InvalidSearchLocales)
	}
}

func TestScores(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"],"sortableAttributes":["n","secret","_geo"],"displayedAttributes":["id","n","_geo"],"rankingRules":["words","typo","n:desc","proximity","attribute","sort","exactness"]}`)
	r.add("a", `[{"id":1,"title":"heart of gold","n":3,"secret":"s","_geo":{"lat":0,"lng":0}},{"id":2,"title":"heart gold of"},{"id":3,"title":"hearts"},{"id":4,"title":"heart of gold","text":"x"}]`)
	q := search.Query{Q: "heart of gold", ShowRankingScoreDetails: true, Sort: []string{"secret:asc", "_geoPoint(0,1):asc"}}
	res := r.search("a", q)
	last := 2.0
	for _, h := range res.Hits {
		if h.Score > 1 || h.Score < 0 || h.ID != "4" && h.Score > last {
			t.Errorf("hit %s has the score %v after %v", h.ID, h.Score, last)
		}
		last = h.Score
	}
	const first = `{"words":{"order":0,"matchingWords":3,"maxMatchingWords":3,"score":1},"typo":{"order":1,"typoCount":0,"maxTypoCount":3,"score":1},` +
		`"n:desc":{"order":2,"value":3},"proximity":{"order":3,"score":1},"attribute":{"order":4,"attributeRankingOrderScore":1,"queryWordDistanceScore":`
	const end = `},"secret:asc":{"order":5},"_geoPoint(0,1):asc":{"order":6,"distance":111195},"exactness":{"order":7,"matchType":"exactMatch","score":1}}`
	if got := string(res.Hits[0].Details); !strings.HasPrefix(got, first) || !strings.HasSuffix(got, end) {
		t.Errorf("details of the first hit\n%s\nwant\n%s…%s", got, first, end)
	}
	if r.search("a", search.Query{Q: "heart"}).Hits[0].Details != nil {
		t.Error("details though nobody asked")
	}
}

// TestAttributesAlike wants all attributes to count the same where none are
// named, and a hit that could not be better to have a score near 1.
func TestAttributesAlike(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"name":"kefir","color":"white"},{"id":2,"name":"white"}]`)
	res := r.search("a", search.Query{Q: "white"})
	if len(res.Hits) != 2 || res.Hits[0].ID != "1" || res.Hits[0].Score != res.Hits[1].Score || res.Hits[0].Score < 0.99 {
		t.Errorf("white found %+v, want 1 and 2 with the same score, near 1", res.Hits)
	}
	r.settings("a", `{"searchableAttributes":["name","color"]}`)
	if got, want := r.ids("a", search.Query{Q: "white"}), "2 1"; got != want {
		t.Errorf("white in name, then color, found %q, want %q", got, want)
	}
}

func TestRankingScoreThreshold(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title"],"filterableAttributes":["title"],"sortableAttributes":["id"]}`)
	r.add("a", `[{"id":1,"title":"green tea"},{"id":2,"title":"green"},{"id":3,"title":"tea"},{"id":4,"title":"tea green"},{"id":5,"title":"a green tea"}]`)
	all := r.search("a", search.Query{Q: "green tea"})
	if len(all.Hits) != 4 {
		t.Fatalf("%d hits, want 4", len(all.Hits))
	}
	for n, h := range all.Hits {
		q := search.Query{Q: "green tea", RankingScoreThreshold: h.Score, Facets: []string{"title"}}
		res := r.search("a", q)
		if len(res.Hits) != n+1 || res.EstimatedTotalHits != n+1 || len(res.Facets[0].Values) != n+1 {
			t.Errorf("threshold %v: %d hits of %d, %d facet values; want %d", h.Score, len(res.Hits), res.EstimatedTotalHits, len(res.Facets[0].Values), n+1)
		}
		q.Limit = limit(1)
		if res := r.search("a", q); len(res.Hits) != 1 || res.EstimatedTotalHits != len(all.Hits) {
			t.Errorf("threshold %v and limit 1: %d hits of about %d, want %d: nobody looked at the others", h.Score, len(res.Hits), res.EstimatedTotalHits, len(all.Hits))
		}
		q.HitsPerPage = limit(1)
		if res := r.search("a", q); len(res.Hits) != 1 || res.TotalHits != n+1 {
			t.Errorf("threshold %v and pages of 1: %d hits of exactly %d, want %d", h.Score, len(res.Hits), res.TotalHits, n+1)
		}
		q.HitsPerPage = nil
		// Sorted before the words count, those below may stand anywhere.
		r.settings("a", `{"rankingRules":["sort","words","typo","proximity","attribute","exactness"]}`)
		q.Sort, q.Limit = []string{"id:desc"}, nil
		if res := r.search("a", q); len(res.Hits) != n+1 || res.EstimatedTotalHits != n+1 {
			t.Errorf("threshold %v, sorted first: %d hits of %d, want %d", h.Score, len(res.Hits), res.EstimatedTotalHits, n+1)
		}
		r.settings("a", `{"rankingRules":null}`)
	}
	for _, bad := range []float64{-0.1, 1.1} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{RankingScoreThreshold: bad})
		wantCode(t, "threshold", err, searcherr.InvalidSearchRankingThreshold)
	}
}

// Past its time a search returns what matches, ranked as far as it got.
func TestCutoff(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchCutoffMs":0,"filterableAttributes":["id"]}`)
	r.add("a", docsJSON(0, 500, func(int) string { return `"text":"one two"` }))
	res := r.search("a", search.Query{Q: "one two", Facets: []string{"id"}, Filter: filter("id < 300"), Limit: limit(400), ShowRankingScoreDetails: true})
	if !res.Degraded || len(res.Hits) != 300 || res.EstimatedTotalHits != 300 || len(res.Facets[0].Values) != 100 {
		t.Errorf("degraded %v, %d hits of %d, %d values; want degraded, 300 of 300, 100", res.Degraded, len(res.Hits), res.EstimatedTotalHits, len(res.Facets[0].Values))
	}
	if got := string(res.Hits[0].Details); got != `{"skipped":{"order":0}}` || res.Hits[0].Score != 0 {
		t.Errorf("score %v, details %s of a hit that was not ranked", res.Hits[0].Score, got)
	}
	r.settings("a", `{"searchCutoffMs":null}`)
	if r.search("a", search.Query{Q: "one two"}).Degraded {
		t.Error("degraded with time enough")
	}
}
