package reader

import (
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
