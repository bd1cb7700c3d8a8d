package passage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEachName(t *testing.T) {
	for text, want := range map[string][]string{
		"What is the price of P-0421?":     {"p-0421"},
		"set max_connections in app.yaml.": {"max_connections", "app.yaml"},
		"version 4.2.1, section 3":         {"4.2.1"},
		"a - b, c-, -d e_":                 nil,
		"state-of-the-art":                 {"state-of-the-art"},
		"x--y":                             nil,
		"größe-7":                          {"größe-7"},
		"":                                 nil,
	} {
		var got []string
		EachName(text, func(name string) { got = append(got, name) })
		if !slices.Equal(got, want) {
			t.Errorf("names of %q = %q, want %q", text, got, want)
		}
	}
}

// TestScanNames: a name counts where its words stand together, and nowhere else.
func TestScanNames(t *testing.T) {
	q := &Question{Words: strings.Fields, Terms: []Term{NewName("p-0421", nil)}}
	for text, want := range map[string]float32{
		"| P-0421 | bolt |": 1, "p-0421, P-0421": 2, "P 0421": 0, "P-04211": 0, "XP-0421": 0, "A-P-0421": 0, "P-0421-B": 0, "0421-P": 0, "(P-0421.)": 1,
	} {
		counts := []float32{0}
		newScanner(q).count(counts, text)
		if counts[0] != want {
			t.Errorf("%q has the name %v times, want %v", text, counts[0], want)
		}
	}
}

// TestWordsThatAsk: in texts that lack them, words that only ask are not what is asked.
func TestWordsThatAsk(t *testing.T) {
	asks := NewTerm(1, 100, map[string]float32{"what": 1}, true)
	rare := NewTerm(1, 100, map[string]float32{"bolt": 1}, false)
	if common := NewTerm(50, 100, map[string]float32{"price": 1}, false); asks.IDF > common.IDF || rare.IDF < 4*asks.IDF {
		t.Errorf("worth of a word that asks %v, of one in half of the documents %v, of a rare one %v", asks.IDF, common.IDF, rare.IDF)
	}
}

// TestLongQuestion: a question of many words that none has is answered by a passage with its rarest.
func TestLongQuestion(t *testing.T) {
	q := &Question{Words: strings.Fields}
	code := NewTerm(1, 1000, map[string]float32{"e4711": 1}, false)
	q.Terms = append(q.Terms, code)
	for i := range 60 {
		q.Terms = append(q.Terms, NewTerm(200, 1000, map[string]float32{fmt.Sprint("word", i): 1}, false))
	}
	docs := []Document{{ID: "1", Text: "e4711 " + strings.Repeat("other text ", 20)}, {ID: "2", Text: "word1 word2 word3"}}
	for i := range 8 {
		docs[0].Text += fmt.Sprintf(" word%d", i)
	}
	if c := Coverage(Rank(docs, q, 1500, 0)); c < 0.5 {
		t.Errorf("coverage of a long question with its rare word and some others = %v, want at least 0.5", c)
	}
	docs = docs[1:]
	if c := Coverage(Rank(docs, q, 1500, 0)); c > 0.3 {
		t.Errorf("coverage without the rare word = %v, want at most 0.3", c)
	}
}

// TestWindowOfTable: rows come with the names of their columns, however far these are.
func TestWindowOfTable(t *testing.T) {
	head := "| part | price |\n|---|---|\n"
	var b strings.Builder
	b.WriteString("Before.\n\n" + head)
	for i := range 100 {
		fmt.Fprintf(&b, "| P%03d | %d.50 |\n", i, 3*i)
	}
	b.WriteString("\nBehind the table, a text.\n")
	for i := range 100 {
		word := fmt.Sprintf("p%03d", i)
		got := Window(b.String(), ask(word), 400)
		if len(got) > 400 || !strings.HasPrefix(got, head) && !strings.Contains(got, "\n"+head) || !strings.Contains(strings.ToLower(got), word) {
			t.Fatalf("window for %s has %d bytes:\n%s\nwant the head of the table and the row in at most 400", word, len(got), got)
		}
	}
	if got := Window(b.String(), ask("behind"), 60); strings.Contains(got, "---") {
		t.Errorf("window of a text behind a table:\n%s", got)
	}
}
