package task

import (
	"cmp"
	"slices"
	"time"
)

// A Filter chooses tasks, or batches that hold such tasks; its zero value takes
// the newest 20. Empty lists choose all.
type Filter struct {
	UIDs       []uint32
	BatchUIDs  []uint32
	IndexUIDs  []string
	Types      []Type
	Statuses   []Status
	CanceledBy []uint32
	Enqueued   Span
	Started    Span
	Finished   Span
	Reverse    bool    // the oldest first
	From       *uint32 // the uid to begin with; nil: the first of all
	Limit      int     // 0: 20; below zero: none
	// Visible says whether the caller may see the tasks of an index, "" for
	// those of none; nil: all. Of a task of several indexes it must see all.
	Visible func(indexUID string) bool
}

// A Span of time lies between two moments, which are not part of it. A zero
// one is no bound.
type Span struct{ After, Before time.Time }

// IsZero reports whether s bounds nothing.
func (s Span) IsZero() bool { return s.After.IsZero() && s.Before.IsZero() }

// Everything is a limit that takes all there are.
const Everything = int(^uint(0)>>1) - 1

const defaultLimit = 20 // on a page

// Restricted reports whether f leaves out anything by what it is, Visible and
// the page aside.
func (f *Filter) Restricted() bool {
	return len(f.UIDs)+len(f.BatchUIDs)+len(f.IndexUIDs)+len(f.Types)+len(f.Statuses)+len(f.CanceledBy) > 0 ||
		!f.Enqueued.IsZero() || !f.Started.IsZero() || !f.Finished.IsZero()
}

// PageSize is the limit in force.
func (f *Filter) PageSize() int { return max(cmp.Or(f.Limit, defaultLimit), 0) }

// A Page is a part of a list of tasks or batches.
type Page[T any] struct {
	Results []T
	Total   int     // how many the filter chooses, From and Limit aside
	From    *uint32 // uid of the first one here; nil where there is none
	Next    *uint32 // From of the next page; nil at the end
	Limit   int
}

// newPage makes a page of the uids that a [Log] chose: those of the page and
// the one behind it.
func newPage[T any](uids []uint32, total, limit int) *Page[T] {
	p := &Page[T]{Total: total, Limit: limit, Results: make([]T, 0, min(len(uids), limit))}
	if limit > 0 && len(uids) > limit {
		p.Next = &uids[limit]
	}
	if len(uids) > 0 && limit > 0 {
		p.From = &uids[0]
	}
	return p
}

// A UIDs is a set of numbers in a form that is small where they are many and
// near each other: a list of first and last, ascending.
type UIDs [][2]uint32

// NewUIDs makes a set of numbers in any order.
func NewUIDs(uids []uint32) UIDs {
	var set UIDs
	for _, u := range slices.Sorted(slices.Values(uids)) {
		if n := len(set); n > 0 && uint64(u) <= uint64(set[n-1][1])+1 {
			set[n-1][1] = u
			continue
		}
		set = append(set, [2]uint32{u, u})
	}
	return set
}

// Has reports whether u is in the set.
func (s UIDs) Has(u uint32) bool {
	_, ok := slices.BinarySearchFunc(s, u, func(span [2]uint32, u uint32) int {
		switch {
		case span[1] < u:
			return -1
		case span[0] > u:
			return 1
		}
		return 0
	})
	return ok
}

// Len is how many numbers are in the set.
func (s UIDs) Len() int {
	n := 0
	for _, span := range s {
		n += int(span[1]-span[0]) + 1
	}
	return n
}

// All returns the numbers, ascending.
func (s UIDs) All() []uint32 {
	out := make([]uint32, 0, s.Len())
	for _, span := range s {
		for u := span[0]; ; u++ {
			out = append(out, u)
			if u == span[1] {
				break
			}
		}
	}
	return out
}

// Without returns the set without some numbers.
func (s UIDs) Without(uids []uint32) UIDs {
	gone := NewUIDs(uids)
	var left []uint32
	for _, u := range s.All() {
		if !gone.Has(u) {
			left = append(left, u)
		}
	}
	return NewUIDs(left)
}
