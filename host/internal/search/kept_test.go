package search_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
)

// What is kept of a word is of all documents and attributes: searches after it
// that may see fewer do.
func TestKeptWords(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text"],"filterableAttributes":["n"]}`)
	r.add("a", `[{"id":1,"title":"green tea","n":1},{"id":2,"text":"green tea","n":2},{"id":3,"title":"greem tea","n":3},{"id":4,"title":"greens","n":4}]`)
	ask := func(what, want string, q search.Query) {
		t.Helper()
		if got := r.ids("a", q); got != want {
			t.Errorf("%s found %q, want %q", what, got, want)
		}
	}
	const all = "1 4 2 3"
	for range 2 {
		ask("green", all, search.Query{Q: "green"})
		ask("green in titles", "1 4 3", search.Query{Q: "green", AttributesToSearchOn: []string{"title"}})
		ask("green with a filter", "2 3", search.Query{Q: "green", Filter: filter("n = 2 OR n = 3")})
		ask("green as a whole word", "1 2 3 4", search.Query{Q: "green "})
		ask("without green", "3 4", search.Query{Q: "green -green"})
	}
	r.ok(write.DeleteDocuments("a", []string{"1", "3"}))
	ask("green of what is left", "4 2", search.Query{Q: "green"})
	r.add("a", `[{"id":2,"title":"oolong","n":2},{"id":5,"title":"green","n":5}]`)
	ask("green of what is there now", "5 4", search.Query{Q: "green"})
}
