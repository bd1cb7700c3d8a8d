package highlight

import (
	"slices"

	"github.com/parley-search/parley/host/internal/search/text"
)

// window returns the bytes of length words of s, which are among ws: those
// around the marks that belong together best, or the first.
//
// The choice and its edges are those of Meilisearch, whose clients show what is
// cropped: where words are left over, they are taken from both sides in turn.
func window(s string, ws []text.Word, marks []mark, length int) (from, to int) {
	tokens, at := tokensOf(s, ws)
	if len(ws) == 0 {
		return 0, len(s)
	}
	// What is next on each side; the last word of the marks is still to be counted.
	before, after, left := -1, 0, length
	if len(marks) > 0 {
		best := bestMarks(marks, length)
		first, last := best[0].word, best[len(best)-1].last
		if left = length - (last - first); left <= 0 { // a phrase longer than that
			return ws[first].Start, ws[first+length-1].End
		}
		before, after = at[first]-1, at[last]
	}
	for left > 0 && (before >= 0 || after < len(tokens)) {
		var goBefore, goAfter bool
		switch {
		case before < 0:
			goAfter = true
		case after >= len(tokens):
			goBefore = true
		default:
			b, a := tokens[before].kind, tokens[after].kind
			switch {
			case b == word && a == word:
				goBefore, goAfter = true, left > 1
			case b == word:
				goBefore = true
			case a == word:
				goAfter = true
			case b == a:
				goBefore, goAfter = true, left > 1 // no separator before the marker at the end
			default:
				goBefore, goAfter = b == soft, b == hard
			}
		}
		if goBefore {
			if tokens[before].kind == word {
				left--
			}
			before--
		}
		if goAfter {
			if tokens[after].kind == word {
				left--
			}
			after++
		}
	}
	to = len(s)
	if before >= 0 {
		from = tokens[before].end
	}
	if after < len(tokens) {
		to = tokens[after].start
	}
	return from, to
}

// A token is a word, or one of what separates words.
type token struct {
	start, end int
	kind       kind
}

type kind uint8

const (
	word kind = iota
	soft
	hard // parts sentences, or parts of one
)

// tokensOf returns the tokens of s, whose words are ws, and the place of each
// word among them.
func tokensOf(s string, ws []text.Word) (tokens []token, at []int) {
	end := 0
	separate := func(until int) {
		for end < until {
			n, parts := text.Separator(s[end:until])
			k := soft
			if parts {
				k = hard
			}
			tokens = append(tokens, token{end, end + n, k})
			end += n
		}
	}
	for _, w := range ws {
		separate(w.Start)
		at = append(at, len(tokens))
		tokens = append(tokens, token{w.Start, w.End, word})
		end = w.End
	}
	separate(len(s))
	return tokens, at
}

// bestMarks returns the neighbours among marks, within length words, that have
// the most units of the query; of several those nearest to each other, then those
// in the order of the query, then the first.
func bestMarks(marks []mark, length int) []mark {
	best, most := marks[:1], []int(nil)
	consider := func(list []mark) {
		if score := scoreMarks(list); most == nil || slices.Compare(score, most) > 0 {
			best, most = list, score
		}
	}
	first := 0
	for i := 1; i < len(marks); i++ {
		if marks[i].last-marks[first].word < length {
			continue
		}
		consider(marks[first:i])
		for first++; first < i && marks[i].last-marks[first].word >= length; first++ {
		}
	}
	consider(marks[first:])
	return best
}

// scoreMarks returns how many units marks have, how near they are to each other,
// and how many are in order.
func scoreMarks(marks []mark) []int {
	units, near, ordered := map[int]bool{}, 0, 0
	for i, m := range marks {
		for u := m.unit; u < m.to; u++ {
			units[u] = true
		}
		// The words of a phrase are side by side, and in order.
		ordered += m.last - m.word
		near -= m.last - m.word
		if i == len(marks)-1 {
			break
		}
		next := marks[i+1]
		if next.unit > m.unit {
			ordered++
		}
		near -= min(next.word-m.last, 7)
	}
	return []int{len(units), near, ordered}
}
