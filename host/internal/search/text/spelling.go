package text

import (
	"fmt"
	"math"
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
	return m, nil
}

// Automaton accepts the words within the typos, and more of those that have the
// wrong first letter: see distance. nil without typos.
func (m *Matcher) Automaton() vellum.Automaton {
	switch {
	case m.dfa == nil:
		return nil
	case m.Prefix:
		return prefixAutomaton{m.dfa}
	}
	return m.dfa
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

// prefixAutomaton accepts what has a beginning that dfa accepts.
type prefixAutomaton struct{ dfa *levenshtein.DFA }

// accepted is its state once that was seen.
const accepted = math.MaxInt32

func (p prefixAutomaton) Start() int                 { return p.dfa.Start() }
func (p prefixAutomaton) IsMatch(s int) bool         { return s == accepted || p.dfa.IsMatch(s) }
func (p prefixAutomaton) CanMatch(s int) bool        { return s == accepted || p.dfa.CanMatch(s) }
func (p prefixAutomaton) WillAlwaysMatch(s int) bool { return s == accepted }
func (p prefixAutomaton) Accept(s int, b byte) int {
	if s == accepted || p.dfa.IsMatch(s) {
		return accepted
	}
	return p.dfa.Accept(s, b)
}
