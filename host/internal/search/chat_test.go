package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/search"
)

var _ chat.Searcher = (*search.Service)(nil)

// chatTexts returns the rendered texts of a chat's search.
func (r *rig) chatTexts(uid, q string) []string {
	r.tb.Helper()
	found, err := r.svc.ChatSearch(context.Background(), auth.Everyone(), uid, q, "")
	hits := found.Hits
	if err != nil {
		r.tb.Fatal(err)
	}
	var out []string
	for _, h := range hits {
		out = append(out, h.Text)
	}
	return out
}

func TestChatSearchRenders(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":7,"title":"Solaris","note":null,"year":1961,"tags":["x","y"],"secret":"hidden words"}`)
	tests := []struct{ settings, want string }{
		{`{"chat":{"passages":"off"}}`, "id: 7\ntitle: Solaris\nyear: 1961\ntags: [\"x\",\"y\"]\nsecret: hidden words\n"},
		{`{"displayedAttributes":["title","tags","year"]}`, "title: Solaris\nyear: 1961\ntags: [\"x\",\"y\"]\n"},
		{`{"searchableAttributes":["title"]}`, "title: Solaris\n"},
		{`{"chat":{"documentTemplate":"{{doc.title}} of {{ doc.year }}{{doc.secret}}{% for t in doc.tags %}, {{t|upcase}}{% endfor %}"}}`, "Solaris of 1961, X, Y"},
		{`{"chat":{"documentTemplate":"{% for f in fields %}{% if f.is_searchable %}{{f.name}}={{f.value}} {% endif %}{% endfor %}"}}`, "title=Solaris "},
		{`{"chat":{"documentTemplate":null,"documentTemplateMaxBytes":10}}`, "title: Sol"},
	}
	for _, tt := range tests {
		r.settings("a", tt.settings)
		got := r.chatTexts("a", "solaris")
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("after %s: %q, want %q", tt.settings, got, tt.want)
		}
	}
	found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "solaris", "")
	hits := found.Hits
	if err != nil {
		t.Fatal(err)
	}
	if hits[0].ID != "7" || string(hits[0].Document) != `{"title":"Solaris","year":1961,"tags":["x","y"]}` {
		t.Errorf("hit %s %s", hits[0].ID, hits[0].Document)
	}
}

// TestDefaultTemplate wants the fast way to give what the template says.
func TestDefaultTemplate(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":7,"title":"Solaris","note":null,"year":1961,"big":12345678,"half":0.5,"on":true}`)
	r.settings("a", `{"chat":{"passages":"off"}}`)
	want := r.chatTexts("a", "solaris")
	chat := r.setting("a", "chat")
	var c struct{ DocumentTemplate string }
	if err := json.Unmarshal([]byte(chat), &c); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"chat": map[string]any{"documentTemplate": c.DocumentTemplate + " "}})
	if err != nil {
		t.Fatal(err)
	}
	r.settings("a", string(body))
	if got := r.chatTexts("a", "solaris"); len(got) != 1 || strings.TrimRight(got[0], " ") != want[0] {
		t.Errorf("the default template gives %q, without one the text is %q", got, want)
	}
}

func TestChatTextIsCutBetweenCharacters(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1,"x":"éééééééééé"}`)
	for _, template := range []string{`null`, `"{{doc.x}}{{doc.x}}{{doc.x}}"`} {
		for n := 1; n < 20; n++ {
			r.settings("a", fmt.Sprintf(`{"chat":{"documentTemplate":%s,"documentTemplateMaxBytes":%d}}`, template, n))
			for _, text := range r.chatTexts("a", "") {
				if len(text) > n || len(text) < n-1 || !utf8.ValidString(text) {
					t.Errorf("text of %d bytes, %q; want at most %d, whole characters", len(text), text, n)
				}
			}
		}
	}
}

// TestTemplateIsBounded renders templates that would grow or run without end.
func TestTemplateIsBounded(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1,"x":[`+strings.Repeat(`"abc",`, 5000)+`"z"]}`)
	for _, template := range []string{
		`{% assign s = 'xx' %}{% for a in doc.x %}{% assign s = s | append: s %}{% endfor %}{{ s }}`,
		`{% assign s = 'aa' %}{% for a in doc.x %}{% assign s = s | replace: 'a', 'aaaaaaaa' %}{% endfor %}{{ s }}`,
		`{% assign s = doc.x %}{% for a in doc.x %}{% assign s = s | concat: s %}{% endfor %}{{ s | join: ' ' }}`,
		`{% for a in doc.x %}{% for b in doc.x %}{{ a }}{{ b }}{% endfor %}{% endfor %}`,
		`{% for a in doc.x %}{% for b in doc.x %}{% endfor %}{% endfor %}`,
	} {
		body, err := json.Marshal(map[string]any{"chat": map[string]any{"documentTemplate": template}})
		if err != nil {
			t.Fatal(err)
		}
		r.settings("a", string(body))
		if got := r.chatTexts("a", ""); len(got) != 1 || len(got[0]) > 400 {
			t.Errorf("%s: %d texts, %.100q", template, len(got), got)
		}
	}
}

func TestChatSearchParameters(t *testing.T) {
	r := newRig(t)
	r.add("a", docsJSON(1, 30, func(i int) string { return fmt.Sprintf(`"x":"common word%d"`, i) }))
	for settings, want := range map[string]int{
		`{"chat":null}`:                             30, // short documents, all of which fit
		`{"chat":{"passages":"off"}}`:               20,
		`{"chat":{"resultMaxBytes":500}}`:           8,
		`{"chat":{"searchParameters":{"limit":3}}}`: 3,
		`{"chat":{"searchParameters":{"limit":null,"matchingStrategy":"all"}}}`:                0,
		`{"chat":{"searchParameters":{"limit":5,"rankingScoreThreshold":1}}}`:                  0,
		`{"chat":{"searchParameters":{"matchingStrategy":null,"rankingScoreThreshold":null}}}`: 30,
	} {
		r.ok(r.svc.ResetSettings("a"))
		r.settings("a", settings)
		if got := len(r.chatTexts("a", "common wombat")); got != want {
			t.Errorf("after %s %d hits, want %d", settings, got, want)
		}
	}
}

func TestChatErrorsAreForTheModel(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1}`)
	_, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "b", "x", "")
	wantCode(t, "no such index", err, indexerr.IndexNotFound)
	_, err = r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "x", "y = 1")
	wantCode(t, "filter", err, searcherr.InvalidSearchFilter)
	if found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "x", "  "); err != nil || len(found.Hits) != 0 {
		t.Errorf("blank filter: %v, %v", found.Hits, err)
	}
}

func TestChatIndexes(t *testing.T) {
	r := newRig(t)
	r.add("films", `[{"id":1,"genre":"Drama","year":1999,"cast":[{"name":"Ann"},{"name":"Bo"}]},{"id":2,"genre":"drama","year":1999},
		{"id":3,"genre":"Drama","year":2000.5},{"id":4,"genre":"Comedy","ok":true},{"id":5,"genre":"`+strings.Repeat("long ", 50)+`"}]`)
	r.settings("films", `{"filterableAttributes":["genre","year","cast","ok","absent"],"chat":{"description":"Some films"}}`)
	r.add("books", books)
	list, err := r.svc.ChatIndexes(t.Context(), auth.Everyone(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"UID":"books","Description":"","Filterable":null},{"UID":"films","Description":"Some films","Filterable":[` +
		`{"Attribute":"cast.name","Values":["Ann","Bo"]},{"Attribute":"genre","Values":["Drama","Comedy"]},{"Attribute":"ok","Values":["true"]},{"Attribute":"year","Values":["1999","2000.5"]}]}]`
	if got, _ := json.Marshal(list); string(got) != want {
		t.Errorf("ChatIndexes = %s\nwant %s", got, want)
	}
	list, err = r.svc.ChatIndexes(t.Context(), auth.Everyone(), []string{"books", "nope"})
	if err != nil || len(list) != 1 || list[0].UID != "books" {
		t.Errorf("ChatIndexes of books and nope = %v, %v", list, err)
	}
	r.add("films", `[{"id":1,"genre":"Noir"},{"id":2,"genre":"Noir"},{"id":3,"genre":"Noir"}]`)
	list, err = r.svc.ChatIndexes(t.Context(), auth.Everyone(), []string{"films"})
	if err != nil || fmt.Sprint(list[0].Filterable) != "[{genre [Noir Comedy]} {ok [true]}]" {
		t.Errorf("after a change ChatIndexes = %v, %v", list, err)
	}
}

// The model's searches go by meaning where the index says so, and in its order.
func TestChatSearchByMeaning(t *testing.T) {
	r := newRig(t)
	e := newEmbedder(t)
	r.settings("a", e.settings(""))
	r.settings("a", `{"sortableAttributes":["id"],"filterableAttributes":["kind"],"chat":{"searchParameters":{"limit":2,"hybrid":{"embedder":"api","semanticRatio":1}}}}`)
	r.add("a", `[{"id":1,"text":"sea","kind":"x"},{"id":2,"text":"war","kind":"x"},{"id":3,"text":"sea sea war","kind":"y"}]`)
	search := func(q, filter string) string {
		t.Helper()
		found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", q, filter)
		hits := found.Hits
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, h := range hits {
			ids = append(ids, h.ID)
		}
		return strings.Join(ids, " ")
	}
	if got := search("what of the sea?", ""); got != "1 3" {
		t.Errorf("by meaning: %s, want 1 3", got)
	}
	if got := search("what of the sea?", "kind = y"); got != "3" {
		t.Errorf("by meaning, with a filter of the model: %s, want 3", got)
	}
	r.settings("a", `{"chat":{"searchParameters":{"hybrid":null,"sort":["id:desc"],"attributesToSearchOn":["text"]}}}`)
	if got := search("x", ""); got != "" {
		t.Errorf("in texts alone: %q, want nothing", got)
	}
	if got := search("sea war", ""); got != "3 1" {
		t.Errorf("sorted: %s", got)
	}
	r.settings("a", `{"chat":{"searchParameters":{"sort":["id:desc"],"attributesToSearchOn":null,"distinct":"kind"}}}`)
	if got := search("", ""); got != "3 2" {
		t.Errorf("distinct: %s, want one of each kind", got)
	}
	s, err := r.svc.Settings(auth.Everyone(), "a")
	if err != nil {
		t.Fatal(err)
	}
	v, _ := s.Setting("chat")
	if want := `"searchParameters":{"distinct":"kind","limit":2,"sort":["id:desc"]}`; !strings.Contains(string(v), want) {
		t.Errorf("settings = %s, want %s in it", v, want)
	}
}
