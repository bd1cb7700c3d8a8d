package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A search answers with passages next to its hits when it is asked to.
func TestSearchPassages(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	page := "# Guide\n\n"
	for i := range 20 { // equal passages would be shown once
		page += fmt.Sprintf("## Chapter %d\n\n%s\n\n", i, strings.Repeat(fmt.Sprintf("How the controller %d works. ", i), 30))
	}
	page += "## Interval\n\nRepositories are polled every three minutes."
	doc, err := json.Marshal([]map[string]any{{"id": "guide", "title": "Guide", "url": "https://example.org/g", "kind": "page", "text": page}, {"id": "x", "kind": "other", "title": "Polled", "text": "Who is polled?"}})
	check(t, err)
	r.task(r.do("POST", "/indexes/docs/documents", string(doc)))
	r.task(r.do("PATCH", "/indexes/docs/settings", `{"filterableAttributes":["kind"],"displayedAttributes":["id","title","url","text"]}`))
	ask := func(body string) (list []string, said string) {
		t.Helper()
		a := r.do("POST", "/indexes/docs/search", body)
		var b struct {
			Hits     []json.RawMessage
			Passages *struct {
				Coverage float64
				Hits     []struct{ ID, Title, URL, Text string }
			}
		}
		check(t, json.Unmarshal([]byte(a.body), &b))
		if b.Passages == nil {
			return nil, a.body
		}
		for _, h := range b.Passages.Hits {
			list = append(list, h.ID+" "+h.Title+" "+h.URL+" "+h.Text)
		}
		return list, a.body
	}
	list, said := ask(`{"q":"How often are repositories polled?","limit":0,"filter":"kind = page","passages":{}}`)
	if len(list) == 0 || list[0] != "guide Guide > Interval https://example.org/g#interval Repositories are polled every three minutes." {
		t.Errorf("passages %.300q of %.300s", list, said)
	}
	if strings.Contains(said, "kind") {
		t.Errorf("what is not displayed is shown: %s", said)
	}
	if len(said) > 9000 || len(list) < 4 {
		t.Errorf("%d bytes with %d passages, want what fits 8,000", len(said), len(list))
	}
	if list, said := ask(`{"q":"How often are repositories polled?","limit":0,"passages":{"maxBytes":600,"explain":true}}`); len(list) == 0 ||
		!strings.Contains(said, `"word":"polled","worth":0.`) || !strings.Contains(said, `"foundAs":["polled"`) || !strings.Contains(said, `"noRoom":`) || strings.Count(said, `"coverage":`) != len(list)+1 {
		t.Errorf("explained: %.1200s", said)
	}
	if list, said := ask(`{"q":"How often are repositories polled?","limit":0,"filter":"kind = page","passages":{"maxBytes":600}}`); len(said) > 900 || len(list) == 0 {
		t.Errorf("%d bytes with %d passages, want at most 600 of them", len(said), len(list))
	}
	if list, _ := ask(`{"q":"who repositories","matchingStrategy":"all","passages":{}}`); len(list) != 0 {
		t.Errorf("passages of what does not match: %q", list)
	}
	if list, said := ask(`{"q":" ","passages":{}}`); len(list) != 0 || !strings.Contains(said, `"passages":{"coverage":0,"hits":[]}`) {
		t.Errorf("a blank question: %s", said)
	}
	if _, said := ask(`{"q":"polled"}`); strings.Contains(said, "passages") || strings.Contains(said, "coverage") {
		t.Errorf("passages that nobody asked for: %s", said)
	}
	tenant := r.tenant(t, map[string]any{"docs": map[string]any{"filter": "kind = other"}})
	// How documents that a tenant does not see spell a word is not told either.
	if a := r.do("POST", "/indexes/docs/search", `{"q":"poll the repository","limit":0,"passages":{"explain":true}}`, "Authorization", "Bearer "+tenant); a.status != 200 ||
		!strings.Contains(a.body, `"foundAs":["polled"]`) || strings.Contains(a.body, "repositories") {
		t.Errorf("explained to a tenant: %d %s", a.status, a.body)
	}
	for name, as := range map[string]struct{ key, sees string }{
		"key of another index": {r.key([]string{"search"}, []string{"other"}), ""},
		"key that adds alone":  {r.key([]string{"documents.add"}, []string{"docs"}), ""},
		"key":                  {r.key([]string{"search"}, []string{"docs"}), "guide"},
		"tenant":               {tenant, "x"},
	} {
		a := r.do("POST", "/indexes/docs/search", `{"q":"How often are repositories polled?","limit":0,"passages":{}}`, "Authorization", "Bearer "+as.key)
		if first := strings.Contains(a.body, `"hits":[{"id":"`+as.sees+`"`); first != (as.sees != "") || as.sees == "x" && strings.Contains(a.body, "three minutes") || as.sees == "" && a.status < 400 {
			t.Errorf("by a %s: %d %.300s, want passages of %q first", name, a.status, a.body, as.sees)
		}
	}
	for body, code := range map[string]string{
		`{"passages":{"maxBytes":499}}`:   "invalid_search_passages",
		`{"passages":{"maxBytes":0}}`:     "invalid_search_passages",
		`{"passages":{"maxBytes":64001}}`: "invalid_search_passages",
		`{"passages":{"size":1}}`:         "bad_request",
		`{"passages":true}`:               "invalid_search_passages",
	} {
		if a := r.do("POST", "/indexes/docs/search", body); a.status != 400 || !strings.Contains(a.body, `"`+code+`"`) {
			t.Errorf("%s: %d %s, want %s", body, a.status, a.body, code)
		}
	}
	if a := r.do("POST", "/multi-search", `{"queries":[{"indexUid":"docs","passages":{}}]}`); a.status != 400 {
		t.Errorf("passages of a multi-search: %d %s, want a refusal", a.status, a.body)
	}
}
