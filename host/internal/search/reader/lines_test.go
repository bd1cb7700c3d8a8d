package reader_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// Passages of text say on which line of the file they begin.
func TestLines(t *testing.T) {
	long := strings.Repeat("Words of a paragraph. ", 30)
	for name, data := range map[string]string{
		"a.md":   "---\ntitle: T\n---\n# T\n\nfirst " + long + "\n\n## Two\n\n| a |\n|---|\n| second " + long + "|\n\n## Three\n\n```go\nthird " + long + "\n```\n",
		"a.mdx":  "import x from 'y'\n\n# T\n\nfirst " + long + "\n\n- second " + long + "\n\n\n\nthird " + long + "\n",
		"a.txt":  "first " + long + "\n\n\nsecond " + long + "\nthird " + long,
		"a.rst":  "T\n=\n\nfirst " + long + "\n\nU\n-\n\nsecond " + long + "\n\nV\n-\n\n.. note:: third " + long,
		"a.adoc": "= T\n\nfirst " + long + "\n\n== U\n\nsecond " + long + "\n\n----\nthird " + long + "\n----\n",
		"a.json": "{\n \"a\": \"first one\\u000atwo\\u000athree\\u2028four " + long + "\",\n \"b\": \"second " + long + "\",\n \"c\": \"third " + long + "\"\n}\n",
	} {
		_, docs, err := (&reader.Source{Name: "s"}).Read(t.Context(), &reader.Reader{}, name, name, []byte(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, word := range []string{"first", "second", "third"} {
			want := 1 + strings.Count(data[:strings.Index(data, word)], "\n")
			for _, d := range docs {
				if !strings.Contains(d.Text, word) {
					continue
				}
				if got := d.Line; got == 0 || got > want || got < want-3 {
					t.Errorf("%s: the passage with %s begins on line %d, want %d or the head before it", name, word, got, want)
				}
			}
		}
	}
}

// A word in angle brackets is no tag because an element with a longer name ends, nor is a component a line break
// because its name begins like one.
func TestMarkdownTagNames(t *testing.T) {
	for name, want := range map[string]string{
		"a.md":  "Take <s> from <b> below here.",
		"a.mdx": "Take  from  below here.",
	} {
		text := "Take <s> from <b> below <strong>here</strong>.\n"
		if name == "a.mdx" {
			text = "Take <br-x> from <hr-x> below <strong>here</strong>.\n"
		}
		page, err := (&reader.Reader{}).Read(t.Context(), name, []byte(text))
		if err != nil || strings.TrimSpace(page.Text) != want {
			t.Errorf("%s: %q, %v, want %q", name, page.Text, err, want)
		}
	}
}
