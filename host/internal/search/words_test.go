package search_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
)

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
		{"line\nbreak", "[line break]", "[1 9]"},
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
		{"1\ufe0f\u20e3 ❤\ufe0f й", "[1 и]", "[1 2]"},
	}
	for _, tt := range tests {
		terms, places := search.Terms(tt.text)
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
		terms, places := search.Terms(s)
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

func TestNumbersSortAsBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	list := []float64{0, math.Copysign(0, -1), 1, -1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1)}
	for range 2000 {
		list = append(list, math.Float64frombits(rng.Uint64()), float64(rng.IntN(100)-50))
	}
	list = slices.DeleteFunc(list, math.IsNaN)
	slices.Sort(list)
	var last []byte
	for i, f := range list {
		b := search.AppendNumber(nil, f)
		if got := search.ParseNumber(b); got != f {
			t.Fatalf("%v comes back as %v", f, got)
		}
		if i > 0 && bytes.Compare(last, b) > 0 || i > 0 && list[i-1] != f && bytes.Equal(last, b) {
			t.Fatalf("%v is %x, %v before it %x", f, b, list[i-1], last)
		}
		if slices.Max(b) > 0x7f {
			t.Fatalf("%v is %x", f, b)
		}
		last = b
	}
}

func TestMerge(t *testing.T) {
	for _, tt := range [][3]string{
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
		{`{}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}}`, `{"a":{"c":2}}`, `{"a":{"c":2}}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":1}`, `{"\u0061":2,"a":3}`, `{"a":3}`},
		{`{}`, `{"a":1,"a":2}`, `{"a":2}`},
	} {
		if got := string(search.Merge([]byte(tt[0]), []byte(tt[1]))); got != tt[2] {
			t.Errorf("%s over %s = %s, want %s", tt[1], tt[0], got, tt[2])
		}
	}
}
