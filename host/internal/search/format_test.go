package search_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
)

const tales = `[{"id":1,"title":"The Wizard's knights","text":"A knight rode out at dawn. Nobody had seen the old wizard of Straßburg for many years, and the knight was looking for him.",
	"pages":120,"tags":["Knights","x <b>"],"author":{"name":"K. Night","born":1970},"secret":"knight"}]`

func TestFormat(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"displayedAttributes":["id","title","text","pages","tags","author"]}`)
	r.add("a", tales)
	star := []string{"*"}
	tests := []struct {
		name, q string
		only    []string // attributesToRetrieve
		f       highlight.Format
		want    string
	}{
		{
			"highlight all", "knight wizard",
			[]string{"title", "tags", "pages"},
			highlight.Format{Highlight: star},
			`{"id":"1","title":"The <em>Wizard</em>'s <em>knights</em>","text":"A <em>knight</em> rode out at dawn. Nobody had seen the old <em>wizard</em> of Straßburg for many years, and the <em>knight</em> was looking for him.","pages":"120","tags":["<em>Knights</em>","x <b>"],"author":{"name":"K. Night","born":"1970"}}`,
		},
		{"highlight one, show another", "knight", []string{"pages"}, highlight.Format{Highlight: []string{"title"}}, `{"title":"The Wizard's <em>knight</em>s","pages":"120"}`},
		{"the beginning that was typed", "kni", []string{"title"}, highlight.Format{Highlight: []string{"title"}}, `{"title":"The Wizard's <em>kni</em>ghts"}`},
		{"a typo", "wizadr x", []string{"title"}, highlight.Format{Highlight: []string{"title"}}, `{"title":"The <em>Wizard</em>'s knights"}`},
		{"letters of more bytes when folded", "strassbu", []string{}, highlight.Format{Highlight: []string{"text"}, Crop: []string{"text:1"}}, `{"text":"…<em>Straßbu</em>rg…"}`},
		{
			"phrase as one", `"old wizard"`, nil,
			highlight.Format{Highlight: []string{"text"}, Crop: []string{"text"}, CropLength: limit(4)},
			`{"id":"1","title":"The Wizard's knights","text":"…the <em>old wizard</em> of…","pages":"120","tags":["Knights","x <b>"],"author":{"name":"K. Night","born":"1970"}}`,
		},
		{"tags of one's own", "120", []string{"pages"}, highlight.Format{Highlight: []string{"pages"}, PreTag: new("["), PostTag: new("]")}, `{"pages":"[120]"}`},
		{"nested", "night", []string{"author"}, highlight.Format{Highlight: []string{"author"}}, `{"author":{"name":"K. <em>Night</em>","born":"1970"}}`},
		{"crop only, around most of the words", "wizard years", []string{}, highlight.Format{Crop: []string{"text"}, CropLength: limit(6), CropMarker: new(" [..] ")}, `{"text":" [..] wizard of Straßburg for many years [..] "}`},
		{"crop without words", "", []string{}, highlight.Format{Crop: []string{"text:3"}}, `{"text":"A knight rode…"}`},
		{"a typo in what goes on", "wizadr", []string{}, highlight.Format{Highlight: []string{"title"}}, `{"title":"The <em>Wizard</em>'s knights"}`},
		{"a typo in a beginning", "strasbur", []string{}, highlight.Format{Highlight: []string{"text"}, Crop: []string{"text:1"}}, `{"text":"…<em>Straßbu</em>rg…"}`},
		{"crop of all, one of them all", "", []string{}, highlight.Format{Crop: []string{"text:2", "*"}, CropLength: limit(1)}, `{"id":"1","title":"The…","text":"A…","pages":"120","tags":["Knights","x…"],"author":{"name":"K…","born":"1970"}}`},
		{"crop of all, then one in its own length", "", []string{}, highlight.Format{Crop: []string{"*", "text:2"}, CropLength: limit(1)}, `{"id":"1","title":"The…","text":"A knight…","pages":"120","tags":["Knights","x…"],"author":{"name":"K…","born":"1970"}}`},
		{"length zero crops nothing", "", []string{"title"}, highlight.Format{Crop: []string{"title"}, CropLength: limit(0)}, `{"title":"The Wizard's knights"}`},
		{"hidden attributes stay so", "knight", []string{}, highlight.Format{Highlight: []string{"secret"}, Crop: []string{"secret"}}, ""},
		{"nothing that exists", "knight", nil, highlight.Format{Highlight: []string{"nope"}, Crop: []string{"author.nope:3"}}, ""},
		{"no format", "knight", nil, highlight.Format{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := r.search("a", search.Query{Q: tt.q, AttributesToRetrieve: tt.only, Format: tt.f})
			if len(res.Hits) != 1 || string(res.Hits[0].Formatted) != tt.want {
				t.Fatalf("%d hits, formatted\n%s, want\n%s", len(res.Hits), res.Hits[0].Formatted, tt.want)
			}
			if tt.want != "" && !json.Valid(res.Hits[0].Formatted) {
				t.Error("it is not JSON")
			}
		})
	}
	for code, f := range map[apierr.Code]highlight.Format{
		searcherr.InvalidSearchCropLength:     {CropLength: limit(-1)},
		searcherr.InvalidSearchAttributesCrop: {Crop: []string{"text:x"}},
	} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Format: f})
		wantCode(t, code.String(), err, code)
	}
}

func TestMatchesPosition(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"displayedAttributes":["id","title","text","pages","tags","author"]}`)
	r.add("a", tales)
	tests := []struct {
		q    string
		only []string
		want string
	}{
		{"knight", nil, `{"title":[{"start":13,"length":6}],"text":[{"start":2,"length":6},{"start":96,"length":6}],"tags":[{"start":0,"length":6,"indices":[0]}]}`},
		{"straßburg 120", []string{"text", "pages"}, `{"text":[{"start":61,"length":10}],"pages":[{"start":0,"length":3}]}`},
		{`"the knight"`, []string{"text"}, `{"text":[{"start":92,"length":10}]}`},
		{"night", []string{"author.name"}, `{"author.name":[{"start":3,"length":5}]}`},
		{"x", []string{"tags"}, `{"tags":[{"start":0,"length":1,"indices":[1]}]}`},
		{"", nil, `{}`},
	}
	for _, tt := range tests {
		res := r.search("a", search.Query{Q: tt.q, AttributesToRetrieve: tt.only, Format: highlight.Format{Positions: true}})
		if got := string(res.Hits[0].Matches); got != tt.want {
			t.Errorf("matches of %q\n%s, want\n%s", tt.q, got, tt.want)
		}
	}
}

// TestCropWindow wants crops to have the words around a match that those of
// Meilisearch have.
func TestCropWindow(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"x":"The Petit Prince is a French children's book about a prince that walks on many planets. He meets a fox, a rose; and a king."},{"id":2,"y":"one two three."},{"id":3,"z":"Here is a small book about a journey that goes on for long"}]`)
	for _, tt := range []struct {
		q, attribute string
		length       int
		want         string
	}{
		{"walks", "x", 6, "…a prince that walks on many…"},
		{"planets", "x", 4, "…walks on many planets…"},
		{"fox", "x", 3, "…meets a fox…"},
		{"petit", "x", 3, "The Petit Prince…"},
		{"king", "x", 4, "…rose; and a king."},
		{"prince walks", "x", 4, "…a prince that walks…"},
		{"prince fox rose", "x", 5, "…meets a fox, a rose…"},
		{"", "x", 3, "The Petit Prince…"},
		{"two", "y", 9, "one two three."},
		{"two", "y", 3, "one two three…"},
		{`"on many planets"`, "x", 2, "…on many…"},
		{"journey", "z", 6, "…book about a journey that goes…"},
	} {
		res := r.search("a", search.Query{Q: tt.q, AttributesToRetrieve: []string{}, Format: highlight.Format{Crop: []string{tt.attribute}, CropLength: limit(tt.length)}})
		got := ""
		for _, h := range res.Hits {
			var shown map[string]string
			if h.Formatted != nil && json.Unmarshal(h.Formatted, &shown) == nil && shown[tt.attribute] != "" {
				got = shown[tt.attribute]
			}
		}
		if got != tt.want {
			t.Errorf("%q in %d words: %q, want %q", tt.q, tt.length, got, tt.want)
		}
	}
}

// Of an array the last element with a match counts, and of it all matches, as in
// Meilisearch.
func TestMatchesPositionOfArrays(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"tags":["red fox","no","red red","blue"],"by":[{"name":"Red"},{"name":"Reed"}]}]`)
	res := r.search("a", search.Query{Q: "red ", Format: highlight.Format{Positions: true}})
	if got, want := string(res.Hits[0].Matches), `{"tags":[{"start":0,"length":3,"indices":[2]},{"start":4,"length":3,"indices":[2]}],"by.name":[{"start":0,"length":3,"indices":[0]}]}`; got != want {
		t.Errorf("matches %s, want %s", got, want)
	}
}
