package meter

import (
	"cmp"
	"slices"
)

// A loop that begins with a table of branches stands for code without structure: compilers
// that have jumps, such as Go's, make one of each function, and each jump goes through
// the table to a target in it. A turn executes little of it, and would pay for all. So
// what is behind a target, up to the next one, is charged there. Short ones next to
// each other are charged together, and what a jump into the midst of those would not
// pay for, freeGroup at most, is paid for by the turn.

// freeGroup is what targets that are charged together may weigh: more of it is fewer
// charges, and a dearer jump. At 48 a decode call of our plugins takes a sixth longer, at
// 200 as long as without.
const freeGroup = 200

// A segment is the code behind a target.
type segment struct {
	at     int // in the coder's body, where a charge for it goes
	weight uint64
	alone  bool // it is branched to past the table, too
}

// A charge is one to be put into a body.
type charge struct {
	at     int
	weight uint64
}

// dispatched notes a table of branches in the innermost loop: where it is the first thing in
// that, the blocks that it leads behind are targets.
func (c *coder) dispatched(depths []uint32) {
	l := &c.loops[len(c.loops)-1]
	first := l.plain
	l.plain = false
	for _, depth := range depths {
		if at := len(c.blocks) - 1 - int(depth); first && at >= l.inside {
			c.blocks[at].target = true
		} else {
			c.branched(depth)
		}
	}
}

// branched notes a branch, which may lead to a target.
func (c *coder) branched(depth uint32) {
	if at := len(c.blocks) - 1 - int(depth); at >= 0 && c.blocks[at].target {
		c.blocks[at].alone = true
	}
}

// group puts charges before the segments of l, and returns what a turn is to pay for those
// that have none.
func (c *coder) group(l *loop) (turn uint64) {
	var first *charge // of the group under way; nil: the turn pays for it
	var sum, before uint64
	for _, s := range l.segments {
		if s.alone || sum+s.weight > freeGroup {
			c.charges = append(c.charges, charge{s.at, s.weight})
			first, sum, before = &c.charges[len(c.charges)-1], s.weight, s.weight
			continue
		}
		sum += s.weight
		if first != nil {
			first.weight += s.weight
		}
		turn = max(turn, sum-before) // entered behind its first segment
	}
	return turn
}

// insert returns the body with all charges in it.
func (c *coder) insert() []byte {
	if len(c.charges) == 0 {
		return c.body
	}
	slices.SortFunc(c.charges, func(a, b charge) int { return cmp.Compare(a.at, b.at) })
	out, from := c.spliced[:0], 0
	for _, x := range c.charges {
		out = append(out, c.body[from:x.at]...)
		from = x.at
		var at int
		out, at = c.charge(out)
		putWeight(out[at:], x.weight)
	}
	c.spliced = append(out, c.body[from:]...)
	return c.spliced
}
