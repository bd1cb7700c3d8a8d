package chat

import (
	"encoding/json"
	"fmt"
	"slices"
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
	citation := func(url, title string, from, to int) Citation { return Citation{url, title, from, to} }
	const doc = "http://h/indexes/m/documents/"
	tests := []struct {
		text string
		want []Citation
	}{
		{"Ünder [m/1] and [m/3], [m/9], [x/1].", []Citation{citation(doc+"1", "Alien", 6, 11), citation(doc+"3", "3", 16, 21)}},
		{"See [the end](https://a.example/4#end).", []Citation{citation("https://a.example/4#end", "Page > End", 4, 38)}},
		{"é no mark", []Citation{
			citation(doc+"1", "Alien", 0, 9), citation("https://a.example/2", "Two", 0, 9), citation(doc+"3", "3", 0, 9), citation("https://a.example/4#part", "Page > Part", 0, 9),
		}},
	}
	for _, tt := range tests {
		if got := cite([]byte(tt.text), found); !slices.Equal(got, tt.want) {
			t.Errorf("citations of %q = %v\nwant %v", tt.text, got, tt.want)
		}
	}
	many := addCitable(nil, "", "m", nil)
	for i := range 50 {
		many = addCitable(many, "", "m", []Hit{hit(fmt.Sprint(i), "{}")})
	}
	if n := len(cite([]byte("x"), many)); n != maxCitedDocuments {
		t.Errorf("%d documents cited of a text that names none, want %d", n, maxCitedDocuments)
	}
}
