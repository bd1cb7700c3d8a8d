package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestCitations(t *testing.T) {
	hit := func(id, document string) Hit { return Hit{ID: id, Document: json.RawMessage(document)} }
	found := addCitable(nil, "http://h", "m", []Hit{
		hit("1", `{"id":1,"name":"Second","title":"Alien"}`), hit("2", `{"url":"javascript:x","link":"https://a.example/2","title":7,"label":"Two"}`),
		hit("3", `{}`), hit("1", `{"id":1,"name":"Second","title":"Alien"}`),
		{ID: "4", Title: "Page > Part", URL: "https://a.example/4#part"},
		{ID: "4", Title: "Page > End", URL: "https://a.example/4#end"},
	})
	citation := func(url, title string, from, to int) string {
		return fmt.Sprintf(`{"type":"url_citation","url_citation":{"url":%q,"title":%q,"start_index":%d,"end_index":%d}}`, url, title, from, to)
	}
	const doc = "http://h/indexes/m/documents/"
	tests := []struct {
		text string
		want []string
	}{
		{"Ünder [m/1] and [m/3], [m/9], [x/1].", []string{citation(doc+"1", "Alien", 6, 11), citation(doc+"3", "3", 16, 21)}},
		{"See [the end](https://a.example/4#end).", []string{citation("https://a.example/4#end", "Page > End", 4, 38)}},
		{"é no mark", []string{
			citation(doc+"1", "Alien", 0, 9), citation("https://a.example/2", "Two", 0, 9), citation(doc+"3", "3", 0, 9), citation("https://a.example/4#part", "Page > Part", 0, 9),
		}},
		{"", nil},
	}
	for _, tt := range tests {
		got := string(appendCitations(nil, []byte(tt.text), found))
		if want := "[" + strings.Join(tt.want, ",") + "]"; got != want {
			t.Errorf("citations of %q = %s\nwant %s", tt.text, got, want)
		}
	}
	many := addCitable(nil, "", "m", nil)
	for i := range 50 {
		many = addCitable(many, "", "m", []Hit{hit(fmt.Sprint(i), "{}")})
	}
	if n := strings.Count(string(appendCitations(nil, []byte("x"), many)), "url_citation\":{"); n != maxCitedDocuments {
		t.Errorf("%d documents cited of a text that names none, want %d", n, maxCitedDocuments)
	}
}
