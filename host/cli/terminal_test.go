package cli

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/cli/internal/query"
)

func TestWrapper(t *testing.T) {
	for _, tt := range []struct {
		name   string
		width  int
		pieces []string
		want   string
	}{
		{"in pieces of words", 10, []string{"one t", "wo thr", "ee four"}, "one two \nthree four\n"},
		{"no width", 0, []string{"one two three", " four\n"}, "one two three four\n"},
		{"a word that does not fit", 4, []string{"a longword b"}, "a \nlongword\nb\n"},
		{"lines of the text", 20, []string{"a\n\nb\n"}, "a\n\nb\n"},
		{"code", 5, []string{"``", "`\na b c d e f\n```\na b c d"}, "```\na b c d e f\n```\na b c\nd\n"},
		{"wide letters", 6, []string{"日本 日本"}, "日本 \n日本\n"},
		{"what a terminal obeys", 20, []string{"a\x1b[2Jb\rc\u009bd\ae"}, "a[2Jbcde\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			w := &cmdutil.Wrapper{Out: &out, Width: tt.width}
			for _, p := range tt.pieces {
				if err := w.Add(p); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}

func TestFit(t *testing.T) {
	table := [][]string{{"id", "title", "text", "more"}, {"12", strings.Repeat("t", 30), strings.Repeat("x", 200), "m"}}
	for _, tt := range []struct {
		width int
		want  []int
	}{
		{300, []int{2, 30, 200, 4}},
		{80, []int{2, 30, 38, 4}},
		{40, []int{2, 14, 14, 4}},
		{34, []int{2, 12, 12}},
		{10, []int{2}},
		{1, []int{1}},
	} {
		got := query.FitColumns(table, tt.width)
		sum := -2
		for _, w := range got {
			sum += w + 2
		}
		if sum > tt.width || len(got) != len(tt.want) {
			t.Errorf("fit on %d columns = %v, which takes %d; want about %v", tt.width, got, sum, tt.want)
		}
	}
}
