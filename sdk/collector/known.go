package collector

import "github.com/parley-search/parley/abi/event"

// A newer host may tell ordinals for which this version has no label. A
// collector that repeated one would say what its manifest does not have.

// Known returns the ordinal of e as a metric may have it: its own, or that of
// the label "other" where e is one of a newer host, or 0.
func Known[E event.Enum](e E) uint64 {
	if e == 0 {
		return 0
	}
	return uint64(event.OrdinalOf[E](event.LabelOf(e)))
}

// KnownSet returns the words of a set without the bits that E has no label for.
func KnownSet[E event.Enum](words ...uint64) []uint64 {
	labels := len(E(0).Labels())
	for i := range words {
		if room := labels - 64*i; room < 64 {
			words[i] &= 1<<max(room, 0) - 1
		}
	}
	return words
}
