package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"
)

// Speller makes automata that accept words within one or two typos. Safe for
// concurrent use.
type Speller [3]*levenshtein.LevenshteinAutomatonBuilder

// NewSpeller makes the automata of both numbers of typos.
func NewSpeller() (Speller, error) {
	var f Speller
	for n := 1; n <= 2; n++ {
		b, err := levenshtein.NewLevenshteinAutomatonBuilder(uint8(n), true)
		if err != nil {
			return f, fmt.Errorf("make automaton for typos: %w", err)
		}
		f[n] = b
	}
	return f, nil
}

// A Matcher finds the words that may stand for a word of a query. Not safe for
// concurrent use.
type Matcher struct {
	Term   string
	first  string // its first character
	Length int    // in characters
	Prefix bool   // words that begin so, too
	typos  int
	dfa    *levenshtein.DFA // nil without typos
	// other is for words that begin with another character, which counts twice: of
	// one typo less than dfa; nil where none is left.
	other *levenshtein.DFA
}

// Matcher returns the matcher of a word with at most so many typos: two, one or
// none.
func (f Speller) Matcher(term string, prefix bool, typos int) (*Matcher, error) {
	m := &Matcher{Term: term, Length: utf8.RuneCountInString(term), Prefix: prefix, typos: typos}
	_, n := utf8.DecodeRuneInString(term)
	m.first = term[:n]
	if m.typos == 0 {
		return m, nil
	}
	var err error
	if m.dfa, err = f[m.typos].BuildDfa(term, uint8(m.typos)); err != nil {
		return nil, fmt.Errorf("make automaton for %d typos: %w", m.typos, err)
	}
	if less := m.typos - 1; less > 0 {
		if m.other, err = f[less].BuildDfa(term, uint8(less)); err != nil {
			return nil, fmt.Errorf("make automaton for %d typos: %w", less, err)
		}
	}
	return m, nil
}

// Automaton accepts the words within the typos, see Distance. nil without typos.
func (m *Matcher) Automaton() vellum.Automaton {
	if m.dfa == nil {
		return nil
	}
	return wordAutomaton{m}
}

// Distance returns how many typos part a word of the index from the matcher's;
// ok is false where they are too many. A wrong first letter counts twice:
// people rarely get that one wrong.
func (m *Matcher) Distance(word string) (typos int, ok bool) {
	switch {
	case word == m.Term, m.Prefix && strings.HasPrefix(word, m.Term):
		return 0, true
	case m.dfa == nil:
		return 0, false
	case m.Prefix:
		typos = m.prefixDistance(word)
	default:
		near, d := m.dfa.MatchAndDistance(word)
		if !near {
			return 0, false
		}
		typos = int(d)
	}
	if !strings.HasPrefix(word, m.first) {
		typos++
	}
	return typos, typos <= m.typos
}

// Begins reports whether a text begins with the matcher's, within the typos; a
// wrong first letter counts as any other.
func (m *Matcher) Begins(text string) bool {
	return strings.HasPrefix(text, m.Term) || m.dfa != nil && m.prefixDistance(text) <= m.typos
}

// prefixDistance is the smallest distance of any beginning of word.
func (m *Matcher) prefixDistance(word string) int {
	best, s := m.typos+1, m.dfa.Start()
	for i := 0; ; i++ {
		if m.dfa.IsMatch(s) {
			best = min(best, int(m.dfa.EditDistance(s)))
		}
		if i == len(word) || !m.dfa.CanMatch(s) {
			return best
		}
		s = m.dfa.Accept(s, word[i])
	}
}

// A wordAutomaton accepts what its matcher does. It leaves words that begin with
// another character as soon as it sees that, where most of an index's words end:
// its states are, apart by their lowest bits, how many bytes of the first
// character it has seen, a state of dfa, or one of other.
type wordAutomaton struct{ m *Matcher }

const (
	atFirst = iota
	atWord
	atOther
	// accepted is the state once a beginning was.
	accepted

	stateBits = 2
)

// refused is the state from which nothing is accepted: the automata of the
// library have 0 for it.
const refused = atWord

func (a wordAutomaton) Start() int                 { return atFirst }
func (a wordAutomaton) WillAlwaysMatch(s int) bool { return s == accepted }
func (a wordAutomaton) CanMatch(s int) bool {
	return s>>stateBits != 0 || s == atFirst || s == accepted
}

func (a wordAutomaton) IsMatch(s int) bool {
	switch n := s >> stateBits; s & (1<<stateBits - 1) {
	case atWord:
		return a.m.dfa.IsMatch(n)
	case atOther:
		return a.m.other.IsMatch(n)
	}
	return s == accepted
}

func (a wordAutomaton) Accept(s int, b byte) int {
	m := a.m
	switch n := s >> stateBits; s & (1<<stateBits - 1) {
	case atWord:
		return a.next(m.dfa, atWord, n, b)
	case atOther:
		return a.next(m.other, atOther, n, b)
	case atFirst:
		if m.first[n] != b {
			if m.other == nil {
				return refused
			}
			return a.next(m.other, atOther, run(m.other, m.first[:n]), b)
		}
		if n++; n < len(m.first) {
			return n << stateBits // still atFirst
		}
		return a.next(m.dfa, atWord, run(m.dfa, m.first[:n-1]), b)
	}
	return accepted
}

// next is the state behind b from the state n of dfa.
func (a wordAutomaton) next(dfa *levenshtein.DFA, kind, n int, b byte) int {
	n = dfa.Accept(n, b)
	if a.m.Prefix && dfa.IsMatch(n) {
		return accepted
	}
	return n<<stateBits | kind
}

// run is the state of dfa behind a text.
func run(dfa *levenshtein.DFA, text string) int {
	n := dfa.Start()
	for i := range len(text) {
		n = dfa.Accept(n, text[i])
	}
	return n
}
