package pattern

import "slices"

// maxKept bounds the patterns of an instance: of a provider's streams, each
// begins with some of a few events.
const maxKept = 16

// Kept has the patterns of the last few events that an instance was told to
// keep. They are memory and not state: what comes of an event is the same
// without them.
type Kept struct {
	patterns [maxKept]struct {
		State
		literals []byte
	}
	oldest int

	seen   [maxKept]uint32 // the forms of events that were told of once
	behind int             // the last of them
}

// Match reports whether doc is of a pattern, and makes r the reading of it.
func (k *Kept) Match(doc []byte, r *Reading) bool {
	for i := range k.patterns {
		if p := &k.patterns[i]; p.State.Match(p.literals, doc, r) {
			return true
		}
	}
	return false
}

// Keep makes the event that was read a pattern, where it can be one and one of its form
// was told of before. It takes the place of the oldest. Most events of a form come once in a
// stream, behind which an instance forgets what it has learned: once is not worth it.
func (k *Kept) Keep(r *Reading) {
	form := r.form()
	if !slices.Contains(k.seen[:], form) {
		k.behind = (k.behind + 1) % maxKept
		k.seen[k.behind] = form
		return
	}
	p := &k.patterns[k.oldest]
	if literals, ok := r.Learn(&p.State, p.literals[:0]); ok {
		p.literals = literals
		k.oldest = (k.oldest + 1) % maxKept
	}
}
