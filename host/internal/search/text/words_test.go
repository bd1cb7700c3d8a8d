package text_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parley-search/parley/host/internal/search/text"
)

// splitTerms returns the words of a text with their places.
func splitTerms(s string) (terms []string, places []int) {
	for _, w := range text.SplitWords(s) {
		terms = append(terms, w.Term)
		places = append(places, w.Pos)
	}
	return terms, places
}

func TestTerms(t *testing.T) {
	tests := []struct{ text, terms, places string }{
		{"Hello, World", "[hello world]", "[1 9]"},
		{"hello world", "[hello world]", "[1 2]"},
		{"One. Two 1.2 three", "[one two 1 2 three]", "[1 9 10 11 12]"},
		{"don't", "[don t]", "[1 2]"},
		{"ÀÉÎ œuvre ﬁn", "[aei oeuvre fin]", "[1 2 3]"},
		{"ＦＵＬＬ width", "[full width]", "[1 2]"},
		{"e\u0301te\u0301", "[ete]", "[1]"},
		{"東京 tower", "[東 京 tower]", "[1 2 3]"},
		{"Alien³ m² ½", "[alien3 m2 1\u20442]", "[1 2 3]"},
		{"line\nbreak", "[line break]", "[1 2]"},
		{"audio/video devices (utilities): \"more\"", "[audio video devices utilities more]", "[1 2 3 4 5]"},
		{"one; two! three? four… five。six", "[one two three four ... five six]", "[1 9 17 25 26 27 35]"},
		{"end.", "[end]", "[1]"},
		{"one,two, three .four . five", "[one two three four five]", "[1 2 10 11 19]"},
		{"  ...  ", "[]", "[]"},
		{"", "[]", "[]"},
		{"Ελλάδα МОСКВА", "[ελλαδα москва]", "[1 2]"},
		{"bad\xffutf", "[bad utf]", "[1 2]"},
		{"Stra\u00adße \u00ad x", "[strasse x]", "[1 2]"},
		{"हिन्दी की किताब", "[हिन्दी की किताब]", "[1 2 3]"},
		{"क\u094d\u200dष தமிழ்", "[क\u094dष தமிழ்]", "[1 2]"},
		{"ที่ ทา", "[ที่ ทา]", "[1 2]"},
		{"مُحَمَّد كــتاب שָׁלוֹם", "[محمد كتاب שלום]", "[1 2 3]"},
		{"می\u200cخواهم", "[می خواهم]", "[1 2]"},
		{"<dev@example.org> $HOME --flag=value a|b 2<3 1+1 x → y 5×4 6−5", "[<dev example org> $home flag=value a|b 2<3 1 1 x → y 5 4 6 5]", "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]"},
		{"Gun 2Ω αlpha βx 10µm 2й", "[gun 2 ω α lpha β x 10μm 2 и]", "[1 2 3 4 5 6 7 8 9 10]"},
		{"2Ω", "[2ω]", "[1]"},
		{"1\ufe0f\u20e3 ❤\ufe0f й", "[1 ❤ и]", "[1 2 3]"},
	}
	for _, tt := range tests {
		terms, places := splitTerms(tt.text)
		if fmt.Sprint(terms) != tt.terms || fmt.Sprint(places) != tt.places {
			t.Errorf("%q: %v at %v, want %s at %s", tt.text, terms, places, tt.terms, tt.places)
		}
	}
}

// FuzzTerms wants every text to be taken apart without a panic, into words that
// stay what they are when taken apart again.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"Hello, World", "東京 e\u0301", "\xff\xfe", "İstanbul ẞ ǅ", "a\u0345b", "a\u00adb", "क\u094d\u200dष"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		terms, places := splitTerms(s)
		if !slices.IsSorted(places) {
			t.Errorf("places %v", places)
		}
		for _, w := range terms {
			if w == "" || len(w) > 128 {
				t.Errorf("word of %d bytes", len(w))
			}
		}
	})
}
