package reader

import (
	"archive/zip"
	"bytes"
	"maps"
	"strings"
	"testing"
)

// TestMarkdownLevels: what is nested so deep that the parser would go through thousands of
// levels on each line is text; what people write is Markdown.
func TestMarkdownLevels(t *testing.T) {
	levels := func(n int, level func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(level(i))
		}
		return b.String()
	}
	list := func(i int) string { return strings.Repeat("  ", i) + "- a\n" }
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"3,000 footnotes on a line":          {strings.Repeat("[^a]:", 3000) + "x\n", false},
		"99 levels, and a million lines":     {strings.Repeat("- ", 99) + "x\n" + strings.Repeat("\n", 1_000_000), false},
		"50 levels of a list":                {levels(50, list), true},
		"a footnote, and text in brackets":   {"[^a]: b\n\n[^ a ]: b [^c]: d\n", true},
		"200,000 lines, indented by 40":      {strings.Repeat(strings.Repeat(" ", 40)+"a\n", 200_000), true},
		"50,000 items, each with blank line": {strings.Repeat("- a\n\n  - b\n\n", 25_000), true},
	} {
		if got := isParsable(tt.text); got != tt.want {
			t.Errorf("%s: parsable %v, want %v", name, got, tt.want)
		}
	}
}

// TestSheetLinks: where a link of a sheet is of merged cells, it is of the one with the text.
func TestSheetLinks(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"xl/s.xml":            `<worksheet><hyperlinks><hyperlink ref="B2:C3" r:id="a"/><hyperlink ref="D4" r:id="a"/></hyperlinks></worksheet>`,
		"xl/_rels/s.xml.rels": `<Relationships><Relationship Id="a" Type="x/hyperlink" TargetMode="External" Target="https://tea.example"/></Relationships>`,
	} {
		if w, err := z.Create(name); err != nil {
			t.Fatal(err)
		} else if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := openPacked(t.Context(), b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"B2": "https://tea.example", "D4": "https://tea.example"}
	if got := p.sheetLinks("xl/s.xml"); !maps.Equal(got, want) {
		t.Errorf("links %v, want %v", got, want)
	}
}
