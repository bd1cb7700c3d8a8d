package passage

import (
	"strings"
	"unicode"
)

// How much of the largest passage is shown of one. Of long ones the lines around the question's words leave
// room for more passages, and behind the best ones many are about as good as each other.
const (
	shownPart  = 0.55
	firstShown = 5 // passages that are shown so
	laterPart  = 0.3
)

// Fit returns the first of list, best first, whose shown forms have at most budget bytes in all; cost is
// what a passage takes besides its text. Passages longer than their part of size are cut to the lines
// that have most of the question's weight, and so is the last one, where at least a fifth of size is left
// for it.
func Fit(list []Passage, q *Question, budget, size int, cost func(p *Passage) int) []Passage {
	var out []Passage
	for i := range list {
		p := list[i]
		part := shownPart
		if len(out) >= firstShown {
			part = laterPart
		}
		if !p.Row {
			p.Text = Window(p.Text, q, int(float64(size)*part))
		}
		room := budget - cost(&p)
		if len(p.Text) <= room {
			budget = room - len(p.Text)
			out = append(out, p)
			continue
		}
		if room >= min(size/5, len(p.Text)) || len(out) == 0 && room > 0 {
			p.Text = Window(p.Text, q, room)
			if p.Text != "" {
				out = append(out, p)
			}
		}
		break
	}
	return out
}

// maxLine is the length of what Window takes or leaves as one.
const maxLine = 300

// repeated is what a word of the question that a window has already is worth in it, and mostRepeated what
// all of those are at most: of two windows with the same words the fuller one is taken.
const (
	repeated     = 0.1
	mostRepeated = 3
)

// Window returns the stretch of whole lines of text, of at most size bytes, that has most of the
// question's weight, filled up with the lines behind and before it.
func Window(text string, q *Question, size int) string {
	if len(text) <= size {
		return text
	}
	lines := cutLines(text)
	s := newScanner(q)
	counts := make([][]float32, len(lines))
	for i, l := range lines {
		counts[i] = make([]float32, len(q.Terms))
		s.count(counts[i], l)
	}
	best, from, to := -1.0, 0, 0
	seen := make([]bool, len(q.Terms))
	for i := range lines {
		clear(seen)
		value, more, n := 0.0, 0.0, 0
		for k := i; k < len(lines); k++ {
			if n += len(lines[k]); n > size {
				break
			}
			for t, c := range counts[k] {
				switch {
				case c == 0:
				case seen[t]:
					more += repeated * q.Terms[t].IDF
				default:
					seen[t] = true
					value += q.Terms[t].IDF
				}
			}
			if v := value + min(more, mostRepeated); v > best {
				best, from, to = v, i, k+1
			}
		}
	}
	if to == 0 { // no line fits
		return strings.TrimSpace(lines[0][:cutAt(lines[0], min(size, len(lines[0])-1))])
	}
	n := 0
	for _, l := range lines[from:to] {
		n += len(l)
	}
	for grew := true; grew; { // answers follow their words, so more behind than before
		grew = false
		for range 2 {
			if to < len(lines) && n+len(lines[to]) <= size {
				n += len(lines[to])
				to++
				grew = true
			}
		}
		if from > 0 && n+len(lines[from-1]) <= size {
			from--
			n += len(lines[from])
			grew = true
		}
	}
	return strings.TrimLeft(strings.TrimRightFunc(strings.Join(lines[from:to], ""), unicode.IsSpace), "\n")
}

// cutLines cuts a text into lines with their ends, and long lines into pieces.
func cutLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		for len(line) > maxLine {
			at := cutAt(line, maxLine)
			lines = append(lines, line[:at])
			line = line[at:]
		}
		lines = append(lines, line)
	}
	return lines
}
