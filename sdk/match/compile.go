package match

// An inst is a step of a pattern.
type inst struct {
	op   byte // 'r' rune, 's' split, 'b' and 'B' assertions, 'm' match
	arg  int  // of r the set, of m the pattern
	x, y int  // what follows; y of s alone
}

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
