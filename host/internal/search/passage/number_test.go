package passage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/text"
)

func TestNumber(t *testing.T) {
	for digits, want := range map[string]string{
		"1712": "1712", "1,712": "1712", "1.712": "1712", "1’712.50": "1712.5", "1.234,56 EUR": "1234.56", "1,234,567": "1234567",
		"1\u00a0234\u00a0567": "1234567", "31,84": "31.84", "0.125": "0.125", "12,00": "12",
		"4.2.1": "", "12.3.2024": "", "1,234.567,8": "", "1, 2": "1", "5.": "5",
	} {
		if _, got := Number(digits); got != want {
			t.Errorf("Number(%q) = %q, want %q", digits, got, want)
		}
	}
	var list []string
	EachNumber("Of 1.234,50 on 3.4.2024 are 7 and 1,000.", func(plain string, groups []string) {
		list = append(list, fmt.Sprint(plain, groups))
	})
	if got := strings.Join(list, "; "); got != "1234.5[1 234 50]; 1000[1 000]" {
		t.Errorf("numbers %s", got)
	}
}

// What is written with hyphens or with marks between digits counts as what is written without, and so do the pieces
// of words in scripts without spaces.
func TestScanFolds(t *testing.T) {
	for _, tt := range []struct {
		word, text string
		want       float32
	}{
		{"email", "Send an E-Mail or an e-mail.", 2},
		{"setup", "the set-up", 1},
		{"setup", "set up", 0},
		{"p0421", "part P-0421", 1},
		{"1712", "It costs 1,712 francs, not 1712.", 2},
		{"1234567", "In all 1’234’567 items", 1},
		{"1712", "version 1.71.2 of 17,12", 0},
		{"ค่า", "ค่าเช่ารายเดือน", 1},
		{"天気", "今日天気", 1},
	} {
		q := ask(tt.word)
		q.Words = func(run string) (list []string) {
			for _, w := range text.SplitWords(run) {
				list = append(list, w.Term)
			}
			return list
		}
		s := newScanner(q)
		counts := make([]float32, 1)
		s.count(counts, tt.text)
		if counts[0] != tt.want {
			t.Errorf("%q in %q: %v times, want %v", tt.word, tt.text, counts[0], tt.want)
		}
	}
}

func TestGrams(t *testing.T) {
	for word, want := range map[string]string{"ค่าเช่า": "ค่า ่าเ าเช เช่ ช่า", "บ้": "บ้", "rent": "", "天": ""} {
		if got := strings.Join(Grams(word), " "); got != want {
			t.Errorf("Grams(%q) = %q, want %q", word, got, want)
		}
	}
}
