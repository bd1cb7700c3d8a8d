package plugintest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A Span is text[Start:End], of a kind.
type Span struct {
	Kind       string
	Start, End int
}

// ReadMarked returns a text without its marks, and what was marked: ⟦KIND|text⟧.
func ReadMarked(marked string) (text string, spans []Span) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(marked, "⟦")
		b.WriteString(before)
		if !ok {
			return b.String(), spans
		}
		kind, rest, _ := strings.Cut(rest, "|")
		inner, after, _ := strings.Cut(rest, "⟧")
		spans = append(spans, Span{kind, b.Len(), b.Len() + len(inner)})
		b.WriteString(inner)
		marked = after
	}
}

// A Score counts what was found of what should be.
type Score struct{ Right, Missed, False int }

// Row is the score as a row of a table: the name, how many there are, precision, recall.
func (s Score) Row(name string) string {
	return fmt.Sprintf("| %s | %d | %s | %s |\n", name, s.Right+s.Missed, percent(s.Right, s.Right+s.False), percent(s.Right, s.Right+s.Missed))
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// HoldTable wants a table in a page, between <!-- measured --> and <!-- end of measured -->.
// With UPDATE=1 it writes it there.
func HoldTable(t *testing.T, file, table string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), "<!-- measured -->\n")
	old, after, ok2 := strings.Cut(rest, "<!-- end of measured -->")
	if !ok || !ok2 {
		t.Fatalf("%s has no place for a table: <!-- measured --> and <!-- end of measured --> on lines of their own", file)
	}
	table = "\n" + table + "\n"
	if old == table {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s says\n%s\nand measured was\n%s\nUPDATE=1 go test writes it", file, old, table)
	}
	if err := os.WriteFile(file, []byte(before+"<!-- measured -->\n"+table+"<!-- end of measured -->"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
