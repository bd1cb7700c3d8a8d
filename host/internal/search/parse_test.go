package search_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search"
)

func TestParseQuery(t *testing.T) {
	tests := []struct{ q, want string }{
		{"", ""},
		{"one", "one*"},
		{"one ", "one"},
		{"One  TWO", "one|two*"},
		{"one two.", "one|two"},
		{`say "Hello  World" now`, `say|"hello world"|now*`},
		{`"open end`, `"open end"`},
		{`"" "!"`, ""},
		{`a"b c"d`, `a|"b c"|d*`},
		{"one -two", "one|-two"},
		{`one -"two three" four `, `one|four|-two three`},
		{"well-known x-", "well|known|x"},
		{"- one -", "one"},
		{"--one", "one*"}, // the first minus excludes nothing, the second is within
		{"one -two-three", "one|three*|-two"},
		{"one -(two", "one|two*"},
		{"one -the ", "one|-the"},
		{`"one"-two`, `"one"|two*`},
		{"one -\"", "one"},
		{"the one the", "one|the*"}, // the last may be the beginning of another
		{"the ", ""},
		{`"the one"`, `"the one"`},
		{"a b c d e f g h i j k l", "a|b|c|d|e|f|g|h|i|j"},
		{"东京 x", "东|京|x*"},
	}
	for _, tt := range tests {
		if got := strings.Join(search.ParseQuery(tt.q, "the"), "|"); got != tt.want {
			t.Errorf("%q asks for %s, want %s", tt.q, got, tt.want)
		}
	}
}

// FuzzQuery feeds anything to the parser of queries: what it asks for is
// bounded, in UTF-8, without blanks of its own, and the same with more space
// around it but for the open end.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"one two", `"a b" -c -"d e" f`, "-", `"`, `-"`, "a-b -", "\xff\x00", "e\u0301 ﬁ", "  -  - x", `a""b`} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		got := search.ParseQuery(q, "the")
		if len(got) > 20 {
			t.Errorf("%q asks for %d things", q, len(got))
		}
		for _, u := range got {
			if strings.Trim(u, `"-*`) == "" || utf8.ValidString(q) && !utf8.ValidString(u) || len(u) > 4*len(q)+4096 {
				t.Errorf("%q asks for %q", q, u)
			}
		}
		closed := slices.Clone(got)
		for i := range closed {
			closed[i] = strings.TrimSuffix(closed[i], "*")
		}
		if strings.Count(q, `"`)%2 == 0 && !slices.Contains(closed, "the") {
			if spaced := search.ParseQuery("\n "+q+" ", "the"); !slices.Equal(spaced, closed) {
				t.Errorf("%q asks for %q, with space around it for %q", q, closed, spaced)
			}
		}
	})
}
