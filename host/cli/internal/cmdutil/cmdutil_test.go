package cmdutil

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestWrapper breaks lines between words, however the text is cut into pieces, and leaves code alone.
func TestWrapper(t *testing.T) {
	code := "```\nvery long line of code\n```"
	for _, tt := range []struct {
		text, want string
		width      int
	}{
		{"one two three", "one two \nthree\n", 8},
		{"one two three", "one two\nthree\n", 7},
		{"one two three", "one two three\n", 0},
		{"seventeen x", "seventeen\nx\n", 4},
		{"a\nb c", "a\nb c\n", 8},
		{code, code + "\n", 8},
		{"日本 語", "日本\n語\n", 4},
		{"a\x1b[31mb\a", "a[31mb\n", 0},
		{"", "", 8},
	} {
		for _, size := range []int{1, 3, 100} {
			var out strings.Builder
			w := Wrapper{Out: &out, Width: tt.width}
			for rest := []rune(tt.text); len(rest) > 0; {
				n := min(size, len(rest))
				if err := w.Add(string(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.End(); err != nil || out.String() != tt.want {
				t.Errorf("%q in pieces of %d on %d columns: %q, %v, want %q", tt.text, size, tt.width, out.String(), err, tt.want)
			}
		}
	}
}

// TestServiceURL wants the address of a service, and a usage error says what one is like.
func TestServiceURL(t *testing.T) {
	for in, want := range map[string]string{"http://a:7700/": "http://a:7700", "https://a/b//": "https://a/b", "a:7700": "", "ftp://a": "", "http://": "", "": ""} {
		got, err := ServiceURL(in)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("ServiceURL(%q) = %q, %v, want %q", in, got, err, want)
		}
		if _, usage := errors.AsType[UsageError](err); err != nil && !usage {
			t.Errorf("ServiceURL(%q): %v, want an error of usage", in, err)
		}
	}
}

// TestResults prints for people, without what a terminal would obey, or with --json for programs, without escapes that
// only HTML needs.
func TestResults(t *testing.T) {
	for args, want := range map[string]string{"": "te[2Jxt]0;title\n", "--json": "{\n  \"A\": \"<b>\"\n}\n"} {
		var out strings.Builder
		cmd := JSONFlag(&cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error {
			return PrintResult(cmd, struct{ A string }{"<b>"}, func(w io.Writer) error {
				_, err := io.WriteString(w, "te\x1b[2Jx\u202et\u009b\x1b]0;title\a\r\n")
				return err
			})
		}})
		cmd.SetOut(&out)
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.Execute(); err != nil || out.String() != want {
			t.Errorf("with %q: %q, %v, want %q", args, out.String(), err, want)
		}
	}
	if one, two := FormatCount(1, "entry", "entries"), FormatCount(2, "entry", "entries"); one != "1 entry" || two != "2 entries" {
		t.Errorf("counts are %q and %q", one, two)
	}
}
