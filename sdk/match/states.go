package match

import "slices"

// A state is what may go on after some text. Both lists are by the class of the rune
// that follows, the last entry standing for the end of the text.
type state struct {
	pcs     []int
	word    bool    // the rune before is of a word
	next    []int32 // states; 0: none, -1: not known yet
	accepts []int32 // lists of patterns that end here, by their place in Matcher.lists
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
