package search_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// The tests of this file want what a Meilisearch does, where a client could tell the
// two apart.

// TestPhrasesWithStopWords wants words of a phrase that a stop word parts no further
// apart than that, and those that several part anywhere.
func TestPhrasesWithStopWords(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"stopWords":["of","the","a"]}`)
	r.add("a", `[{"id":1,"text":"queen of hearts"},{"id":2,"text":"queen hearts"},{"id":3,"text":"queen my hearts"},{"id":4,"text":"queen of the hearts"},
		{"id":5,"text":"hearts of queen"},{"id":6,"text":"queen my own dear hearts"}]`)
	for q, want := range map[string]string{
		`"queen of hearts"`:         "1 3 2",
		`"queen hearts"`:            "2",
		`"queen of the hearts"`:     "4 1 2 3 6 5",
		`"the queen of"`:            "1 2 3 4 5 6",
		`"queen my own"`:            "6",
		`"of the"`:                  "1 2 3 4 5 6", // nothing is asked for
		`hearts -"queen of hearts"`: "5 4 6",
	} {
		if got := r.ids("a", search.Query{Q: q}); got != want {
			t.Errorf("%s found %q, want %q", q, got, want)
		}
	}
}

// TestStopWordsNotMarked wants no stop word marked that the index does not have, not one
// that the query ends with, and nothing of a phrase that has one.
func TestStopWordsNotMarked(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"stopWords":["of","the","a"]}`)
	r.add("a", `[{"id":1,"text":"a queen of hearts offers"}]`)
	for q, want := range map[string]string{
		"a queen of":        "a <em>queen</em> of hearts <em>of</em>fers",
		"of":                "a queen of hearts <em>of</em>fers",
		"queen of hearts":   "a <em>queen</em> of <em>hearts</em> offers",
		`"queen of hearts"`: "a queen of hearts offers",
		`"hearts offers"`:   "a queen of <em>hearts offers</em>",
	} {
		res := r.search("a", search.Query{Q: q, Format: highlight.Format{Highlight: []string{"text"}}})
		var shown struct{ Text string }
		if len(res.Hits) != 1 || json.Unmarshal(res.Hits[0].Formatted, &shown) != nil || shown.Text != want {
			t.Errorf("%s is marked in %q, want %q", q, shown.Text, want)
		}
	}
}

// TestStopWordsWrittenOtherwise wants stop words of a text marked where the index has
// them as words, too: "The" is none.
func TestStopWordsWrittenOtherwise(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"stopWords":["of","the","a"]}`)
	r.add("a", `[{"id":1,"text":"The queen of the hearts"}]`)
	for q, want := range map[string]string{
		"The queen": "<em>The</em> <em>queen</em> of <em>the</em> hearts",
		"the queen": "The <em>queen</em> of the hearts",
		"queen the": "<em>The</em> <em>queen</em> of <em>the</em> hearts",
		"queen of":  "The <em>queen</em> of the hearts",
	} {
		res := r.search("a", search.Query{Q: q, Format: highlight.Format{Highlight: []string{"text"}}})
		var shown struct{ Text string }
		if len(res.Hits) != 1 || json.Unmarshal(res.Hits[0].Formatted, &shown) != nil || shown.Text != want {
			t.Errorf("%s is marked in %q, want %q", q, shown.Text, want)
		}
	}
}

// TestPhrasesMarkedOverSigns wants words side by side marked as a phrase, whatever
// stands between them, where another place has made the document a hit.
func TestPhrasesMarkedOverSigns(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"stopWords":["of"]}`)
	r.add("a", `[{"id":1,"text":"queen. hearts, queen of hearts; queen hearts"}]`)
	for _, q := range []string{`"queen hearts"`, "queenhearts"} {
		res := r.search("a", search.Query{Q: q, Format: highlight.Format{Highlight: []string{"text"}}})
		var shown struct{ Text string }
		want := "<em>queen. hearts</em>, queen of hearts; <em>queen hearts</em>"
		if len(res.Hits) != 1 || json.Unmarshal(res.Hits[0].Formatted, &shown) != nil || shown.Text != want {
			t.Errorf("%s is marked in %q, want %q", q, shown.Text, want)
		}
	}
}

// TestPhrasesInOrder wants the first word of a phrase, wherever it stands, to say
// where the phrase does, and its last one how near its neighbours are.
func TestPhrasesInOrder(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"]}`)
	r.add("a", `[{"id":1,"text":"one star wars"},{"id":2,"text":"star one two star wars"},{"id":3,"text":"one star wars two wars day"},{"id":4,"text":"day star wars"}]`)
	for q, want := range map[string]string{
		`"star wars"`:      "2 1 3 4",
		`"star wars" day `: "3 4 2 1",
	} {
		if got := r.ids("a", search.Query{Q: q}); got != want {
			t.Errorf("%s found %q, want %q", q, got, want)
		}
	}
}

// TestSplitWords wants a word taken apart where most documents have it, whatever the
// filter, and of as many where its first part is shortest.
func TestSplitWords(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"filterableAttributes":["kind"],"typoTolerance":{"enabled":false}}`)
	r.add("a", `[{"id":1,"text":"no table","kind":"a"},{"id":2,"text":"not able","kind":"b"},{"id":3,"text":"not able","kind":"b"},
		{"id":4,"text":"now here","kind":"a"},{"id":5,"text":"no where","kind":"a"}]`)
	for _, tt := range []struct{ q, filter, want string }{
		{"notable ", "", "2 3"},
		{"notable ", "kind = a", ""},
		{"nowhere ", "", "5"},
	} {
		q := search.Query{Q: tt.q}
		if tt.filter != "" {
			q.Filter = filter(tt.filter)
		}
		if got := r.ids("a", q); got != tt.want {
			t.Errorf("%q under %q found %q, want %q", tt.q, tt.filter, got, tt.want)
		}
	}
}

// TestJoinedTypos wants words written in one to have the typos that the long word may
// have, less the spaces left out.
func TestJoinedTypos(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"]}`)
	r.add("a", `[{"id":1,"text":"superheroes"},{"id":2,"text":"starfish"}]`)
	for q, want := range map[string]string{
		"super heroes ": "1",
		"super herose ": "1", // eleven letters may have two, and one is the space
		"super heorse ": "",
		"star fsih ":    "", // eight may have one
	} {
		if got := r.ids("a", search.Query{Q: q, MatchingStrategy: settings.All}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
}

// TestSpaceElsewhere wants words that were typed with the space at another place found,
// behind those that are written in one.
func TestSpaceElsewhere(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["t"]}`)
	r.add("a", `[{"id":1,"t":"a shared library"},{"id":2,"t":"library shared"},{"id":3,"t":"sharedlibrary"},{"id":4,"t":"new york"},
		{"id":5,"t":"york new"},{"id":6,"t":"newyork"},{"id":7,"t":"shared"}]`)
	for q, want := range map[string]string{
		"newy ork":        "6 0.364, 4 0.114",
		"new york":        "4 1.000, 5 0.930, 6 0.364", // no further way to "new york"
		"sharedl ibrary":  "3 0.364, 1 0.102",
		"sha red library": "1 0.555, 2 0.512, 3 0.258", // the two that are joined, not all three
	} {
		if got := r.scored(search.Query{Q: q, MatchingStrategy: settings.All}); got != want {
			t.Errorf("%s found %q, want %q", q, got, want)
		}
	}
}

// TestPartsOfQueries wants each sign that parts sentences to count for the places of a
// query's words, before the first one too.
func TestPartsOfQueries(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["t"]}`)
	r.add("a", `[{"id":1,"t":"one two three four five six seven eight nine has"},{"id":2,"t":"has it"},{"id":3,"t":"it has"}]`)
	for q, want := range map[string]string{
		"has ":        "2 0.985, 3 0.924, 1 0.788",
		". has ":      "1 0.879, 2 0.833, 3 0.833", // it is the eighth word
		"has; ; it ":  "2 0.910, 3 0.894",
		"; has; it ":  "2 0.862, 3 0.862",
		`. "has it" `: "2 0.667",
	} {
		if got := r.scored(search.Query{Q: q, MatchingStrategy: settings.All}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
}

// scored returns the hits of a search in the index a with their scores.
func (r *rig) scored(query search.Query) string {
	var out []string
	for _, h := range r.search("a", query).Hits {
		out = append(out, fmt.Sprintf("%s %.3f", h.ID, h.Score))
	}
	return strings.Join(out, ", ")
}

// TestPlacesOfTypos wants of a word that matches with a typo no place to count at which it
// stands without, in an attribute that is not searched.
func TestPlacesOfTypos(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["t","u"]}`)
	r.add("a", `[{"id":1,"t":"a b c saafely"},{"id":2,"t":"a b c saafely","u":"safely"}]`)
	hits := r.search("a", search.Query{Q: "safely ", AttributesToSearchOn: []string{"t"}}).Hits
	if len(hits) != 2 || hits[0].ID != "1" || hits[0].Score != hits[1].Score {
		t.Errorf("hits %+v; want 1 before 2, as good as that", hits)
	}
}

// TestSynonymsWithStopWords wants stop words to count for nothing in synonyms either.
func TestSynonymsWithStopWords(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"stopWords":["of","the"],"synonyms":{"the states":["union of the north"],"of":["zebra"],"ape":["the"]}}`)
	r.add("a", `[{"id":1,"text":"union north"},{"id":2,"text":"zebra"},{"id":3,"text":"union day north"}]`)
	for q, want := range map[string]string{"states ": "1", "the states": "1", "of ": "1 2 3", "ape ": ""} {
		if got := r.ids("a", search.Query{Q: q, MatchingStrategy: settings.All}); got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
		}
	}
}

// TestFacetsAsFirstWritten wants a value shown as the first of the hits to come
// writes it, and it comes once, however often it changes.
func TestFacetsAsFirstWritten(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["prize","n"]}`)
	r.add("a", `[{"id":1,"n":1,"prize":"Oscar"},{"id":2,"n":2,"prize":"oscar"},{"id":3,"n":3,"prize":"oscar"},{"id":4,"n":4,"prize":"OSCAR"}]`)
	r.add("a", `[{"id":1,"n":1,"prize":"Oscar","more":1}]`)
	for condition, want := range map[string]string{"n > 0": "prize: Oscar=4", "n > 1": "prize: oscar=3", "n > 3": "prize: OSCAR=1"} {
		if got := facetText(r.search("a", search.Query{Filter: filter(condition), Facets: []string{"prize"}}).Facets); got != want {
			t.Errorf("%s: counted %s, want %s", condition, got, want)
		}
	}
}

// TestWholeOfOneValue wants an attribute to be the query as a whole only where it has
// no other value.
func TestWholeOfOneValue(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["genres"],"rankingRules":["words","exactness"]}`)
	r.add("a", `[{"id":1,"genres":["drama","war"]},{"id":2,"genres":"drama"},{"id":3,"genres":["drama"]},{"id":4,"genres":["war","drama"]}]`)
	if got, want := r.ids("a", search.Query{Q: "drama "}), "2 3 1 4"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestCommonBeginnings wants a beginning that a hundred words have to be near only to
// what stands before it.
func TestCommonBeginnings(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"rankingRules":["words","proximity"]}`)
	few := `[{"id":1,"text":"day it was of the star"},{"id":2,"text":"dax star"},{"id":3,"text":"da star"}]`
	r.add("a", few)
	if got, want := r.ids("a", search.Query{Q: "star da"}), "2 3 1"; got != want {
		t.Errorf("of few words: found %q, want %q", got, want)
	}
	r.add("a", docsJSON(100, 120, func(i int) string { return fmt.Sprintf(`"text":"da%d"`, i) }))
	if got, want := r.ids("a", search.Query{Q: "star da"}), "3 1 2"; got != want {
		t.Errorf("of many words: found %q, want %q", got, want)
	}
}

// TestJoinedStaysTogether wants words that a document has in one alone to be judged so,
// although one of them stands elsewhere.
func TestJoinedStaysTogether(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"]}`)
	r.add("a", `[{"id":1,"title":"chasing","text":"they sing"},{"id":2,"title":"chasing","text":"they talk"}]`)
	hits := r.search("a", search.Query{Q: "cha sing ", ShowRankingScore: true}).Hits
	if len(hits) != 2 || hits[0].ID != "1" || hits[0].Score != hits[1].Score {
		t.Errorf("hits %+v; want 1 before 2, as good as that", hits)
	}
}

// TestHardSeparatorsAroundQuotes wants what parts sentences to do so beside a phrase.
func TestHardSeparatorsAroundQuotes(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"rankingRules":["words","proximity"]}`)
	r.add("a", `[{"id":1,"text":"star wars are on all of the day"},{"id":2,"text":"star wars day"}]`)
	for q, want := range map[string]string{`"star wars" day `: "2 1", `"star wars". day `: "1 2", `"star wars. " day `: "1 2"} {
		if got := r.ids("a", search.Query{Q: q}); got != want {
			t.Errorf("%s found %q, want %q", q, got, want)
		}
	}
}

// TestMarkedByShortestWord wants of a word that a beginning with a typo stands for no
// more marked than the shortest word that does and begins it.
func TestMarkedByShortestWord(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"text":"spaced"},{"id":2,"text":"space"},{"id":3,"text":"spacious"},{"id":4,"text":"Pictures"},{"id":5,"text":"picture"}]`)
	want := map[string]string{"4": "<em>Picture</em>s", "5": "<em>picture</em>", "1": "<em>space</em>d", "2": "<em>space</em>", "3": "<em>spacio</em>us"}
	for q, ids := range map[string][]string{"spaceb": {"1", "2"}, "spacoi": {"3"}, "pictuures": {"4", "5"}} {
		got := map[string]string{}
		for _, h := range r.search("a", search.Query{Q: q, Format: highlight.Format{Highlight: []string{"text"}}}).Hits {
			var d struct{ Text string }
			if err := json.Unmarshal(h.Formatted, &d); err != nil {
				t.Fatal(err)
			}
			got[h.ID] = d.Text
		}
		for _, id := range ids {
			if got[id] != want[id] {
				t.Errorf("%q marks %q, want %q", q, got[id], want[id])
			}
		}
	}
}

// TestEmptyTexts wants an empty text to be no value, and one of spaces to be one.
func TestEmptyTexts(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["e"],"sortableAttributes":["e"]}`)
	r.add("a", `[{"id":1,"e":""},{"id":2,"e":" "},{"id":3,"e":"x"},{"id":4,"e":79},{"id":5,"e":"79"},{"id":6,"e":""}]`)
	for f, want := range map[string]string{
		`e = ""`: "2", `e != ""`: "1 3 4 5 6", `e IN ["", "x"]`: "2 3", `e < "z"`: "2 3 5", `e IS EMPTY`: "1 6", `e CONTAINS ""`: "2 3 5",
		`e = "79"`: "4 5", `e = "79 "`: "5", `e = 79`: "4 5", `e IN ["79 "]`: "5",
	} {
		if got := r.ids("a", search.Query{Filter: filter(f)}); got != want {
			t.Errorf("%s found %q, want %q", f, got, want)
		}
		rules := `{"a":{"filter":` + string(filter(f)) + `}}`
		res, err := r.svc.Search(t.Context(), tenant(t, rules), "a", search.Query{})
		if err != nil || len(res.Hits) != len(strings.Fields(want)) {
			t.Errorf("a tenant of %s sees %d documents and %v, want %s", f, len(res.Hits), err, want)
		}
	}
	if got, want := r.ids("a", search.Query{Distinct: "e"}), "1 2 3 4 5 6"; got != want {
		t.Errorf("distinct ones are %q, want %q: numbers and texts are not the same, and an empty text is no value", got, want)
	}
	if got, want := r.ids("a", search.Query{Sort: []string{"e:asc"}}), "4 2 5 3 1 6"; got != want {
		t.Errorf("sorted, %q, want %q", got, want)
	}
}

// TestSeveralAsOne wants two places of what stands for several words not to be near each
// other: each is all of them.
func TestSeveralAsOne(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"synonyms":{"book shop":["bookshop"]},"rankingRules":["words","typo","proximity"]}`)
	r.add("a", `[{"id":1,"text":"the bookshop"},{"id":2,"text":"the bookshop bookshop"},{"id":3,"text":"bookshop"}]`)
	res := r.search("a", search.Query{Q: "book shop"})
	if got := r.ids("a", search.Query{Q: "book shop"}); got != "1 2 3" || res.Hits[0].Score != res.Hits[1].Score {
		t.Errorf("found %q with scores %v and %v, want the order of insertion and equal ones", got, res.Hits[0].Score, res.Hits[1].Score)
	}
}

// TestManyTypos wants the first 150 words with one typo and the first 50 with two, in
// their order, to stand for a word, in all attributes and in some.
func TestManyTypos(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text","more"]}`)
	body := func(i int) string {
		if i < 200 {
			return fmt.Sprintf(`"text":"abcdz%03d"`, 199-i)
		}
		return fmt.Sprintf(`"text":"qrstuvwyz%03d"`, i)
	}
	r.add("a", docsJSON(0, 130, body))
	r.add("a", docsJSON(130, 300, body)) // another segment
	for q, want := range map[string][3]int{"abcde": {150, 50, 200}, "qrstuvwxa": {50, 200, 250}, "abcdz": {200, 0, 200}} {
		for _, on := range [][]string{nil, {"text"}} {
			found := strings.Fields(r.ids("a", search.Query{Q: q, Limit: limit(300), AttributesToSearchOn: on}))
			if len(found) != want[0] {
				t.Errorf("%s in %q found %d documents, want %d", q, on, len(found), want[0])
			}
			for _, id := range found {
				if n, err := strconv.Atoi(id); err != nil || n < want[1] || n >= want[2] {
					t.Errorf("%s in %q found document %s, want those from %d to below %d", q, on, id, want[1], want[2])
				}
			}
		}
	}
}
