package match

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestAgainstRegexp compares whole texts with package regexp, whose leftmost-longest mode
// takes the same match.
func TestAgainstRegexp(t *testing.T) {
	patterns := []string{
		`abc`, `a{2,4}b?`, `\bab{0,3}\b`, `(?:a|ab)(?:c|bcd)`, `[^a\n]{2,3}`, `\d{3}-\d{2}`, `(?i)straße`, `\w{1,5}@\w{2}`,
		`a(?:b|c{1,2}){1,3}`, `\Bb\B`, `.{1,3}x`, `[\w.-]{2,4}!`, `ä[ö-ü]{1,2}`, `(?i)ÄB|ß`, `a{3}|b{0,2}c`,
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aabbccd12-@!x. äöüÄßSsé\nK")
	for _, p := range patterns {
		m, re := MustCompile(p), regexp.MustCompile(p)
		re.Longest()
		for range 3000 {
			text := randomText(rnd, letters)
			got, want := whole(m, []byte(text)), []string{}
			for _, at := range re.FindAllStringIndex(text, -1) {
				want = append(want, text[at[0]:at[1]])
			}
			if strings.Contains(p, `\b`) || strings.Contains(p, `\B`) {
				if strings.ContainsAny(text, "äöüÄßé") { // regexp's words are ASCII
					continue
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("matches of %s in %q: got %q, want %q", p, text, got, want)
			}
		}
	}
}

func randomText(rnd *rand.Rand, letters []rune) string {
	var b strings.Builder
	for range rnd.IntN(20) {
		b.WriteRune(letters[rnd.IntN(len(letters))])
	}
	return b.String()
}

func whole(m *Matcher, text []byte) []string {
	found := []string{}
	for from := 0; ; {
		match, _, ok := m.Find(text, from, false, true, nil)
		if !ok {
			return found
		}
		found = append(found, string(text[match.Start:match.End]))
		from = match.End
	}
}

// inPieces finds what whole finds where text comes in pieces: it keeps what is undecided,
// and the rune before it.
func inPieces(t *testing.T, m *Matcher, pieces [][]byte) []string {
	found, held, word := []string{}, []byte(nil), false
	for i, p := range append(pieces, nil) {
		held = append(held, p...)
		last, from := i == len(pieces), 0
		for {
			match, undecided, ok := m.Find(held, from, word, last, nil)
			if !ok {
				from = undecided
				break
			}
			found = append(found, string(held[match.Start:match.End]))
			from = match.End
		}
		word = EndsInWord(held[:from], word)
		held = bytes.Clone(held[from:])
		if len(held) > m.Longest()+3 {
			t.Fatalf("%d bytes are held of %q, and a match has at most %d", len(held), held, m.Longest())
		}
	}
	return found
}

func TestCuts(t *testing.T) {
	m := MustCompile(`\bab{0,3}\b`, `\d{3}-\d{2}`, `ä[ö-ü]{1,2}b?`, `(?i)straße\b`, `[a-c]{2,6}@x`)
	rnd := rand.New(rand.NewPCG(3, 4))
	letters := []rune("aabbbc123-@x äöüßStrae")
	for range 20000 {
		text := []byte(randomText(rnd, letters))
		want := whole(m, text)
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), 5))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := inPieces(t, m, pieces); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("matches of %q in pieces %q: got %q, want %q as in one piece", text, pieces, got, want)
		}
	}
}

func TestWordsOfScripts(t *testing.T) {
	m := MustCompile(`\b1[3-9]\d{9}\b`, `\bbombe\b`)
	for text, want := range map[string]int{
		"电话13800138000请": 1, "ü13800138000": 0, "“13800138000”": 1, "x_13800138000": 0,
		"(bombe)": 1, "„bombe“": 1, "bombé": 0, "bombeü": 0, "—bombe—": 1, "bombe؟": 1,
	} {
		if got := whole(m, []byte(text)); len(got) != want {
			t.Errorf("matches in %q: got %q, want %d", text, got, want)
		}
	}
}

func TestNoPatterns(t *testing.T) {
	if got := whole(MustCompile(), []byte("text")); len(got) != 0 {
		t.Errorf("matches of no pattern: got %q, want none", got)
	}
}

func TestCheck(t *testing.T) {
	m := MustCompile(`\d(?: ?\d){1,9}`)
	even := func(m Match) bool { return (m.End-m.Start)%2 == 0 }
	match, _, ok := m.Find([]byte("a 1 2 345"), 0, false, true, even)
	if !ok || match != (Match{0, 2, 8}) {
		t.Errorf("the longest match that counts: got %v, %v, want 2 to 8", match, ok)
	}
}

func TestRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		"a*": "has *", "a+": "has +", "a{2,}": "{2,}", "(a": "lacks a )", "a)": "a ) too many", "[a": "lacks a ]",
		"a?": "empty text", `\p{L}`: `\p`, "^a": "has ^", "(?P<x>a)": "(?", "a??": "repeats what is repeated", "[b-a]": "ends before",
		"a{2000}": "{2000}", `\x41`: `\x`, `\x{FFFFFFF}`: "no character", "((a{1000}){1000}){1000}": "too large", "\xff": "UTF-8",
		strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100): "too many groups", "a|": "empty text", "{": "repeats nothing", `\`: "backslash",
	} {
		if _, err := Compile(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%.20q): got error %v, want one with %q", pattern, err, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add(`a{1,3}(b|c)`, "xaabc", uint8(2))
	f.Fuzz(func(t *testing.T, pattern, text string, cut uint8) {
		m, err := Compile(pattern)
		if err != nil || m.Longest() > 1<<16 {
			return
		}
		n := min(int(cut), len(text))
		b := []byte(text)
		if got, want := inPieces(t, m, [][]byte{b[:n], b[n:]}), whole(m, b); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s in %q cut at %d: got %q, want %q", pattern, text, n, got, want)
		}
	})
}
