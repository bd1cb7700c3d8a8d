package text

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/vellum"
)

// A Matcher finds the words that may stand for a word of a query. Not safe for
// concurrent use.
type Matcher struct {
	Term   string
	first  string // its first character
	Length int    // in characters
	Prefix bool   // words that begin so, too
	typos  int
	near   *typoAutomaton // nil without typos
	// other is for words that begin with another character, which counts twice: of
	// one typo less than near; nil where none is left.
	other *typoAutomaton
}

// NewMatcher returns the matcher of a word with at most so many typos: two, one or
// none.
func NewMatcher(term string, prefix bool, typos int) *Matcher {
	m := &Matcher{Term: term, Length: utf8.RuneCountInString(term), Prefix: prefix, typos: typos}
	_, n := utf8.DecodeRuneInString(term)
	m.first = term[:n]
	if typos > 0 {
		m.near = newTypoAutomaton(term, typos)
	}
	if typos > 1 {
		m.other = newTypoAutomaton(term, typos-1)
	}
	return m
}

// Automaton accepts the words within the typos, see Distance. nil without typos.
func (m *Matcher) Automaton() vellum.Automaton {
	if m.near == nil {
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
	case m.near == nil:
		return 0, false
	case m.Prefix:
		typos = m.prefixDistance(word)
	default:
		if typos, ok = m.near.typos(m.near.run(word)); !ok {
			return 0, false
		}
	}
	if !strings.HasPrefix(word, m.first) {
		typos++
	}
	return typos, typos <= m.typos
}

// Begins reports whether a text begins with the matcher's, within the typos; a
// wrong first letter counts as any other.
func (m *Matcher) Begins(text string) bool {
	return strings.HasPrefix(text, m.Term) || m.near != nil && m.prefixDistance(text) <= m.typos
}

// prefixDistance is the smallest distance of any beginning of word.
func (m *Matcher) prefixDistance(word string) int {
	best, s := m.typos+1, begunWord
	for i := 0; ; i++ {
		if n, ok := m.near.typos(s); ok {
			best = min(best, n)
		}
		if i == len(word) || s == refusedWord {
			return best
		}
		s = m.near.accept(s, word[i])
	}
}

// A wordAutomaton accepts what its matcher does. It leaves words that begin with
// another character as soon as it sees that, where most of an index's words end:
// its states are, apart by their lowest bits, how many bytes of the first
// character it has seen, a state of near, or one of other.
type wordAutomaton struct{ m *Matcher }

const (
	atFirst = iota
	atWord
	atOther
	// accepted is the state once a beginning was.
	accepted

	stateBits = 2
)

// refused is the state from which nothing is accepted.
const refused = refusedWord<<stateBits | atWord

func (a wordAutomaton) Start() int                 { return atFirst }
func (a wordAutomaton) WillAlwaysMatch(s int) bool { return s == accepted }
func (a wordAutomaton) CanMatch(s int) bool {
	return s>>stateBits != 0 || s == atFirst || s == accepted
}

func (a wordAutomaton) IsMatch(s int) bool {
	ok := s == accepted
	switch n := s >> stateBits; s & (1<<stateBits - 1) {
	case atWord:
		_, ok = a.m.near.typos(n)
	case atOther:
		_, ok = a.m.other.typos(n)
	}
	return ok
}

func (a wordAutomaton) Accept(s int, b byte) int {
	m := a.m
	switch n := s >> stateBits; s & (1<<stateBits - 1) {
	case atWord:
		return a.next(m.near, atWord, n, b)
	case atOther:
		return a.next(m.other, atOther, n, b)
	case atFirst:
		if m.first[n] != b {
			if m.other == nil {
				return refused
			}
			return a.next(m.other, atOther, m.other.run(m.first[:n]), b)
		}
		if n++; n < len(m.first) {
			return n << stateBits // still atFirst
		}
		return a.next(m.near, atWord, m.near.run(m.first[:n-1]), b)
	}
	return accepted
}

// next is the state behind b from the state n of words.
func (a wordAutomaton) next(words *typoAutomaton, kind, n int, b byte) int {
	n = words.accept(n, b)
	if a.m.Prefix {
		if _, ok := words.typos(n); ok {
			return accepted
		}
	}
	return n<<stateBits | kind
}
