package passage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// order returns the ids of the documents of a ranking.
func order(docs []Document, q *Question) (ids []string) {
	for _, p := range Rank(docs, q, 1500, 0) {
		ids = append(ids, docs[p.Doc].ID)
	}
	return ids
}

// part is a passage of an imported page.
func part(id, page string, place int, text string) Document {
	return Document{ID: id, Title: page + " > Care", Text: text, Whole: true, Page: page, Path: page, Place: place}
}

// Nearly the same text takes the room of one passage, unless a number differs, or a word of the question.
func TestRankJoinsAlike(t *testing.T) {
	text := func(from, price, extra string) string {
		return "The kettle of " + from + " costs " + price + " francs and boils water. " + strings.Repeat("It has a lid, a handle, a spout and a base of steel. ", 4) + "Descale it with citric acid, rinse it twice, let it dry and keep it away from small children at all times. " + extra
	}
	for _, tt := range []struct {
		name  string
		other string
		want  int
	}{
		{"another word", text("Berne", "40", ""), 1},
		{"another number", text("Basle", "50", ""), 2},
		{"a word of the question", text("Basle", "40", "descaler"), 2},
		{"other text", "A kettle is what water is boiled in. " + strings.Repeat("Kettles were made of copper, iron, clay and glass. ", 5), 2},
	} {
		docs := []Document{part("1", "a", 0, text("Basle", "40", "")), part("2", "b", 0, tt.other)}
		if ids := order(docs, ask("kettle", "descaler")); len(ids) != tt.want {
			t.Errorf("%s: passages of %v, want %d", tt.name, ids, tt.want)
		}
	}
}

// A passage that takes the room of two others names the places of both, those that have the same text included.
func TestRankJoinsAlikePlaces(t *testing.T) {
	text := func(from string) string {
		return "The kettle of " + from + " boils water. " + strings.Repeat("It has a lid, a handle, a spout and a base of steel. ", 4) + "Rinse it twice, let it dry and keep it away from small children at all times, and from pets."
	}
	docs := []Document{part("1", "a", 0, text("Basle kettle")), part("2", "b", 0, text("Berne")), part("3", "c", 0, text("Berne"))}
	list := Rank(docs, ask("kettle"), 1500, 0)
	if len(list) != 1 || len(list[0].Also) != 2 {
		t.Errorf("passages %+v, want one with two other places", list)
	}
}

// Three passages of the first document come before one of another, and no fourth.
func TestRankVaries(t *testing.T) {
	var docs []Document
	for i := range 6 {
		docs = append(docs, part(fmt.Sprint("a", i), "a.md", i, fmt.Sprintf("The kettle of kind %d boils, and the kettle whistles.", i)))
	}
	docs = append(docs, part("b", "b.md", 0, "A kettle is mentioned once on this long page. "+strings.Repeat("Other words about other things. ", 30)))
	ids := order(docs, ask("kettle", "whistles"))
	if at := slices.Index(ids, "b"); at != 3 {
		t.Errorf("order %v, want b in the fourth place", ids)
	}
}

// A list of questions, of contents or of links is not first, however many of the words it has.
func TestRankListsBehind(t *testing.T) {
	text := part("text", "b.md", 0, "To care for it, use citric acid. "+strings.Repeat("Rinse it well. ", 20)+"This is for the kettle.")
	for name, list := range map[string]string{
		"questions": "How do I descale the kettle? What does a kettle cost? Where is my kettle? Is the kettle safe?",
		"links":     "- [Kettle](kettle.md)\n- [Descale the kettle](descale.md)\n- [Kettle parts](parts.md)\n- [Kettle prices](prices.md)",
		"headings":  "- Kettle care\n- Kettle parts\n- Kettle prices\n- Descale",
	} {
		docs := []Document{
			part("list", "a.md", 0, list), text,
			{ID: "x1", Page: "a.md", Place: 5, Text: "x", Headings: []string{"Kettle care", "Kettle parts"}, Whole: true},
			{ID: "x2", Page: "a.md", Place: 7, Text: "y", Headings: []string{"Kettle prices", "Descale"}, Whole: true},
		}
		if ids := order(docs, ask("kettle", "descale")); len(ids) < 2 || ids[0] == "list" {
			t.Errorf("%s: order %v, want the text first", name, ids)
		}
	}
}
