package benchmark

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadQueries reads a query a line, as text or as the body of a search.
func TestReadQueries(t *testing.T) {
	read := func(text string) (string, error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "queries")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		bodies, err := readQueries(path)
		var all []string
		for _, b := range bodies {
			all = append(all, string(b))
		}
		return strings.Join(all, "|"), err
	}
	if got, err := read("red \"car\"\n\n {\"q\":\"x\",\"limit\":3}\n"); err != nil || got != `{"q":"red \"car\""}|{"q":"x","limit":3}` {
		t.Errorf("queries are %s, %v", got, err)
	}
	for text, want := range map[string]string{"a\n{\"q\":": "line 2", "\n\n": "no query", strings.Repeat("a", 2<<20): "--queries"} {
		if got, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %.40s, %v, want %q", text, got, err, want)
		}
	}
	if _, err := readQueries(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestFigures writes a dash for what could not be measured.
func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		formatRatio(3, 2): "1.50 ×", formatRatio(0, 2) + formatRatio(2, 0): "--", formatMicros(12.6): "13 µs", formatMebi(0): "-", formatMebi(2): "2 MiB",
		formatFigure(1.25, "%.1f s"): "1.2 s", formatFigure(0, "%.2f ms"): "-",
	} {
		if got != want {
			t.Errorf("a figure is %q, want %q", got, want)
		}
	}
}
