package rank

import (
	"slices"
)

// inOrder calls f for list in the order of compare until f returns false. It
// sorts want of them at first, and more only where f goes on: most searches
// take the best few of many.
func inOrder[T any](list []T, want int, compare func(a, b *T) int, f func(*T) bool) {
	for want = max(want, 16); len(list) > 0; want *= 4 {
		n := len(list)
		if want < n/4 {
			n = want
			SelectFirst(list, n, compare)
		}
		order := make([]*T, n) // what is compared is large, and stays where it is
		for i := range order {
			order[i] = &list[i]
		}
		slices.SortFunc(order, compare)
		for _, x := range order {
			if !f(x) {
				return
			}
		}
		list = list[n:]
	}
}

// SelectFirst brings the n first of list to its front, in any order.
func SelectFirst[T any](list []T, n int, compare func(a, b *T) int) {
	for len(list) > 1 && n > 0 && n < len(list) {
		// The median of three as the pivot, for lists that are in order.
		mid, last := len(list)/2, len(list)-1
		if compare(&list[mid], &list[0]) < 0 {
			list[mid], list[0] = list[0], list[mid]
		}
		if compare(&list[last], &list[0]) < 0 {
			list[last], list[0] = list[0], list[last]
		}
		if compare(&list[last], &list[mid]) < 0 {
			list[last], list[mid] = list[mid], list[last]
		}
		pivot := list[mid]
		i, j := 0, last
		for i <= j {
			for compare(&list[i], &pivot) < 0 {
				i++
			}
			for compare(&list[j], &pivot) > 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case n <= j+1:
			list = list[:j+1]
		case n >= i:
			list, n = list[i:], n-i
		default:
			return
		}
	}
}
