package search_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
)

// TestScoreSteps holds scores to the steps of each rule, as they were worked out by
// hand: words, typo, proximity, attribute, place, whole attribute, exact words.
func TestScoreSteps(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"],"stopWords":["of"],"synonyms":{"cuppa":["tea"],"green tea":["sencha"]}}`)
	r.add("a", `[
		{"id":"same","title":"Green Tea"},
		{"id":"swapped","title":"tea green"},
		{"id":"longer","title":"Green Tea Leaves"},
		{"id":"begun","title":"green teapot"},
		{"id":"far","title":"green leaves make the best tea"},
		{"id":"apart","title":"green","text":"tea"},
		{"id":"typo","title":"greem tea"},
		{"id":"one","title":"green"},
		{"id":"joined","title":"greentea"},
		{"id":"stands","title":"sencha"},
		{"id":"deep","text":"a b c d e f g h i j k l m n o p q lonely"},
		{"id":"named","title":"cup of coffee"}]`)
	for _, tt := range []struct {
		q, id string
		steps [][2]float64
	}{
		{"green tea", "same", [][2]float64{{2, 2}, {4, 4}, {4, 4}, {3, 3}, {21, 21}, {3, 3}, {3, 3}}},
		{"green tea", "swapped", [][2]float64{{2, 2}, {4, 4}, {3, 4}, {3, 3}, {19, 21}, {1, 3}, {3, 3}}},
		{"green tea", "longer", [][2]float64{{2, 2}, {4, 4}, {4, 4}, {3, 3}, {21, 21}, {2, 3}, {3, 3}}},
		{"green tea", "begun", [][2]float64{{2, 2}, {4, 4}, {4, 4}, {3, 3}, {21, 21}, {1, 3}, {2, 3}}},
		{"green tea", "far", [][2]float64{{2, 2}, {4, 4}, {1, 4}, {3, 3}, {19, 21}, {1, 3}, {3, 3}}},       // tea four words late
		{"green tea", "apart", [][2]float64{{2, 2}, {4, 4}, {1, 4}, {2, 3}, {20, 21}, {1, 3}, {3, 3}}},     // tea in the second attribute
		{"green tea", "typo", [][2]float64{{2, 2}, {3, 4}, {4, 4}, {3, 3}, {21, 21}, {1, 3}, {2, 3}}},      // one of at most three: two words in one may have as many
		{"green tea", "one", [][2]float64{{1, 2}, {2, 2}, {1, 1}, {2, 2}, {11, 11}, {3, 3}, {2, 2}}},       // what is left is all of the title
		{"green tea", "joined", [][2]float64{{2, 2}, {2, 4}, {1, 2}, {3, 3}, {20, 21}, {1, 3}, {1, 3}}},    // two words in one: two typos, one place off
		{"green tea", "stands", [][2]float64{{2, 2}, {2, 4}, {1, 2}, {3, 3}, {20, 21}, {1, 3}, {1, 3}}},    // so are synonyms of two words
		{"lonely ", "deep", [][2]float64{{1, 1}, {2, 2}, {1, 1}, {1, 2}, {5, 11}, {1, 3}, {2, 2}}},         // in the 18th place: the bucket of 24
		{"cup of coffee", "named", [][2]float64{{2, 2}, {3, 3}, {1, 1}, {3, 3}, {21, 21}, {3, 3}, {3, 3}}}, // the stop word takes its place, and parts the others
		{`"green tea" leaves`, "longer", [][2]float64{{3, 3}, {2, 2}, {4, 4}, {3, 3}, {21, 21}, {3, 3}, {3, 3}}},
	} {
		score, left := 0.0, 1.0
		for _, s := range tt.steps {
			left /= s[1]
			score += (s[0] - 1) * left
		}
		score += left
		found := false
		for _, h := range r.search("a", search.Query{Q: tt.q, ShowRankingScoreDetails: true}).Hits {
			if h.ID != tt.id {
				continue
			}
			if found = true; math.Abs(h.Score-score) > 1e-12 {
				t.Errorf("%q: %s has the score %v, want %v; %s", tt.q, tt.id, h.Score, score, h.Details)
			}
		}
		if !found {
			t.Errorf("%q did not find %s", tt.q, tt.id)
		}
	}
}

// Brackets, quotes and colons do not part what stands on both sides.
func TestSoftSeparators(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"title":"audio/video devices (utilities)"},{"id":2,"title":"devices; utilities"}]`)
	for _, h := range r.search("a", search.Query{Q: "devices utili", ShowRankingScoreDetails: true}).Hits {
		var d struct{ Proximity struct{ Score float64 } }
		if err := json.Unmarshal(h.Details, &d); err != nil {
			t.Fatal(err)
		}
		if want := map[string]float64{"1": 1, "2": 0.25}[h.ID]; d.Proximity.Score != want {
			t.Errorf("%s: proximity %v, want %v", h.ID, d.Proximity.Score, want)
		}
	}
}

// Where the words stand counts by the best place of all attributes, and what is
// equal by all rules comes as it was added, also once it was written anew.
func TestEqualHits(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"]}`)
	r.add("a", `[{"id":"z","title":"all about tea","text":"tea"},{"id":"m","title":"a cup of tea"},{"id":"b","title":"one more tea","text":"tea"},{"id":"a","title":"the best tea","text":"tea"}]`)
	r.add("a", `{"id":"z","title":"more about tea","text":"tea"}`)
	if got, want := r.ids("a", search.Query{Q: "tea"}), "z b a m"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// The rule attribute may be given as its halves, with something between them.
func TestAttributeHalves(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"],"rankingRules":["words","attributeRank","n:desc","wordPosition","attribute"]}`)
	r.add("a", `[{"id":1,"title":"a cup of tea","n":1},{"id":2,"text":"tea","n":2},{"id":3,"title":"tea","n":1},{"id":4,"title":"some tea"}]`)
	res := r.search("a", search.Query{Q: "tea", ShowRankingScoreDetails: true})
	if got, want := r.ids("a", search.Query{Q: "tea"}), "3 1 4 2"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	const first = `{"words":{"order":0,"matchingWords":1,"maxMatchingWords":1,"score":1},"attributeRank":{"order":1,"score":1},"n:desc":{"order":2,"value":1},"wordPosition":{"order":3,"score":1}}`
	if got := string(res.Hits[0].Details); got != first {
		t.Errorf("details %s\nwant %s", got, first)
	}
	const third = `{"words":{"order":0,"matchingWords":1,"maxMatchingWords":1,"score":1},"attributeRank":{"order":1,"score":1},"n:desc":{"order":2,"value":null},"wordPosition":{"order":3,"score":0.9090909090909091}}`
	if got := string(res.Hits[2].Details); got != third {
		t.Errorf("details %s\nwant %s", got, third)
	}
}
