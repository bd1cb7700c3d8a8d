package text

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lexicon is a list of texts, sorted by their keys. It finds those that another text
// begins with in time that grows with how long they are, not with how many.
type lexicon []entry

// An entry is a text by what it is compared by, and its bytes.
type entry struct {
	key  string
	size int
}

func newLexicon(list []string, key func(string) string) lexicon {
	l := make(lexicon, 0, len(list))
	for _, s := range list {
		if s != "" {
			l = append(l, entry{key(s), len(s)})
		}
	}
	slices.SortFunc(l, func(a, b entry) int { return cmp.Or(strings.Compare(a.key, b.key), a.size-b.size) })
	return slices.Compact(l)
}

// narrow returns the entries of l whose key has c at i. Each of l has that many.
func (l lexicon) narrow(i int, c byte) lexicon {
	from := sort.Search(len(l), func(k int) bool { return l[k].key[i] >= c })
	to := sort.Search(len(l), func(k int) bool { return l[k].key[i] > c })
	return l[from:to]
}

// prefixOf returns the length of the longest of l that s begins with, 0 where none is.
func (l lexicon) prefixOf(s string) (n int) {
	for i := 0; i < len(s) && len(l) > 0; i++ {
		for l = l.narrow(i, s[i]); len(l) > 0 && len(l[0].key) == i+1; l = l[1:] {
			n = i + 1
		}
	}
	return n
}

// wordOf is prefixOf in any case, for texts that end where a word may. The keys are
// those of foldCase.
func (l lexicon) wordOf(s string) (n int) {
	var folded [utf8.UTFMax]byte
	for i, at := 0, 0; at < len(s) && len(l) > 0; {
		r, w := utf8.DecodeRuneInString(s[at:])
		at += w
		for _, c := range utf8.AppendRune(folded[:0], foldRune(r)) {
			l = l[skip(l, i):].narrow(i, c)
			i++
		}
		next, _ := utf8.DecodeRuneInString(s[at:])
		ends := at == len(s) || !inWord(r) || !inWord(next)
		if ends && slices.ContainsFunc(l[:skip(l, i)], func(e entry) bool { return e.size == at }) {
			n = at
		}
	}
	return n
}

// skip returns how many entries of l have keys of n bytes, and so no more behind what
// led to them.
func skip(l lexicon, n int) (k int) {
	for k < len(l) && len(l[k].key) == n {
		k++
	}
	return k
}

// foldCase is s without case: texts that are equal but for it have the same.
func foldCase(s string) string { return strings.Map(foldRune, s) }

// foldRune is the first of the characters that are r but for case.
func foldRune(r rune) rune {
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return first
}
