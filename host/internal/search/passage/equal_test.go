package passage

import (
	"strings"
	"testing"
)

// Passages that are the same in several documents take the room of one, which says where they are; short ones
// and those below other headings stay.
func TestRankJoinsEqual(t *testing.T) {
	long := "The kettle is descaled with citric acid. " + strings.Repeat("Rinse it well afterwards. ", 10)
	docs := []Document{
		{ID: "1", Title: "A > Care", Text: long, Whole: true, Page: "a", Path: "a.md"},
		{ID: "2", Title: "B > Care", Text: long, Whole: true, Page: "b", Path: "b.md"},
		{ID: "3", Title: "C > Other", Text: long, Whole: true, Page: "c", Path: "c.md"},
		{ID: "4", Title: "D > Care", Text: "Kettle: none.", Whole: true, Page: "d", Path: "d.md"},
		{ID: "5", Title: "E > Care", Text: "Kettle: none.", Whole: true, Page: "e", Path: "e.md"},
		{ID: "6", Title: "F > Care", Text: long, Whole: true, Page: "f", Path: "f.md"},
	}
	list := Rank(docs, ask("kettle"), 1500, 0)
	also := map[string]int{}
	for _, p := range list {
		also[docs[p.Doc].ID] = len(p.Also)
	}
	if len(list) != 4 || also["1"] != 2 || also["3"] != 0 {
		t.Errorf("%d passages, others by document %v; want 4, of which 1 has two others", len(list), also)
	}
}

// A list of links goes behind a text that has the same words.
func TestRankListings(t *testing.T) {
	docs := []Document{
		{ID: "toc", Title: "Contents", Text: "- Descale the kettle\n- Fill the kettle\n- Boil water\n- Clean up", Whole: true, Page: "a", Listing: true},
		{ID: "text", Title: "Care", Text: "To descale the kettle, use citric acid and rinse it well afterwards, twice.", Whole: true, Page: "b"},
	}
	if list := Rank(docs, ask("descale", "kettle"), 1500, 0); len(list) != 2 || docs[list[0].Doc].ID != "text" {
		t.Errorf("first is %s of %d, want the text before the list", docs[list[0].Doc].ID, len(list))
	}
}
