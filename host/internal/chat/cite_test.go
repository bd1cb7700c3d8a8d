package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// fileHit is a passage of an imported file.
func fileHit(id, path string, n, page int, text string, headings ...string) Hit {
	doc, _ := json.Marshal(map[string]any{"id": id, "group": "my files", "path": path, "title": "Page", "n": n, "page": page, "headings": headings, "text": text, "contentHash": "x"})
	return Hit{ID: id, Title: "Page > " + id, Text: text, Document: doc}
}

func TestCitations(t *testing.T) {
	hits := []Hit{
		fileHit("x1", "handbook.md", 3, 0, "Full-time staff have 28 working days of annual leave. Unused days lapse on 31 March.", "Leave"),
		fileHit("x2", "minutes.md", 0, 0, "Ingrid takes care of the trade fair in Basel."),
		{ID: "4", Title: "Page > End", URL: "https://a.example/4#end", Text: "The end of the page."},
	}
	again := slices.Clone(hits[1:2])
	found := addCitable(nil, "http://h", "m", hits)
	found = addCitable(found, "http://h", "m", again)
	if len(found) != 3 || hits[2].Number != 3 || again[0].Number != 2 {
		t.Fatalf("%d places, numbers %d and %d; want 3, 3 and 2", len(found), hits[2].Number, again[0].Number)
	}
	at := func(number, from, to int) Citation {
		c := found[number-1]
		return Citation{URL: c.url, Title: c.name, Number: number, From: from, To: to}
	}
	byWords := func(number, to int) Citation {
		c := at(number, 0, to)
		c.ByWords = true
		return c
	}
	const question = "How many days of leave do staff get, and who goes to Basel?"
	tests := []struct {
		text string
		want []Citation
	}{
		{"Ünder [1] and [3], [9].", []Citation{at(1, 6, 9), at(3, 14, 17)}},
		{"Both [1, 2].", []Citation{at(1, 5, 11), at(2, 5, 11)}},
		{"Forms [source 2] 【3†source】[^1].", []Citation{at(2, 6, 16), at(3, 17, 27), at(1, 27, 31)}},
		{"By name [m/x1], [handbook.md › Leave], [minutes.md].", []Citation{at(1, 8, 14), at(1, 16, 37), at(2, 39, 51)}},
		{"See [the end](https://a.example/4#end).", []Citation{at(3, 4, 38)}},
		{"Read `a[1]` and\n```\nb[2]\n``` and [3].", []Citation{at(3, 33, 36)}},
		// Nothing is named: what the words are of.
		{"You get 28 working days, and unused ones lapse in March.", []Citation{byWords(1, 56)}},
		{"Ingrid does.", []Citation{byWords(2, 12)}},
		// It names nothing and uses nothing, though it repeats the question.
		{"The documents do not say how many days of leave staff get.", nil},
		{"I cannot answer that.", nil},
		{"No idea [7].", nil},
	}
	for _, tt := range tests {
		if got := cite([]byte(tt.text), question, found); !slices.Equal(got, tt.want) {
			t.Errorf("citations of %q = %v\nwant %v", tt.text, got, tt.want)
		}
	}
	if got := cite([]byte("Leave [1] of [2]"), "", nil); got != nil {
		t.Errorf("nothing found, and cited: %v", got)
	}
	var many []citable
	for i := range 50 {
		many = addCitable(many, "", "m", []Hit{{ID: fmt.Sprint(i), Text: fmt.Sprint("alpha beta gamma delta word", i)}})
	}
	if got := cite([]byte("alpha beta gamma delta word7"), "", many); len(got) != 1 || got[0].Number != 8 {
		t.Errorf("fifty alike are cited as %v, want the eighth alone", got)
	}
}
