package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxLine     = 105 // characters; 100 are meant, and a link at the end may stand over
	maxPage     = 200 // lines
	maxSentence = 35  // words
)

// exempt are the pages that a test writes, and those that are long on purpose,
// with how many of their lines may be too long.
var exempt = map[string]int{
	"CONTRIBUTING.md":                       1,  // a command
	"abi/RATIONALE.md":                      0,  // a section a question
	"abi/README.md":                         12, // the whole contract on one page, with what a generator writes
	"host/RATIONALE.md":                     0,  // a section a question
	"host/docs/explanation/architecture.md": 2,
	"plugins/collector/METRICS.md":          9,
	"host/docs/reference/clients.md":        5,
	"host/docs/reference/errors.md":         1,
	"host/docs/reference/meilisearch.md":    0,
	"host/docs/reference/options.md":        4,
	"host/docs/reference/routes.md":         2,
}

// refused are words that say in a private or foreign way what has a usual name.
var refused = regexp.MustCompile(`(?i)\b(leave it away|is no action|hangs on (the )?(instance|collector|version)|takes it up by itself|is held to that by|taken up by itself|stands in the log|bad weather|what then comes of it|the way of a document|one that runs takes|weather suite)\b`)

// TestReadability measures every text of the project: length of pages, lines and
// sentences. It logs the figures, and fails where a page for readers is over a
// bound.
func TestReadability(t *testing.T) {
	root := filepath.Join("..", "..")
	var pages, lines, long, sentences, longSentences int
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == "dist" || name == "testdata" || (len(name) > 2 && name[0] == '.') {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		r := measure(string(b))
		pages++
		lines += r.lines
		long += len(r.long)
		sentences += r.sentences
		longSentences += len(r.wordy)
		allowed, isExempt := exempt[name]
		if len(r.long) > allowed {
			t.Errorf("%s has %d lines over %d characters, want at most %d: wrap them\n\t%s", name, len(r.long), maxLine, allowed, strings.Join(r.long[:min(3, len(r.long))], "\n\t"))
		}
		if isExempt {
			return nil
		}
		if r.lines > maxPage && name != "CHANGELOG.md" { // which grows with each version
			t.Errorf("%s has %d lines, want at most %d: divide it", name, r.lines, maxPage)
		}
		for _, s := range r.wordy {
			if !strings.Contains(s, " · ") { // a list of links is not a sentence
				t.Errorf("%s has a sentence of over %d words, divide it: %.140s", name, maxSentence, s)
			}
		}
		for _, w := range refused.FindAllString(string(b), -1) {
			t.Errorf("%s says %q", name, w)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 60 {
		t.Fatalf("found %d pages, want all of the project", pages)
	}
	t.Logf("%d pages, %d lines, %d over %d characters; %d sentences, %d over %d words", pages, lines, long, maxLine, sentences, longSentences, maxSentence)
}

// A reading is what a page was measured to have.
type reading struct {
	lines, sentences int
	long, wordy      []string
}

// sentenceEnd is where one sentence of a paragraph ends and another begins.
var sentenceEnd = regexp.MustCompile(`[.!?:;]["')*]*(?:\s+|$)`)

// measure reads a page of Markdown. Code, tables and comments are not prose.
func measure(text string) (r reading) {
	var paragraph []string
	end := func() {
		for _, s := range sentenceEnd.Split(strings.Join(paragraph, " "), -1) {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			r.sentences++
			if len(strings.Fields(s)) > maxSentence {
				r.wordy = append(r.wordy, s)
			}
		}
		paragraph = paragraph[:0]
	}
	code := false
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		r.lines++
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			end()
			code = !code
			continue
		case code, strings.HasPrefix(line, "    ") && len(paragraph) == 0, strings.HasPrefix(trimmed, "|"), strings.HasPrefix(trimmed, "<!--"), strings.HasPrefix(trimmed, "!["):
			end()
			continue
		}
		if utf8.RuneCountInString(line) > maxLine {
			r.long = append(r.long, fmt.Sprintf("line %d: %.80s…", r.lines, line))
		}
		if trimmed == "" || strings.HasPrefix(trimmed, "#") || slices.Contains([]string{"- ", "* "}, trimmed[:min(2, len(trimmed))]) {
			end()
		}
		if trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			paragraph = append(paragraph, trimmed)
		}
	}
	end()
	return r
}

// TestMeasure holds the measure to a page that has one of each.
func TestMeasure(t *testing.T) {
	words := strings.Repeat("word ", 36)
	page := "# A\n\nShort. " + strings.TrimSpace(words) + ".\n\n| " + words + words + "|\n\n```sh\n" + words + words + "\n```\n\n    " + words + "\n"
	r := measure(page)
	if r.lines != 11 || r.sentences != 2 || len(r.wordy) != 1 || len(r.long) != 1 || !strings.HasPrefix(r.long[0], "line 3: ") {
		t.Errorf("measured %+v; want 11 lines, 2 sentences, one of them and one line too long", r)
	}
}
