package documents

import (
	"testing"

	"github.com/parley-search/parley/host/internal/search/reader"
)

func TestQuestion(t *testing.T) {
	t.Parallel()
	page := func(title string, headings ...string) reader.Document {
		return reader.Document{Title: title, Headings: headings}
	}
	for want, docs := range map[string][]reader.Document{
		"":                                    nil,
		"What is said about Roses?":           {page("Roses"), page("Tulips")},
		"How do I return a lamp?":             {page("Help", "Returns", "How do I return a lamp?"), page("Help", "Two words")},
		"What does Beds say about Two words?": {page("Roses"), page("Beds", "One"), page("Beds", "Two words")},
	} {
		var s Synchronizer
		for i := range docs {
			s.noteQuestion(docs[i : i+1]) // as each file is read
		}
		if got := s.Question(); got != want {
			t.Errorf("Question() = %q, want %q", got, want)
		}
	}
}
