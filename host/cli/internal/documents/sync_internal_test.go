package documents

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
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
		"notes": "notes", "My Notes": "My-Notes", "Käse & Brot": "Kase-Brot", "Ka\u0308se": "Kase", "straße": "strasse", "メモ": "files-a1511b18", "ノート": "files-89744639", "...": "files-1a43b61b", "資料2": "2-50658022", "写真2": "2-59a41b2a", "a_b.2": "a_b-2",
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

// --watch looks at a file again that somebody may read now.
func TestWatchedState(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(name, []byte("text"), 0o200); err != nil {
		t.Fatal(err)
	}
	var s Synchronizer
	before, err := s.state(t.Context(), []string{name})
	if err := errors.Join(err, os.Chmod(name, 0o600)); err != nil {
		t.Fatal(err)
	}
	if after, err := s.state(t.Context(), []string{name}); err != nil || after == before {
		t.Errorf("a file that may be read now has the state %q, %v, as before", after, err)
	}
}

// A body that cannot be read is another fault than one without documents.
func TestImportUnreadable(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"code":"index_not_found"}`)
	}))
	defer srv.Close()
	in := Importer{Client: &cmdutil.Client{URL: srv.URL}, Index: "x", Size: 1 << 20, Bar: cmdutil.NewBar(io.Discard), format: "ndjson"}
	err := in.run(t.Context(), "-", iotest.ErrReader(errors.New("the disk is gone")), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("import of what cannot be read: %v, want why", err)
	}
}
