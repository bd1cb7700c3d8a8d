package text

import (
	"slices"
	"unicode/utf8"
)

// A typoAutomaton reads a word byte by byte and knows how many typos part what it has
// read from a word of a query: letters that are missing, too many or others, and two
// neighbours that changed places. Its states are made as they are come to: of the
// thousands that there could be, a search comes to some dozens. Not safe for concurrent
// use.
type typoAutomaton struct {
	word    []uint16              // the class of each letter
	letters []rune                // of each class, from 1 on; 0 is the class of all others
	ascii   [utf8.RuneSelf]uint16 // the classes of these
	most    int                   // typos, at most mostTypos
	states  []typoState
	numbers map[typoState]int
	next    []int32 // by state and class, the number of the next state and 1; 0: not come to yet
}

const mostTypos = 2

// refusedWord and begunWord are the states from which nothing is accepted, and before any letter.
const (
	refusedWord = iota
	begunWord
)

// A typoState is what counts of the letters read. Of the beginnings of the word it looks
// at those that are up to most letters shorter or longer than what was read: all others
// are too many typos away.
type typoState struct {
	read  uint16
	near  [2*mostTypos + 1]uint8 // the typos of each beginning
	swaps [2*mostTypos + 1]uint8 // those after the next letter, if it and the last one changed places
	rest  [utf8.UTFMax - 1]byte  // of a letter that was not read to its end
	bytes uint8                  // of rest
}

func newTypoAutomaton(word string, most int) *typoAutomaton {
	a := &typoAutomaton{most: most, numbers: map[typoState]int{}, letters: []rune{utf8.RuneError}}
	for _, r := range word {
		if a.class(r) == 0 {
			if r < utf8.RuneSelf {
				a.ascii[r] = uint16(len(a.letters))
			}
			a.letters = append(a.letters, r)
		}
		a.word = append(a.word, a.class(r))
	}
	var start typoState
	for w := range 2*most + 1 {
		start.near[w], start.swaps[w] = a.tooMany(), a.tooMany()
		if n := w - most; n >= 0 && n <= len(a.word) {
			start.near[w] = uint8(n)
		}
	}
	a.states, a.next = []typoState{{}}, make([]int32, len(a.letters))
	a.number(start)
	return a
}

// tooMany stands for any number of typos above most.
func (a *typoAutomaton) tooMany() uint8 { return uint8(a.most + 1) }

// class is which letter of the word r is, 0 where it is none.
func (a *typoAutomaton) class(r rune) uint16 {
	if r < utf8.RuneSelf {
		return a.ascii[r]
	}
	return uint16(max(slices.Index(a.letters[1:], r)+1, 0))
}

// number returns the number of a state, new or not.
func (a *typoAutomaton) number(s typoState) int {
	alive := false
	for w := range 2*a.most + 1 {
		alive = alive || s.near[w] < a.tooMany() || s.swaps[w] < a.tooMany()
	}
	if !alive {
		return refusedWord
	}
	n, ok := a.numbers[s]
	if !ok {
		n = len(a.states)
		a.states, a.numbers[s] = append(a.states, s), n
		a.next = append(a.next, make([]int32, len(a.letters))...)
	}
	return n
}

// accept returns the state behind a byte.
func (a *typoAutomaton) accept(state int, b byte) int {
	if state == refusedWord {
		return refusedWord
	}
	if b < utf8.RuneSelf && a.states[state].bytes == 0 {
		return a.behind(state, a.ascii[b])
	}
	s := a.states[state]
	var letter [utf8.UTFMax]byte
	n := copy(letter[:], s.rest[:s.bytes])
	letter[n] = b
	if !utf8.FullRune(letter[:n+1]) {
		s.rest[n], s.bytes = b, uint8(n+1)
		return a.number(s)
	}
	r, _ := utf8.DecodeRune(letter[:n+1])
	s.rest, s.bytes = [utf8.UTFMax - 1]byte{}, 0
	return a.behind(a.number(s), a.class(r))
}

// behind returns the state behind a letter.
func (a *typoAutomaton) behind(state int, class uint16) int {
	at := state*len(a.letters) + int(class)
	if a.next[at] == 0 {
		n := a.number(a.read(&a.states[state], class))
		a.next[at] = int32(n + 1)
	}
	return int(a.next[at] - 1)
}

// read returns what s becomes with one letter more.
func (a *typoAutomaton) read(s *typoState, class uint16) typoState {
	to := typoState{read: s.read + 1}
	shortest := int(to.read) - a.most
	before := a.tooMany() // of the beginning that is a letter shorter
	for w := range 2*a.most + 1 {
		n, d := shortest+w, a.tooMany() // the beginning has n letters
		if n >= 0 && n <= len(a.word) {
			if w < 2*a.most {
				d = min(d, s.near[w+1]+1) // a letter too many
			}
			if n > 0 {
				same := s.near[w]
				if a.word[n-1] != class {
					same++ // another letter
				}
				d = min(d, same, before+1) // or one is missing
			}
			if n > 1 && a.word[n-2] == class {
				d = min(d, s.swaps[w])
			}
		}
		to.near[w], before = d, d
		to.swaps[w] = a.tooMany()
		if n := n + 1; n > 1 && n <= len(a.word) && a.word[n-1] == class {
			to.swaps[w] = min(s.near[w]+1, a.tooMany())
		}
	}
	return to
}

// typos is how many typos part what was read from the word; ok is false where they are
// too many.
func (a *typoAutomaton) typos(state int) (n int, ok bool) {
	s := &a.states[state]
	w := len(a.word) - int(s.read) + a.most
	if state == refusedWord || s.bytes > 0 || w < 0 || w > 2*a.most {
		return 0, false
	}
	return int(s.near[w]), s.near[w] < a.tooMany()
}

// run is the state behind a text.
func (a *typoAutomaton) run(text string) int {
	state := begunWord
	for i := 0; i < len(text) && state != refusedWord; i++ {
		state = a.accept(state, text[i])
	}
	return state
}
