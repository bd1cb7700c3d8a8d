// Package match finds patterns in text that comes in pieces, and finds the same however
// the text was cut.
//
// A pattern is written as for package regexp (RE2), but each repetition has an end, so
// that it is known how much text must be held back for a match that may still come:
//
//	literals . [abc] [^a-z] \d \D \s \S \w \W \b \B \n \r \t \x{00A0}
//	(…) (?:…) a|b x? x{2} x{2,5}, and (?i) at the beginning
//
// A border of a word (\b) is where a letter, digit or _ of an alphabet meets anything
// else. Signs of Chinese, Japanese and Korean, which stand without spaces, are not
// letters here: a number between two of them has its borders.
//
// The first match is taken, and of those that begin there the longest one.
package match

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// A Matcher finds a list of patterns. It is not safe for concurrent use.
type Matcher struct {
	longest int
	program []inst
	sets    [][]span
	ascii   [utf8.RuneSelf]uint8    // the class of each
	bounds  []rune                  // where classes begin, from 0 on
	classes []uint8                 // the class at each of bounds
	word    []bool                  // of each class: its runes are of words
	sample  []rune                  // a rune of each class
	first   [2][utf8.RuneSelf]uint8 // what is known of a match that begins so: 0 nothing, else one of the below
	starts  [2]int                  // the state in front of a match, after no word and after one
	states  []state
	byKey   map[string]int // states; sets while patterns are compiled
	lists   [][]int        // of patterns; the first one is empty
	ends    []end          // scratch of Find
	key     []byte         // scratch
	pcs     []int
	seen    []int // by instruction: the turn of closure that saw it
	turn    int
}

// An end is where a match of patterns may end.
type end struct {
	at       int
	patterns []int
}

// A Match is text[Start:End], which is of the pattern with that number.
type Match struct{ Pattern, Start, End int }

// What is known of where no match begins, by the character before and the one there.
const (
	deadBeforeOther = iota + 1 // none, and the character is not of a word
	deadBeforeWord             // none, and it is
	alive
)

// What bounds a Matcher.
const (
	maxProgram = 20000
	maxClasses = 255
	maxStates  = 3000 // that are kept
)

// Compile makes a matcher of patterns. An error names the pattern.
func Compile(patterns ...string) (*Matcher, error) {
	m := &Matcher{byKey: map[string]int{}}
	var first []int
	for i, p := range patterns {
		n, err := parse(p)
		if err != nil {
			return nil, errors.New("pattern " + strconv.Quote(p) + " " + err.Error())
		}
		low, high := n.bounds()
		if low == 0 {
			return nil, errors.New("pattern " + strconv.Quote(p) + " matches an empty text")
		}
		m.longest = max(m.longest, high)
		done := m.emit(inst{op: 'm', arg: i})
		first = append(first, m.compile(n, done))
		if len(m.program) > maxProgram {
			return nil, errors.New("pattern " + strconv.Quote(p) + " is too large: its repetitions come to more than " + strconv.Itoa(maxProgram) + " steps")
		}
	}
	if err := m.classify(); err != nil {
		return nil, err
	}
	m.seen = make([]int, len(m.program))
	m.reset(first)
	return m, nil
}

// MustCompile is Compile for patterns of a program's own. It panics on an error.
func MustCompile(patterns ...string) *Matcher {
	m, err := Compile(patterns...)
	if err != nil {
		panic("match: " + err.Error())
	}
	return m
}

// Longest returns how many bytes a match has at most. Text that is held back for one that
// is not decided has at most so many, and those of a rune that is cut off.
func (m *Matcher) Longest() int { return m.longest }

// Find returns the first match of text at or behind from. word says whether the rune in
// front of text is of a word, last that no more text follows. Check, unless it is nil,
// decides whether a match counts; of those that begin at one place it is asked of the
// longest one first.
//
// Where there is no match, undecided is where one may still begin once more text came;
// all in front of it is done with. Where last is true that is len(text).
func (m *Matcher) Find(text []byte, from int, word, last bool, check func(Match) bool) (found Match, undecided int, ok bool) {
	if len(m.states) > maxStates {
		m.reset(m.states[m.starts[0]].pcs)
	}
	if m.starts[0] == 0 { // there are no patterns
		return Match{}, len(text), false
	}
	word = EndsInWord(text[:from], word)
	for at := from; at < len(text); {
		after := 0
		if word {
			after = 1
		}
		// Most characters begin no match, and are in ASCII.
		if c := text[at]; c < utf8.RuneSelf {
			if known := m.first[after][c]; known == deadBeforeOther || known == deadBeforeWord {
				word = known == deadBeforeWord
				at++
				continue
			}
		}
		class, size := m.classAt(text, at, last)
		if size == 0 {
			return Match{}, at, false
		}
		start := m.starts[after]
		if m.states[start].next[class] < 0 {
			m.step(start, class)
		}
		if c := text[at]; c < utf8.RuneSelf {
			m.first[after][c] = alive
			if m.states[start].next[class] == 0 {
				m.first[after][c] = deadBeforeOther
				if m.word[class] {
					m.first[after][c] = deadBeforeWord
				}
			}
		}
		if m.states[start].next[class] != 0 {
			end, open := m.run(text, at, start, last)
			if open {
				return Match{}, at, false
			}
			for i := len(m.ends) - 1; i >= 0 && end; i-- {
				for _, p := range m.ends[i].patterns {
					match := Match{p, at, m.ends[i].at}
					if check == nil || check(match) {
						return match, 0, true
					}
				}
			}
		}
		word = m.word[class]
		at += size
	}
	return Match{}, len(text), false
}

// run goes from the state start in front of text[at:] as far as it can, and puts the
// matches into m.ends. Open means that more text could change them.
func (m *Matcher) run(text []byte, at, start int, last bool) (any, open bool) {
	m.ends = m.ends[:0]
	for s := start; s != 0; {
		class, size := len(m.word)-1, 0
		if at < len(text) {
			// In place for ASCII: a call is dear in Wasm.
			if c := text[at]; c < utf8.RuneSelf {
				class, size = int(m.ascii[c]), 1
			} else if class, size = m.classAt(text, at, last); size == 0 {
				return false, true
			}
		} else if !last {
			return false, true
		}
		st := &m.states[s]
		if st.next[class] < 0 {
			m.step(s, class)
			st = &m.states[s] // step may have moved it
		}
		if list := st.accepts[class]; list != 0 {
			m.ends = append(m.ends, end{at, m.lists[list]})
		}
		s = int(st.next[class])
		at += size
	}
	return len(m.ends) > 0, false
}
