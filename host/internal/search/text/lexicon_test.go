package text_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search/text"
)

// Of tokens and words of a dictionary the longest counts that a text goes on with, as by
// looking at each of them.
func TestTokensAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "A", "b", "k", "K", "\u212a", "é", "É", "-", "+", ".", "1", "\ufffd"}
	some := func(most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	for range 3000 {
		var dictionary []string
		for range 1 + r.IntN(6) {
			dictionary = append(dictionary, some(4))
		}
		s := some(8)
		var want string // the longest of the dictionary that the text begins with
		for _, d := range dictionary {
			if len(d) <= len(s) && strings.EqualFold(s[:len(d)], d) && len(d) > len(want) && endsWord(d, s[len(d):]) {
				want = s[:len(d)]
			}
		}
		words := text.NewAnalyzer(nil, nil, dictionary, nil, nil).Split(s)
		var got string
		if len(words) > 0 && words[0].Start == 0 {
			got = s[:words[0].End]
		}
		if want != "" && text.Fold(want) != "" && got != want {
			t.Fatalf("first word of %q by the dictionary %q = %q, want %q", s, dictionary, got, want)
		}
		separators := dictionary
		longest := 0
		for _, d := range separators {
			if strings.HasPrefix(s, d) {
				longest = max(longest, len(d))
			}
		}
		words = text.NewAnalyzer(separators, nil, nil, nil, nil).Split(s)
		if len(words) > 0 && words[0].Start < longest {
			t.Fatalf("first word of %q by the separators %q begins at %d, want it behind %d", s, separators, words[0].Start, longest)
		}
	}
}

func endsWord(d, rest string) bool {
	in := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	last, _ := utf8.DecodeLastRuneInString(d)
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !in(last) || !in(next)
}

// TestManyTokens never ends where each token is looked at in each place of a text.
func TestManyTokens(t *testing.T) {
	many := make([]string, 300_000)
	for i := range many {
		many[i] = fmt.Sprintf("zz%06d", i)
	}
	same := []string{} // but for their case
	for i := range 1 << 16 {
		word := []byte("abcdefghijklmnop")
		for bit := range word {
			if i>>bit&1 != 0 {
				word[bit] -= 'a' - 'A'
			}
		}
		same = append(same, string(word))
	}
	s := strings.Repeat("zz zz0 zz000 abcdefghijklmnoq ", 100_000)
	for name, a := range map[string]*text.Analyzer{
		"separators": text.NewAnalyzer(many, nil, nil, nil, nil),
		"joiners":    text.NewAnalyzer(nil, many, nil, nil, nil),
		"dictionary": text.NewAnalyzer(nil, nil, slices.Concat(many, same), nil, nil),
	} {
		if got := len(a.Split(s)); got != 400_000 {
			t.Errorf("%d words with many %s, want 400,000", got, name)
		}
	}
}
