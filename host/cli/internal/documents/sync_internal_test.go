package documents

import (
	"os"
	"path/filepath"
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

// TestIndexName: an index is called like the folder, in the letters that its name may have.
func TestIndexName(t *testing.T) {
	for folder, want := range map[string]string{
		"notes": "notes", "My Notes": "My-Notes", "Käse & Brot": "Kase-Brot", "Ka\u0308se": "Kase", "straße": "strasse", "メモ": "files", "...": "files", "a_b.2": "a_b-2",
	} {
		dir := filepath.Join(t.TempDir(), folder)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if got := IndexName([]string{dir}); got != want {
			t.Errorf("the index of %q is %q, want %q", folder, got, want)
		}
	}
}
