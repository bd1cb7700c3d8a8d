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
	"slices"
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

// An inst is a step of a pattern.
type inst struct {
	op   byte // 'r' rune, 's' split, 'b' and 'B' assertions, 'm' match
	arg  int  // of r the set, of m the pattern
	x, y int  // what follows; y of s alone
}

// A state is what may go on after some text. Both lists are by the class of the rune
// that follows, the last entry standing for the end of the text.
type state struct {
	pcs     []int
	word    bool    // the rune before is of a word
	next    []int32 // states; 0: none, -1: not known yet
	accepts []int32 // lists of patterns that end here, by their place in Matcher.lists
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

func (m *Matcher) emit(i inst) int {
	m.program = append(m.program, i)
	return len(m.program) - 1
}

// compile emits n so that next follows it, and returns where it begins.
func (m *Matcher) compile(n *node, next int) int {
	after := next
	for i := n.max; i > 0 && len(m.program) <= maxProgram; i-- {
		next = m.compileOnce(n, next)
		if i > n.min { // this one may be missing, and then those behind it are, too
			next = m.emit(inst{op: 's', x: next, y: after})
		}
	}
	return next
}

func (m *Matcher) compileOnce(n *node, next int) int {
	switch {
	case n.assert != 0:
		return m.emit(inst{op: n.assert, x: next})
	case n.set != nil:
		if n.index == 0 {
			n.index = m.setOf(n.set)
		}
		return m.emit(inst{op: 'r', arg: n.index - 1, x: next})
	case n.any != nil:
		begin := m.compile(n.any[len(n.any)-1], next)
		for i := len(n.any) - 2; i >= 0; i-- {
			begin = m.emit(inst{op: 's', x: m.compile(n.any[i], next), y: begin})
		}
		return begin
	}
	for i := len(n.all) - 1; i >= 0; i-- {
		next = m.compile(n.all[i], next)
	}
	return next
}

// setOf returns the place of a set in m.sets, from 1 on: the same for equal sets.
func (m *Matcher) setOf(set []span) int {
	m.key = m.key[:0]
	for _, s := range set {
		m.key = append(m.key, byte(s.low), byte(s.low>>8), byte(s.low>>16), byte(s.high), byte(s.high>>8), byte(s.high>>16))
	}
	if i, ok := m.byKey[string(m.key)]; ok {
		return i
	}
	m.sets = append(m.sets, set)
	m.byKey[string(m.key)] = len(m.sets)
	return len(m.sets)
}

// classify parts the runes into classes: those of one are in the same sets, and of words
// or not.
func (m *Matcher) classify() error {
	m.bounds = append(m.bounds, 0)
	for _, s := range slices.Concat(append(m.sets, wordSpans)...) {
		m.bounds = append(m.bounds, s.low, s.high+1)
	}
	slices.Sort(m.bounds)
	m.bounds = slices.Compact(m.bounds)
	byName := map[string]int{}
	for _, r := range m.bounds {
		name := []byte{0}
		if isWord(r) {
			name[0] = 1
		}
		for i, set := range m.sets {
			if contains(set, r) {
				name = append(name, byte(i), byte(i>>8))
			}
		}
		class, ok := byName[string(name)]
		if !ok {
			class = len(byName)
			byName[string(name)] = class
			m.word = append(m.word, name[0] == 1)
			m.sample = append(m.sample, r)
		}
		if class > maxClasses {
			return errors.New("the patterns have too many different characters and classes")
		}
		m.classes = append(m.classes, uint8(class))
	}
	for r := range rune(utf8.RuneSelf) {
		m.ascii[r] = m.classOf(r)
	}
	m.word = append(m.word, false) // the end of the text
	return nil
}

func (m *Matcher) classOf(r rune) uint8 {
	i, found := slices.BinarySearch(m.bounds, r)
	if !found {
		i--
	}
	return m.classes[i]
}

func contains(set []span, r rune) bool {
	for _, s := range set {
		if r >= s.low && r <= s.high {
			return true
		}
	}
	return false
}

// wordSpans are letters, digits and _ of scripts that part words by spaces.
var wordSpans = []span{
	{'0', '9'},
	{'A', 'Z'},
	{'_', '_'},
	{'a', 'z'},
	{0xAA, 0xAA},
	{0xB5, 0xB5},
	{0xBA, 0xBA},
	{0xC0, 0xD6},
	{0xD8, 0xF6},
	{0xF8, 0x2FF},
	{0x300, 0x37D},
	{0x37F, 0x386},
	{0x388, 0x588},
	{0x591, 0x5BD},
	{0x5C1, 0x5F2},
	{0x610, 0x61A},
	{0x620, 0x669},
	{0x66E, 0x6D3},
	{0x6D5, 0x6FF},
	{0x710, 0x963},
	{0x966, 0xE4E},
	{0xE50, 0x103F},
	{0x10A0, 0x135F},
	{0x1369, 0x166C},
	{0x1680, 0x1FFF},
	{0x2C00, 0x2DFF},
	{0xA640, 0xA69F},
	{0xA720, 0xA7FF},
}

func isWord(r rune) bool { return contains(wordSpans, r) }

// EndsInWord reports whether the last rune of text is of a word; where text is empty,
// what before says.
func EndsInWord(text []byte, before bool) bool {
	if len(text) == 0 {
		return before
	}
	r, _ := utf8.DecodeLastRune(text)
	return isWord(r)
}

// reset forgets the states that were made. first are where the patterns begin.
func (m *Matcher) reset(first []int) {
	m.byKey = map[string]int{}
	m.lists = append(m.lists[:0], nil)
	m.states = append(m.states[:0], state{}) // 0: nothing goes on
	m.starts[0], m.starts[1] = m.stateOf(first, false), m.stateOf(first, true)
}

// stateOf returns the number of a state.
func (m *Matcher) stateOf(pcs []int, word bool) int {
	if len(pcs) == 0 {
		return 0
	}
	m.key = m.key[:0]
	for _, pc := range pcs {
		m.key = append(m.key, byte(pc), byte(pc>>8))
	}
	if word {
		m.key = append(m.key, 1)
	}
	if s, ok := m.byKey[string(m.key)]; ok {
		return s
	}
	s := state{pcs: slices.Clone(pcs), word: word, next: make([]int32, len(m.word)), accepts: make([]int32, len(m.word))}
	for i := range s.next {
		s.next[i] = -1
	}
	m.states = append(m.states, s)
	m.byKey[string(m.key)] = len(m.states) - 1
	return len(m.states) - 1
}

// step works out what follows state s where a rune of class comes, or the end.
func (m *Matcher) step(s, class int) {
	st := &m.states[s]
	m.turn++
	m.pcs = m.pcs[:0]
	var accepts []int
	border := st.word != m.word[class]
	end := class == len(m.word)-1
	var follow func(pc int)
	follow = func(pc int) {
		if m.seen[pc] == m.turn {
			return
		}
		m.seen[pc] = m.turn
		switch i := m.program[pc]; i.op {
		case 's':
			follow(i.x)
			follow(i.y)
		case 'b', 'B':
			if border == (i.op == 'b') {
				follow(i.x)
			}
		case 'm':
			accepts = append(accepts, i.arg)
		case 'r':
			if !end && contains(m.sets[i.arg], m.sample[class]) {
				m.pcs = append(m.pcs, i.x)
			}
		}
	}
	for _, pc := range st.pcs {
		follow(pc)
	}
	slices.Sort(accepts)
	slices.Sort(m.pcs)
	next := m.stateOf(slices.Compact(m.pcs), m.word[class])
	st = &m.states[s] // stateOf may have moved it
	st.next[class], st.accepts[class] = int32(next), m.listOf(accepts)
}

// listOf returns the place of a list of patterns in m.lists.
func (m *Matcher) listOf(patterns []int) int32 {
	for i, l := range m.lists {
		if slices.Equal(l, patterns) {
			return int32(i)
		}
	}
	m.lists = append(m.lists, patterns)
	return int32(len(m.lists) - 1)
}

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

// classAt returns the class of the rune at text[at:] and its size; 0 where the rune is
// cut off and more text follows.
func (m *Matcher) classAt(text []byte, at int, last bool) (class, size int) {
	if c := text[at]; c < utf8.RuneSelf {
		return int(m.ascii[c]), 1
	}
	if !last && !utf8.FullRune(text[at:]) {
		return 0, 0
	}
	r, size := utf8.DecodeRune(text[at:])
	return int(m.classOf(r)), size
}
