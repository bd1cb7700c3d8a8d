package filter

import (
	"fmt"
	"strings"
)

// maxConditions bounds the conditions of all filters of one request: those of
// its queries, and those of a tenant token's rules for each of them.
const maxConditions = 10_000

// Budget are how many conditions the filters of one request may still have.
// Not safe for concurrent use.
type Budget struct{ left int }

// NewBudget returns what a request may begin with.
func NewBudget() *Budget { return &Budget{maxConditions} }

// Take counts n conditions of a filter.
func (b *Budget) Take(n int) error {
	if b.left -= n; b.left < 0 {
		return tooManyConditions()
	}
	return nil
}

func tooManyConditions() error {
	return &Error{fmt.Sprintf("the filters of this request have more than %d conditions in all, counting each value of an IN, and the tenant token's once for each query; ask with fewer, or in several requests", maxConditions)}
}

// Conditions is how many conditions n has; 0 for nil.
func (n *Node) Conditions() int {
	if n == nil {
		return 0
	}
	size := 0
	if n.kind != andNode && n.kind != orNode {
		size = max(len(n.values), 1)
	}
	for _, k := range n.kids {
		size += k.Conditions()
	}
	return size
}

// String writes n so that two filters that differ give different texts.
func (n *Node) String() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%d %q %q %q %v", n.kind, n.attr, n.op, n.values, n.nums)
	for _, k := range n.kids {
		b.WriteString(k.String())
	}
	b.WriteByte(')')
	return b.String()
}
