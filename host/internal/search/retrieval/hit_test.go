package retrieval

import (
	"encoding/json"
	"testing"
)

// fileHit is a passage of an imported file.
func fileHit(id, path string, n, page int, text string, headings ...string) Hit {
	doc, _ := json.Marshal(map[string]any{"id": id, "group": "my files", "path": path, "title": "Page", "n": n, "page": page, "headings": headings, "text": text, "contentHash": "x"})
	return Hit{ID: id, Title: "Page > " + id, Text: text, Document: doc}
}

func TestHitName(t *testing.T) {
	for _, tt := range []struct {
		hit        Hit
		name, link string
	}{
		{fileHit("a1-b2", "Employee handbook.docx", 4, 0, "Trains are second class.", "Expenses"), "Employee handbook.docx › Expenses", "/files/Employee%20handbook.docx?source=my+files#p4"},
		{fileHit("a1-b3", "a/invoice 4711.pdf", 1, 2, "Total", "Sum"), "a/invoice 4711.pdf, page 2", "/files/a/invoice%204711.pdf?source=my+files#p1"},
		{fileHit("a1-b4", "notes.txt", 0, 0, "Milk"), "notes.txt", "/files/notes.txt?source=my+files#p0"},
		// A section that joined another one is in its text, and not where it begins.
		{fileHit("a1-b5", "h.md", 1, 0, "Call us.\n\nNotice\nThree months.\n\nPay > When\nMonthly.", "Staff", "Illness", "Notice", "Pay", "When"), "h.md › Illness", "/files/h.md?source=my+files#p1"},
		{Hit{ID: "4", Title: "Guide > Tea", URL: "https://a.example/4#tea"}, "Guide › Tea", "https://a.example/4#tea"},
		{Hit{ID: "5", Document: json.RawMessage(`{"id":5,"name":"Second","title":"Alien"}`)}, "Alien", "/documents/5"},
		{Hit{ID: "6", Document: json.RawMessage(`{"id":"6","url":"javascript:x","link":"https://a.example/2","title":7,"label":"Two"}`)}, "Two", "https://a.example/2"},
		{Hit{ID: "7", Document: json.RawMessage(`{"id":"7","n":1,"city":"Rome"}`)}, "Rome", "/documents/7"},
		{Hit{ID: "8", Document: json.RawMessage(`{"contentHash":"x","path":3}`)}, "x", "/documents/8"},
		{Hit{ID: "9", Document: json.RawMessage(`{}`)}, "9", "/documents/9"},
	} {
		link := tt.link
		if link[0] == '/' {
			link = "http://h/indexes/m" + link
		}
		if name, got := tt.hit.Name(), tt.hit.Link("http://h", "m"); name != tt.name || got != link {
			t.Errorf("%.200s: named %q at %q, want %q at %q", tt.hit.Document, name, got, tt.name, link)
		}
	}
}
