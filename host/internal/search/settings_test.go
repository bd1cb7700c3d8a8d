package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// setting returns one setting of an index as JSON.
func (r *rig) setting(uid, route string) string {
	r.tb.Helper()
	s, err := r.svc.Settings(auth.Everyone(), uid)
	if err != nil {
		r.tb.Fatal(err)
	}
	v, ok := s.Setting(route)
	if !ok {
		r.tb.Fatalf("no setting %s", route)
	}
	return string(v)
}

func TestSettingsPatch(t *testing.T) {
	r := newRig(t)
	tests := []struct{ name, patch, route, want string }{
		{"set", `{"searchableAttributes":["title","a.b","title"]}`, "searchable-attributes", `["title","a.b"]`},
		{"absent stays", `{"filterableAttributes":["year","author"]}`, "searchable-attributes", `["title","a.b"]`},
		{"sorted", `{}`, "filterable-attributes", `["author","year"]`},
		{"star swallows", `{"displayedAttributes":["x","*"]}`, "displayed-attributes", `["*"]`},
		{"empty", `{"displayedAttributes":[]}`, "displayed-attributes", `[]`},
		{"null resets", `{"displayedAttributes":null,"searchableAttributes":null}`, "displayed-attributes", `["*"]`},
		{"null resets the other", `{}`, "searchable-attributes", `["*"]`},
		{"chat merges", `{"chat":{"description":"Films","searchParameters":{"limit":3}}}`, "chat", `"description":"Films"`},
		{"chat merges deeper", `{"chat":{"searchParameters":{"matchingStrategy":"all"}}}`, "chat", `"searchParameters":{"limit":3,"matchingStrategy":"all"}`},
		{"chat null within", `{"chat":{"searchParameters":{"limit":null}}}`, "chat", `"searchParameters":{"matchingStrategy":"all"}`},
		{"chat keeps", `{"chat":{"documentTemplateMaxBytes":7}}`, "chat", `"description":"Films"`},
		{"chat null", `{"chat":null}`, "chat", `"documentTemplateMaxBytes":400,"passages":"auto","passageMaxBytes":1500,"resultMaxBytes":8000,"searchParameters":{}`},
		{"chat passages", `{"chat":{"passages":"off","passageMaxBytes":900,"resultMaxBytes":600}}`, "chat", `"passages":"off","passageMaxBytes":900,"resultMaxBytes":600`},
		{"those of Meilisearch that do nothing", `{"foreignKeys":[ ],"vectorStore":"experimental"}`, "stop-words", `[]`},
		{"one of Meilisearch that is null", `{"foreignKeys":null}`, "stop-words", `[]`},
		{"chat passages again", `{"chat":{"passages":null,"passageMaxBytes":null,"resultMaxBytes":null}}`, "chat", `"passages":"auto","passageMaxBytes":1500,"resultMaxBytes":8000`},
	}
	for _, tt := range tests {
		r.settings("a", tt.patch)
		if got := r.setting("a", tt.route); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s is %s after %s, want %s", tt.name, tt.route, got, tt.patch, tt.want)
		}
	}
	r.settings("a", `{"filterableAttributes":["z"],"chat":{"description":"D"}}`)
	r.ok(r.svc.ResetSettings("a"))
	got, err := json.Marshal(mustSettings(t, r, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := json.Marshal(settings.DefaultSettings()); string(got) != string(want) {
		t.Errorf("after a reset %s, want %s", got, want)
	}
	n, ok, err := r.svc.UpdateSetting("a", "filterable-attributes", []byte(`["q"]`))
	if !ok {
		t.Fatal("no setting filterable-attributes")
	}
	r.ok(n, err)
	if got := r.setting("a", "filterable-attributes"); got != `["q"]` {
		t.Errorf("one setting set: %s", got)
	}
	if _, ok, _ := r.svc.UpdateSetting("a", "nope", []byte(`[]`)); ok {
		t.Error("a setting nope exists")
	}
	r.reopen()
	if got := r.setting("a", "filterable-attributes"); got != `["q"]` {
		t.Errorf("one setting set, after a restart: %s", got)
	}
	n, _, err = r.svc.ResetSetting("a", "filterable-attributes")
	r.ok(n, err)
	if got := r.setting("a", "filterable-attributes"); got != `[]` {
		t.Errorf("one setting reset: %s", got)
	}
}

func mustSettings(t *testing.T, r *rig, uid string) settings.Settings {
	t.Helper()
	s, err := r.svc.Settings(auth.Everyone(), uid)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSearchableAttributes(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"x":"red","y":"blue"},{"id":2,"x":"blue","y":"red"},{"id":3,"n":{"x":"green","y":["grey","red"]}}]`)
	steps := []struct{ patch, q, want string }{
		{`{}`, "red", "1 2 3"},
		{`{"searchableAttributes":["y","x"]}`, "red", "2 1"},
		{`{"searchableAttributes":["x","y"]}`, "red", "1 2"},
		{`{"searchableAttributes":["y"]}`, "red", "2"},
		{`{"searchableAttributes":["n"]}`, "grey", "3"},
		{`{"searchableAttributes":["n.x"]}`, "grey", ""},
		{`{"searchableAttributes":[]}`, "red", ""},
		{`{"searchableAttributes":null}`, "red", "1 2 3"},
	}
	for _, s := range steps {
		r.settings("a", s.patch)
		if got := r.ids("a", search.Query{Q: s.q}); got != s.want {
			t.Errorf("after %s search %s found %q, want %q", s.patch, s.q, got, s.want)
		}
	}
}

func TestDisplayedAttributes(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1,"x":"red","n":{"a":1,"b":[{"c":2,"d":3},{"d":4}]},"z":null}`)
	tests := []struct {
		displayed string
		retrieve  []string
		want      string
	}{
		{`null`, nil, `{"id":1,"x":"red","n":{"a":1,"b":[{"c":2,"d":3},{"d":4}]},"z":null}`},
		{`["x","z"]`, nil, `{"x":"red","z":null}`},
		{`["n.b.d"]`, nil, `{"n":{"b":[{"d":3},{"d":4}]}}`},
		{`["n.b.c"]`, nil, `{"n":{"b":[{"c":2}]}}`},
		{`["n"]`, []string{"n.a", "x"}, `{"n":{"a":1}}`},
		{`["x"]`, []string{"*"}, `{"x":"red"}`},
		{`["x"]`, []string{}, `{}`},
		{`[]`, nil, `{}`},
		{`["nope"]`, nil, `{}`},
	}
	for _, tt := range tests {
		r.settings("a", `{"displayedAttributes":`+tt.displayed+`}`)
		res := r.search("a", search.Query{AttributesToRetrieve: tt.retrieve})
		if len(res.Hits) != 1 || string(res.Hits[0].Document) != tt.want {
			t.Errorf("displayed %s, retrieve %v: %s, want %s", tt.displayed, tt.retrieve, res.Hits[0].Document, tt.want)
		}
	}
}

func TestSearchRefused(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1}`)
	tests := []struct {
		name string
		q    search.Query
		code apierr.Code
		says string
	}{
		{"offset", search.Query{Offset: -1}, searcherr.InvalidSearchOffset, "-1"},
		{"limit", search.Query{Limit: limit(-2)}, searcherr.InvalidSearchLimit, "-2"},
		{"strategy", search.Query{MatchingStrategy: "some"}, searcherr.InvalidSearchMatchingStrategy, "some"},
		{"threshold", search.Query{RankingScoreThreshold: 1.5}, searcherr.InvalidSearchRankingThreshold, "1.5"},
		{"filter syntax", search.Query{Filter: filter("a =")}, searcherr.InvalidSearchFilter, "column 4"},
		{"filter type", search.Query{Filter: []byte(`{}`)}, searcherr.InvalidSearchFilter, "an object"},
		{"filter attribute", search.Query{Filter: filter("a = 1")}, searcherr.InvalidSearchFilter, "not filterable"},
	}
	for _, tt := range tests {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", tt.q)
		wantCode(t, tt.name, err, tt.code)
		if !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %v does not say %s", tt.name, err, tt.says)
		}
	}
}

func TestPagingAndScore(t *testing.T) {
	r := newRig(t)
	r.add("a", docsJSON(1, 50, func(i int) string { return fmt.Sprintf(`"x":"%sapple pie number"`, strings.Repeat("so ", i)) }))
	var got []string
	for offset := 0; offset < 60; offset += 7 {
		res := r.search("a", search.Query{Q: "apple pie", Offset: offset, Limit: limit(7)})
		if res.EstimatedTotalHits != 50 || res.Offset != offset || res.Limit != 7 {
			t.Errorf("offset %d: total %d, offset %d, limit %d", offset, res.EstimatedTotalHits, res.Offset, res.Limit)
		}
		for _, h := range res.Hits {
			got = append(got, h.ID)
		}
	}
	whole := r.ids("a", search.Query{Q: "apple pie", Limit: limit(1000)})
	if strings.Join(got, " ") != whole || len(got) != 50 || got[0] != "1" || got[49] != "50" {
		t.Errorf("pages %v, whole %s", got, whole)
	}
	last := 1.01
	for _, h := range r.search("a", search.Query{Q: "aple pie nothing", Limit: limit(50)}).Hits {
		if h.Score > last || h.Score <= 0 {
			t.Errorf("score %v behind %v", h.Score, last)
		}
		last = h.Score
	}
	if n := len(r.search("a", search.Query{Q: "apple pie nothing", RankingScoreThreshold: 0.9}).Hits); n != 0 {
		t.Errorf("%d hits above the threshold, want none", n)
	}
	if got := r.ids("a", search.Query{Q: "apple nothing", MatchingStrategy: settings.All}); got != "" {
		t.Errorf("strategy all found %q", got)
	}
	if n := r.search("a", search.Query{Limit: limit(0)}); len(n.Hits) != 0 || n.EstimatedTotalHits != 50 {
		t.Errorf("limit 0: %d hits of %d", len(n.Hits), n.EstimatedTotalHits)
	}
}

// TestPlaceholderOrder wants the order of insertion from many documents in
// several segments, whatever was replaced since.
func TestPlaceholderOrder(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["n"]}`)
	for first := 9000; first > 0; first -= 3000 {
		r.add("a", docsJSON(first, 3000, func(i int) string { return fmt.Sprintf(`"n":%d`, i) }))
	}
	r.add("a", docsJSON(9000, 2, func(i int) string { return fmt.Sprintf(`"n":%d`, i) }))
	r.ok(write.DeleteDocuments("a", []string{"9001", "9002"}))
	if got, want := r.ids("a", search.Query{Limit: limit(4)}), "9000 9003 9004 9005"; got != want {
		t.Errorf("the first of all are %s, want %s", got, want)
	}
	if got, want := r.ids("a", search.Query{Filter: filter("n < 8999"), Limit: limit(3), Offset: 2}), "6002 6003 6004"; got != want {
		t.Errorf("the first of many are %s, want %s", got, want)
	}
	if got, want := r.ids("a", search.Query{Filter: filter("n < 3002 OR n = 6007"), Limit: limit(4)}), "6007 3000 3001"; got != want {
		t.Errorf("the first of few are %s, want %s", got, want)
	}
}

// TestResetMakesNoIndex wants a reset to fail where there is nothing to reset,
// and an update to make the index.
func TestResetMakesNoIndex(t *testing.T) {
	r := newRig(t)
	all, err := r.svc.ResetSettings("none")
	if err != nil {
		t.Fatal(err)
	}
	one, ok, err := r.svc.ResetSetting("none", "stop-words")
	if !ok || err != nil {
		t.Fatalf("ResetSetting = %v, %v", ok, err)
	}
	for name, n := range map[string]task.New{"all": all, "one": one} {
		if got := r.run(n, nil); got.Error == nil || got.Error.Code != "index_not_found" {
			t.Errorf("reset of %s in an index that is not there: %+v, want index_not_found", name, got)
		}
	}
	if _, ok, _ := r.svc.ResetSetting("none", "nope"); ok {
		t.Error("a setting nope exists")
	}
	n, _, err := r.svc.UpdateSetting("none", "stop-words", []byte("null"))
	r.ok(n, err)
	if got := r.setting("none", "stop-words"); got != `[]` {
		t.Errorf("stop words of the index that an update made: %s", got)
	}
}
